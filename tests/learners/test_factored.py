"""Several outputs by a matrix of low rank: against a plain twin row by row, and the exact minimum of the trace norm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.factored import Factored as Twin
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand

from vwlite import Model
from vwlite.data.text_format import parse_text
from vwlite.errors import Diverged, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.outputs import FactoredConfig
from vwlite.learners.factored import Factored
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


def learn(drawn, learner, chunk=None):
    features = FeatureConfig(bits=BITS)
    text = "\n".join(line_of(*one) for one in drawn).encode()
    batch = parse_text(text, text_format(features, skip_malformed=False).of_words(numbers=True))
    batch.label = learner.labels().check(batch)
    results = Results()
    results.reserve(len(batch))
    for begin in range(0, len(batch), chunk or len(batch)):
        learner.run(batch, Plan(features), results, begin, min(begin + (chunk or len(batch)), len(batch)))
    return results, learner


@given(examples, st.sampled_from([1e-3, 0.1]), st.sampled_from([1, 2, 3]))
def test_rows_and_factors_are_the_twins(drawn, price, rank):
    learner = Factored(config_of(price, rank), BITS)
    start = learner.factor_of_outputs[:, :rank].copy()
    results, _ = learn(drawn, learner)
    options, seen = Options(bits=BITS, own=True), set()
    twin = Twin(options, start, 1 << BITS - 3, price)
    close = {"rtol": 5e-3, "atol": 2e-3}
    for row, (labels, weight, words) in enumerate(drawn):
        example = parse_line(f"| {' '.join(words)}".encode(), options)
        terms = [(slot & (1 << BITS - 3) - 1, float(x)) for slot, x, *_ in expand(example, options, seen)[0]]
        known = any(one is not None for one in labels)
        p, raw, loss = twin.run(terms, labels if known else [None] * COUNT, weight if known else 1.0)
        np.testing.assert_allclose(learner.raw[row], raw, **close)
        np.testing.assert_allclose(learner.score[row], p, **close)
        assert results.loss[row] == pytest.approx(loss, rel=1e-2, abs=1e-2)
    np.testing.assert_allclose(learner.shrunk_weights().reshape(-1, 8)[:, :rank], twin.a, **close)
    np.testing.assert_allclose(learner.factor_of_outputs[:, :rank], twin.b, **close)
    np.testing.assert_allclose(learner.rates[:, 1], twin.scale, rtol=1e-6)
    np.testing.assert_allclose(learner.rates[:, 0], twin.g, rtol=1e-2, atol=1e-3)
    assert not learner.weights.reshape(-1, 8)[:, rank:].any() and not learner.factor_of_outputs[:, rank:].any()


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


def test_numbers_beyond_all_bounds_end_the_run():
    with pytest.raises(Diverged):
        learn(
            [([1e38, -1e38, 0.0], 1.0, ["a"]), ([-1e38, 1e38, 0.0], 1.0, ["a", "b"])] * 20,
            Factored(config_of(learning_rate=1e30), BITS),
        )
