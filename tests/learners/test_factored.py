"""Several outputs, or classes, by a matrix of low rank: plain twins row by row, and exact minima of the trace norm."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.factored import Factored as Twin
from oracle.factored import FactoredClasses as TwinOfClasses
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand

from vwlite import Model
from vwlite.data.text_format import parse_text
from vwlite.errors import Diverged, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.outputs import FactoredClassesConfig, FactoredConfig
from vwlite.learners.factored import Factored, FactoredClasses
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results

BITS, COUNT = 10, 3
FEATURES = ["a", "b", "c:2", "d:-1.5", "f:0.5", "e:0.1"]
NUMBERS = st.sampled_from([None, 0.0, 1.0, 2.5, -3.0])
examples = st.lists(
    st.tuples(
        st.lists(NUMBERS, min_size=COUNT, max_size=COUNT),
        st.sampled_from([1.0, 1.0, 2.0, 0.5, 0.0]),
        st.lists(st.sampled_from(FEATURES), max_size=4, unique=True),
    ),
    min_size=1,
    max_size=10,
)


def line_of(labels, weight, words):
    head = ",".join("" if one is None else f"{one:g}" for one in labels)
    return (f"{head} {weight:g} " if any(one is not None for one in labels) else "") + f"| {' '.join(words)}"


def config_of(price=0.01, rank=2, outputs=COUNT, loss="squared", **more):
    return FactoredConfig(LossConfig(loss), outputs=outputs, trace=price, rank=rank, **more)


def classes_config(price=0.01, rank=2, classes=5, loss="multinomial", **more):
    options = {"multiclass": classes, "class_loss": loss, "trace": price, "rank": rank, "indexing": 1}
    return FactoredClassesConfig(LossConfig("logistic"), **options, **more)


def learn(drawn, learner, chunk=None):
    return learn_lines([line_of(*one) for one in drawn], learner, chunk, numbers=True)


def learn_lines(lines, learner, chunk=None, **words):
    features = FeatureConfig(bits=BITS)
    text = "\n".join(lines).encode()
    plain = text_format(features, skip_malformed=False)
    batch = parse_text(text, plain.of_words(**words) if words else plain)
    batch.label = learner.labels().check(batch)
    results = Results()
    results.reserve(len(batch))
    for begin in range(0, len(batch), chunk or len(batch)):
        learner.run(batch, Plan(features), results, begin, min(begin + (chunk or len(batch)), len(batch)))
    return results, learner


def terms_of(words, options, seen):
    example = parse_line(f"| {' '.join(words)}".encode(), options)
    return [(slot & (1 << BITS - 3) - 1, float(x)) for slot, x, *_ in expand(example, options, seen)[0]]


@given(examples, st.sampled_from([1e-3, 0.1]), st.sampled_from([1, 2, 3]))
def test_rows_and_factors_are_the_twins(drawn, price, rank):
    learner = Factored(config_of(price, rank), BITS)
    start = learner.factor_of_outputs[:, :rank].copy()
    results, _ = learn(drawn, learner)
    options, seen = Options(bits=BITS, own=True), set()
    twin = Twin(options, start, 1 << BITS - 3, price)
    close = {"rtol": 5e-3, "atol": 2e-3}
    for row, (labels, weight, words) in enumerate(drawn):
        terms, known = terms_of(words, options, seen), any(one is not None for one in labels)
        p, raw, loss = twin.run(terms, labels if known else [None] * COUNT, weight if known else 1.0)
        np.testing.assert_allclose(learner.raw[row], raw, **close)
        np.testing.assert_allclose(learner.score[row], p, **close)
        assert results.loss[row] == pytest.approx(loss, rel=1e-2, abs=1e-2)
    np.testing.assert_allclose(learner.shrunk_weights().reshape(-1, 8)[:, :rank], twin.a, **close)
    np.testing.assert_allclose(learner.factor_of_outputs[:, :rank], twin.b, **close)
    np.testing.assert_allclose(learner.rates[:, 1], twin.scale, rtol=1e-6)
    np.testing.assert_allclose(learner.rates[:, 0], twin.g, rtol=1e-2, atol=1e-3)
    assert not learner.weights.reshape(-1, 8)[:, rank:].any() and not learner.factor_of_outputs[:, rank:].any()


of_classes = st.lists(
    st.tuples(
        st.integers(1, 5),
        st.sampled_from([" 2", " 0.5", "", "", " 0"]),
        st.lists(st.sampled_from(FEATURES), max_size=4, unique=True),
    ),
    min_size=1,
    max_size=10,
)


def class_lines(drawn):
    return [f"{label}{weight} | {' '.join(words)}" for label, weight, words in drawn]


@given(of_classes, st.sampled_from(["multinomial", "logistic"]), st.sampled_from([1e-3, 0.1]), st.integers(1, 5))
def test_scores_and_factors_of_classes_are_the_twins(drawn, loss, price, rank):
    learner = FactoredClasses(classes_config(price, rank, loss=loss), BITS)
    learner.want_scores()
    start = learner.factor_of_outputs[:, :rank].copy()
    results, _ = learn_lines(class_lines(drawn), learner)
    options, seen = Options(bits=BITS, own=True), set()
    twin, total = TwinOfClasses(loss, start, 1 << BITS - 3, price), 0.0
    close = {"rtol": 5e-3, "atol": 2e-3}
    for row, (label, weight, words) in enumerate(drawn):
        terms, importance = terms_of(words, options, seen), float(weight or 1)
        scores = twin.run(terms, label - 1, importance) if importance else twin.b @ twin.latent(terms)
        assume(not twin.loss.on_edge)
        total += importance * twin.loss.value(scores, label - 1)
        np.testing.assert_allclose(learner.raw[row], scores, **close)
        best = np.sort(scores)[-2:]
        assert best[1] - best[0] < 0.01 or results.prediction[row] == np.argmax(scores) + 1
    assert learner.log_loss[0, 0] == pytest.approx(total, rel=1e-2, abs=1e-2)
    np.testing.assert_allclose(learner.shrunk_weights().reshape(-1, 8)[:, :rank], twin.a, **close)
    np.testing.assert_allclose(learner.factor_of_outputs[:, :rank], twin.b, **close)
    np.testing.assert_allclose(learner.rates[:, 1], twin.scale, rtol=1e-6)
    np.testing.assert_allclose(learner.rates[:, 0], twin.g, rtol=1e-2, atol=1e-3)
    assert not learner.weights.reshape(-1, 8)[:, rank:].any() and not learner.factor_of_outputs[:, rank:].any()


def test_labels_of_shares_and_smoothed_ones_are_the_twins():
    lines = ["1:0.7 3:0.3 | a b", "2 | b c:2", "5:1 1:3 | a d:-1.5", "3 | a"] * 3
    learner = FactoredClasses(classes_config(label_shares=True, smoothing=0.25), BITS)
    learner.want_scores()
    start = learner.factor_of_outputs[:, :2].copy()
    learn_lines(lines, learner, lists=True)
    options, seen = Options(bits=BITS, own=True), set()
    twin = TwinOfClasses("multinomial", start, 1 << BITS - 3, 0.01)
    smooth = {"2": np.full(5, 0.05) + 0.75 * np.eye(5)[1], "3": np.full(5, 0.05) + 0.75 * np.eye(5)[2]}
    shares = {"1:0.7 3:0.3": np.array([0.7, 0, 0.3, 0, 0]), "5:1 1:3": np.array([0.75, 0, 0, 0, 0.25]), **smooth}
    for row, line in enumerate(lines):
        label, words = line.split(" | ")
        scores = twin.run(terms_of(words.split(), options, seen), shares[label], 1.0)
        np.testing.assert_allclose(learner.raw[row], scores, rtol=2e-2, atol=1e-2)


@given(of_classes, st.sampled_from(["multinomial", "logistic"]))
def test_what_predicts_classes_has_the_weights_of_what_learns(drawn, loss):
    learner = FactoredClasses(classes_config(0.1, loss=loss), BITS)
    learner.want_scores()
    learn_lines(class_lines(drawn), learner, chunk=1)
    asked = [f"| {' '.join(words)}" for _, _, words in drawn]
    before = learner.weights.copy(), learner.output_weights.copy()
    tester = learner.tester()
    tester.want_scores()
    _, tester = learn_lines(asked, tester)
    expected = tester.raw[: len(asked)].copy()
    learn_lines(asked, learner)
    np.testing.assert_allclose(learner.raw[: len(asked)], expected, rtol=1e-5, atol=1e-6)
    assert (learner.weights == before[0]).all() and (learner.output_weights == before[1]).all()


@given(examples)
def test_what_predicts_has_the_weights_of_what_learns(drawn):
    _, learner = learn(drawn, Factored(config_of(0.1), BITS))
    asked = [([None] * COUNT, 1.0, words) for _, _, words in drawn]
    before = learner.output_weights.copy()
    _, tester = learn(asked, learner.tester())
    expected = tester.raw[: len(asked)].copy()
    _, learner = learn(asked, learner)
    np.testing.assert_allclose(learner.raw[: len(asked)], expected, rtol=1e-5, atol=1e-6)
    assert (learner.output_weights == before).all()


@pytest.mark.parametrize("loss", ["squared", "quantile", "expectile", "poisson", "absolute"])
@pytest.mark.parametrize("weight", [1e-3, 1, 1e3, 1e6])
def test_no_importance_makes_an_example_worse(loss, weight):
    first = ([1.0, 2.0, 0.0], 1.0, ["a", "b"])
    drawn = [first, ([3.0, 1.0, 2.0], 1.0, ["b", "c:2"]), ([0.0, 1.0, 0.5], 1.0, ["a"])] * 5
    last = ([2.0, 1.0, 4.0], weight, ["a", "c:2"])
    options = {"quantile": {"quantile_tau": 0.3}, "expectile": {"expectile_q": 0.3}}.get(loss, {})
    name = "quantile" if loss == "absolute" else loss
    learner = Factored(FactoredConfig(LossConfig(name, **options), outputs=3, trace=1e-9, rank=2), BITS)
    results, _ = learn([*drawn, last, (last[0], 1e-9, last[2])], learner)
    assert np.isfinite(learner.weights).all() and np.isfinite(learner.output_weights).all()
    assert results.loss[len(drawn) + 1] / 1e-9 <= results.loss[len(drawn)] / weight * 1.001 + 1e-3


@pytest.mark.parametrize("loss", ["multinomial", "logistic"])
@pytest.mark.parametrize("weight", ["1e-3", "1", "1e3", "1e6"])
def test_no_importance_makes_an_example_of_a_class_worse(loss, weight):
    lines = ["1 | a b", "2 | b c:2", "3 | a d:-1.5"] * 5
    learner = FactoredClasses(classes_config(1e-9, loss=loss), BITS)
    learner.want_scores()
    learn_lines([*lines, f"1 {weight} | a c:2", "1 1e-9 | a c:2"], learner)
    loss_of, scores = TwinOfClasses(loss, np.zeros((5, 1)), 1, 0.0).loss.value, learner.raw.astype(float)
    assert np.isfinite(learner.weights).all() and np.isfinite(learner.output_weights).all()
    assert loss_of(scores[len(lines) + 1], 0) <= loss_of(scores[len(lines)], 0) * 1.001 + 1e-4


def planted(noise, outputs=20, inputs=50, rows=500):
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, inputs)).round(4)
    w = random.normal(size=(inputs, 3)) @ random.normal(size=(3, outputs)) / np.sqrt(inputs)
    return x, (x @ w + noise * random.normal(size=(rows, outputs))).round(4)


def objective(x, y, w, price):
    return ((x @ w - y) ** 2).sum() / len(x) + price * np.linalg.svd(w, compute_uv=False).sum()


def exact(x, y, price):
    """The minimum, by accelerated steps that shrink singular values."""
    w = v = np.zeros((x.shape[1], y.shape[1]))
    steep, t = 2 * np.linalg.norm(x, 2) ** 2 / len(x), 1.0
    for _ in range(2000):
        left, values, right = np.linalg.svd(v - 2 * x.T @ (x @ v - y) / len(x) / steep, full_matrices=False)
        after, t_after = (left * np.maximum(values - price / steep, 0)) @ right, (1 + np.sqrt(1 + 4 * t * t)) / 2
        w, v, t = after, after + (t - 1) / t_after * (after - w), t_after
    return w


@pytest.mark.parametrize(("noise", "price"), [(0.3, 0.5), (0.3, 1.0), (1.0, 0.5), (1.0, 1.0)])
def test_the_objective_is_within_one_percent_of_the_exact_minimum(noise, price):
    x, y = planted(noise)
    best = exact(x, y, price)
    rates = "-l 2 --decay_learning_rate 0.8"
    model = Model(f"--outputs 20 --trace {price} --rank 10 --noconstant {rates} -b 12 --holdout_off")
    model.learn(x, y, passes=20)
    learner = model._current().learner.predicting()
    a = learner.weights.reshape(-1, 16)[:, :10].astype(float)
    b = learner.factor_of_outputs[:, :10].astype(float)
    w = np.linalg.lstsq(x, model.predict(x).astype(float), rcond=None)[0]
    values = np.linalg.svd(w, compute_uv=False)
    reached, minimum = objective(x, y, w, price), objective(x, y, best, price)
    assert minimum * 0.9999 <= reached <= minimum * 1.01
    half = ((a**2).sum() + (b**2).sum()) / 2
    assert values.sum() * 0.999 <= half <= values.sum() * 1.03  # the least of all factors is the trace norm
    assert (values > 0.02 * values[0]).sum() == 3


def classes_of_few_directions(rows=600, inputs=12, classes=6):
    random = np.random.default_rng(1)
    x = random.normal(size=(rows, inputs)).round(4)
    w = 3 * random.normal(size=(inputs, 2)) @ random.normal(size=(2, classes)) / np.sqrt(inputs)
    return x, np.argmax(x @ w + random.gumbel(size=(rows, classes)), axis=1)


def softmax_objective(x, y, w, price):
    s = x @ w
    log_loss = (np.logaddexp.reduce(s, axis=1) - s[np.arange(len(x)), y]).mean()
    return log_loss + price * np.linalg.svd(w, compute_uv=False).sum()


def exact_softmax(x, y, price):
    """The minimum, by accelerated steps that shrink singular values."""
    w = v = np.zeros((x.shape[1], y.max() + 1))
    steep, t = np.linalg.norm(x, 2) ** 2 / len(x) / 2, 1.0
    for _ in range(1000):
        s = x @ v
        p = np.exp(s - np.logaddexp.reduce(s, axis=1)[:, None])
        p[np.arange(len(x)), y] -= 1
        left, values, right = np.linalg.svd(v - x.T @ p / len(x) / steep, full_matrices=False)
        after, t_after = (left * np.maximum(values - price / steep, 0)) @ right, (1 + np.sqrt(1 + 4 * t * t)) / 2
        w, v, t = after, after + (t - 1) / t_after * (after - w), t_after
    return w


@pytest.mark.parametrize("price", [1e-6, 0.01, 0.03, 0.1])
def test_the_objective_of_softmax_is_within_two_percent_of_the_exact_minimum(price):
    """The minimum at the smallest price is that of softmax without one."""
    x, y = classes_of_few_directions()
    best = exact_softmax(x, y, price)
    rates = "-l 1 --decay_learning_rate 0.85"
    model = Model(f"--multiclass 6 --trace {price} --rank 6 --noconstant {rates} -b 10 --holdout_off")
    model.learn(x, y + 1, passes=30)
    scores = model.predict(x, raw=True).astype(float)
    w = np.linalg.lstsq(x, scores, rcond=None)[0]
    reached, minimum = softmax_objective(x, y, w, price), softmax_objective(x, y, best, price)
    assert minimum * 0.9999 <= reached <= minimum * 1.02
    values, least = (np.linalg.svd(one, compute_uv=False) for one in (w, best))
    assert (values > 0.1 * values[0]).sum() == (least > 0.1 * least[0]).sum() == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": 1}, "--trace is of the weights of several classes: it needs --multiclass 2 or more"),
        ({"price": -1.0}, "--trace takes a number above 0, not -1"),
        ({"loss": "crammer_singer"}, "--trace with --multiclass takes --loss_function multinomial or logistic"),
        ({"average": True}, "--average does not go with --trace"),
        ({"group_l1": 0.1}, "--group_l1 does not go with --trace"),
        ({"l2": 0.1}, "--l2 does not go with --multiclass"),
        ({"rank": 0}, "--rank takes"),
    ],
)
def test_bad_options_of_classes(options, message):
    with pytest.raises(UsageError, match=message):
        classes_config(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": 1}, "--trace is of the weights of several outputs: it needs --outputs 2 or more"),
        ({"price": -1.0}, "--trace takes a number above 0, not -1"),
        ({"l2": 0.1}, "--l2 does not go with --trace"),
        ({"ftrl": True}, "--ftrl does not go with --trace"),
        ({"power_t": 0.3}, "--power_t does not go with --trace"),
        ({"shared_rates": True}, "--shared_rates does not go with --trace"),
        ({"rank": 0}, "--rank takes"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UsageError, match=message):
        config_of(**options)


def test_the_rank_is_at_most_the_number_of_outputs():
    assert config_of(rank=10).rank == COUNT
    assert classes_config(rank=10).rank == 5


def test_numbers_beyond_all_bounds_end_the_run():
    with pytest.raises(Diverged):
        learn(
            [([1e38, -1e38, 0.0], 1.0, ["a"]), ([-1e38, 1e38, 0.0], 1.0, ["a", "b"])] * 20,
            Factored(config_of(learning_rate=1e30), BITS),
        )
