"""Labels in units of their spread, against a plain twin and by what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
from friedman import friedman, lines_of
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.label_units import InUnits, Moments
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from vwtext import feature_config, gd_config

import vwlite
from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.gd import Gd
from vwlite.learners.row_results import Results


def learned(text, args="", **options):
    model = vwlite.Model(f"--label-units spread {args}", **options)
    return model, np.asarray(model.learn(text, keep_predictions=True).predictions)


def scalars(model):
    return model._writer().header()["scalars"]


WEIGHTS = [b"", b"", b" 2", b" 0.5", b" 0", b" 3 0.25", b" 1 -2"]


@st.composite
def problems(draw):
    label = st.sampled_from([b"0", b"1", b"2", b"-3.5", b"10", b"1e4", b"12.25"])
    term = st.sampled_from([b" a", b" b", b" c", b" d:2", b" a:-1.5", b" b:0.1", b" e:0.001", b" f:100"])
    row = st.tuples(label, st.sampled_from(WEIGHTS), st.lists(term, max_size=5).map(b"".join))
    lines = [b"%s%s |x%s" % one for one in draw(st.lists(row, min_size=1, max_size=60))]
    options = draw(
        st.builds(
            Options,
            bits=st.sampled_from([10, 10, 3]),
            loss=st.sampled_from(["squared", "squared", "expectile", "quantile"]),
            expectile_q=st.just(0.2),
            quantile_tau=st.sampled_from([0.5, 0.1]),
            rules=st.sampled_from([frozenset(), frozenset(), frozenset({"adaptive"}), frozenset({"sgd"})]),
            learning_rate=st.sampled_from([None, 0.1]),
            l1=st.sampled_from([0.0, 0.0, 1e-3]),
            l2=st.sampled_from([0.0, 0.0, 1e-3]),
            constant=st.sampled_from([0.0, 0.0, 0.5]),
            min_prediction=st.sampled_from([None, None, -1.0]),
            max_prediction=st.sampled_from([None, None, 5.0]),
            noconstant=st.booleans(),
        )
    )
    return lines, options


@given(problems())
def test_rows_weights_and_moments_are_the_twins(problem):
    lines, options = problem
    twin, expected = InUnits(options), []
    for line in lines:
        example = parse_line(line, options)
        terms, _, squares = expand(example, options, set())
        with np.errstate(all="ignore"):
            raw, p = twin.learn(terms, example.label, example.importance, example.base, squares)
        twin.t += float(example.importance)
        expected.append([p, raw, twin.shown_loss])
    assume(np.isfinite(twin.w).all() and np.isfinite(expected).all())
    features = feature_config(options)
    learner = Gd(replace(gd_config(options), label_units="spread"), options.bits)
    batch, results = parse_text(b"\n".join(lines), text_format(features, skip_malformed=False)), Results()
    results.reserve(len(batch))
    learner.run(batch, Plan(features), results, 0, len(batch))
    actual = np.column_stack([results.prediction, results.raw, results.loss])
    np.testing.assert_array_equal(actual, np.array(expected, np.float32))
    np.testing.assert_array_equal(learner.weights[:, 0], twin.w)
    np.testing.assert_allclose(learner.label_sums, twin.moments.state, rtol=1e-12, atol=1e-300)


def test_a_power_of_two_of_the_labels_changes_their_units_only():
    X, y = friedman()
    models = {}
    for factor in (1.0, 2.0**20, 2.0**-20, -1.0):
        models[factor] = vwlite.Model(label_units="spread")
        models[factor].learn(X, y.astype(np.float32) * np.float32(factor))
        np.testing.assert_array_equal(models[factor].weights, models[1.0].weights * np.float32(factor))
        np.testing.assert_array_equal(models[factor].predict(X), models[1.0].predict(X) * np.float32(factor))


@pytest.mark.parametrize(
    "options", ["", "--no-shared_rates", "--loss_function absolute", "--ftrl --label-units spread"]
)
def test_outputs_have_units_of_their_own(options):
    X, y = friedman()
    several = np.column_stack([y, X[:, 3] - y]).astype(np.float32)
    several[::3, 1] = np.nan
    factors = np.array([2.0**12, 2.0**-12], np.float32)
    one, other = (vwlite.Model(f"--outputs 2 --names {options}") for _ in range(2))
    one.learn(X, several), other.learn(X, several * factors)
    np.testing.assert_array_equal(other.predict(X), one.predict(X) * factors)
    np.testing.assert_array_equal(other.weights.reshape(-1, 2), one.weights.reshape(-1, 2) * factors)
    for terms, answer in zip(other.explain(X[:5]), other.predict(X[:5], raw=True), strict=True):
        assert sum(term.product for term in terms) == pytest.approx(answer[0], rel=1e-5)
    again = vwlite.Model.loads(other.dumps())
    again.learn(X, several * factors), other.learn(X, several * factors)
    np.testing.assert_array_equal(again.predict(X), other.predict(X))


OF_OTHERS = ["squared --average", "absolute --average", "squared --nn 3 --dropout"]
LOSSES = ["squared", "quantile", "absolute", "lp", "expectile --expectile_q 0.2", *OF_OTHERS]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("factor", "offset", "within"), [(1e6, 0, 1e-5), (1e-6, 0, 1e-5), (1, 1000, 1e-3)])
def test_scale_and_offset_of_the_labels_do_not_matter(loss, factor, offset, within):
    X, y = friedman()
    args = f"--loss_function {loss}"
    plain = learned(lines_of(X, y), args)[1]
    actual = learned(lines_of(X, (y + offset * y.std()) * factor), args)[1]
    again = actual.astype(float) / factor - offset * y.std()
    again[0] = plain[0]  # the first predicts nothing
    np.testing.assert_allclose(again, plain, atol=within * y.std() * (10 if loss == "lp" else 1))


@pytest.mark.parametrize(
    ("loss", "option"), [("tube", "tube"), ("truncated", "loss_scale"), ("geman_mcclure", "loss_scale")]
)
def test_a_loss_that_has_a_scale_has_it_in_units_of_the_labels(loss, option):
    X, y = friedman()
    plain = learned(lines_of(X, y), f"--loss_function {loss} --{option} 2")[1]
    actual = learned(lines_of(X, y * 1024), f"--loss_function {loss} --{option} 2048")[1]
    np.testing.assert_allclose(actual / 1024, plain, atol=1e-5 * y.std())


@pytest.mark.parametrize("row", [0, 5, 100])
@pytest.mark.parametrize("size", [10, 1e3, 1e5])
def test_a_label_far_off_costs_little(row, size):
    X, y = friedman(5000)
    spoiled = y.copy()
    spoiled[row] = y.mean() + size * y.std()
    test = "".join(f"|{line.partition('|')[2]}\n" for line in lines_of(X, y).splitlines()[4000:])

    def error(labels):
        return np.sqrt(np.mean((learned(lines_of(X[:4000], labels[:4000]))[0].predict(test) - y[4000:]) ** 2))

    assert error(spoiled) <= 1.03 * error(y)


def test_equal_labels_are_predicted_as_they_are():
    X, _ = friedman(50)
    model, actual = learned(lines_of(X, np.full(50, 3930.5)))
    assert actual[0] == 0
    assert (actual[1:] == 3930.5).all()
    assert scalars(model)["label_variance"] == 0
    assert model.weights[model.weights != 0].tolist() == [3930.5]


def test_an_initial_prediction_is_no_part_of_the_labels_mean():
    X, y = friedman()
    plain = learned(lines_of(X, y))[1]
    based = "".join(
        f"{float(np.float32(label + 100))!r} 1 100 |{line.partition('|')[2]}\n"
        for label, line in zip(y, lines_of(X, y).splitlines(), strict=True)
    )
    model, actual = learned(based)
    np.testing.assert_allclose(actual - 100, plain, atol=1e-4)
    assert scalars(model)["label_mean"] == pytest.approx(scalars(learned(lines_of(X, y))[0])["label_mean"], rel=1e-4)


def test_no_constant_leaves_the_mean_at_0():
    X, y = friedman()
    model, _ = learned(lines_of(X, y), "--noconstant")
    assert scalars(model)["label_mean"] == 0
    assert scalars(model)["label_variance"] > y.var()


@pytest.mark.parametrize("count", [0, 20])  # examples that count alike, or by the power 8
def test_importance_2_moves_the_moments_as_two_examples_do(count):
    twice, once = Moments(), Moments()
    random = np.random.default_rng(1)
    for moments in (twice, once):
        moments.count, moments.weight, moments.variance, moments.variance_all = float(count), 1000.0, 1.0, 1.0
    for label in random.uniform(-1, 1, 9):
        twice.add(label, 2.0)
        twice.count = once.count = float(count)  # so that nothing is limited, nor the power another
        for _ in range(2):
            once.add(label, 1.0)
            once.count = float(count)
    assert once.mean == pytest.approx(twice.mean, rel=1e-12)
    assert once.variance == pytest.approx(twice.variance, rel=1e-12)


def test_predicting_is_what_the_next_example_would_be_predicted():
    text = lines_of(*friedman()).splitlines(keepends=True)
    actual = learned("".join(text))[1]
    model, _ = learned("".join(text[:-1]))
    before = model.dumps()
    assert model.predict(text[-1])[0] == actual[-1]
    assert model.dumps() == before


def test_damaged_moments_are_refused():
    from vwlite.learners.gd import LABEL_SUMS

    model, _ = learned(lines_of(*friedman(30)))
    header = model._writer().header()
    for name in LABEL_SUMS:
        other = Gd(model._learner.config, model.bits)
        values = {**header["scalars"], name: "nan" if name == "label_mean" else -1.0}
        with pytest.raises(ValueError, match=r"could not convert|negative or not finite"):
            other.load({"weights.w": model.weights}, values, whole=False)


@pytest.mark.parametrize(
    "options",
    [
        {"coin": True}, {"lrq": ["ff2"]}, {"loss_function": "classic"},
        {"loss_function": "poisson"}, {"loss_function": "logistic"},
        {"loss_function": "hinge"}, {"binary": True}, {"oaa": 2}, {"outputs": 2, "trace": 0.1},
        {"link": "logistic"}, {"bfgs": True}, {"active": True},
    ],
)  # fmt: skip
def test_what_has_labels_as_they_are(options):
    assert vwlite.Model(**options, label_units="raw").options == vwlite.Model(**options).options
    with pytest.raises(UsageError, match="--label-units spread does not go with --"):
        vwlite.Model(**options, label_units="spread")


OTHER_UPDATES = ("--sgd -l 0.1", "--adaptive -l 0.1", "-C 1", "--initial_weight 0.1", "--ftrl", "--power_t 0.3")


@pytest.mark.parametrize("options", OTHER_UPDATES)
def test_other_updates_take_units_too(options):
    X, y = friedman()
    plain, actual = (learned(lines_of(X, y * factor), options)[1] for factor in (1, 1024))
    np.testing.assert_allclose(actual / 1024, plain, atol=1e-5 * y.std())


def test_limits_of_predictions_and_levels_are_of_the_labels():
    X, y = friedman()
    actual = learned(lines_of(X, y), "--min_prediction 10 --max_prediction 12")[1]
    assert (actual.min(), actual.max()) == (10, 12)
    levels = learned(lines_of(X, np.round(y)), "--levels 0..30")[1]
    assert (np.asarray(levels, float) == np.round(np.asarray(levels, float))).all()
