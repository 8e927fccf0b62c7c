"""Softmax, one against all and multiclass hinge against their twin, and the laws they claim."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from oracle.softmax import Multiclass as Twin

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.per_class import LOSSES, MulticlassConfig
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results
from vwlite.learners.softmax import Multiclass

FEATURES = ["a", "b", "c:2", "d:-1.5", "f:0.5", "e:0.1"]
lines = st.lists(
    st.tuples(st.integers(1, 5), st.sampled_from(["", " 2", " 0.5"]), st.lists(st.sampled_from(FEATURES), max_size=4)),
    min_size=1,
    max_size=10,
).map(lambda drawn: [f"{label}{weight} | {' '.join(dict.fromkeys(words))}".encode() for label, weight, words in drawn])


def config(loss, count=5, **more):
    return MulticlassConfig(loss=LossConfig("logistic"), multiclass=count, class_loss=loss, **more)


def learn(text, loss, chunk=None, learner=None, count=5):
    learner = learner or Multiclass(config(loss, count), 12)
    learner.want_scores()
    features = FeatureConfig(bits=12)
    batch, results = parse_text(b"\n".join(text), text_format(features, skip_malformed=True)), Results()
    results.reserve(len(batch))
    batch.label = learner.labels().check(batch)
    for begin in range(0, len(batch), chunk or len(batch)):
        learner.run(batch, Plan(features), results, begin, min(begin + (chunk or len(batch)), len(batch)))
    return results, learner


@given(lines, st.sampled_from(LOSSES), st.sampled_from([0.0, 0.0, 0.01, 0.3]))
def test_rows_and_weights_are_the_twins(text, loss, price):
    close = {"rtol": 2e-3, "atol": 2e-4}
    results, learner = learn(text, loss, learner=Multiclass(config(loss, group_l1=price), 12))
    twin, options, seen = Twin(loss, 5, 1 << 9, price=price), Options(bits=12), set()
    total = 0.0
    for row, line in enumerate(text):
        example = parse_line(line, options)
        terms = [(slot & 511, float(x)) for slot, x, *_ in expand(example, options, seen)[0]]
        true, weight = int(example.label) - 1, float(example.importance)
        scores = twin.learn(terms, true, weight)
        assume(not twin.on_edge)
        total += weight * twin.value(scores, true)
        np.testing.assert_allclose(learner.raw[row], scores, **close)
        best = np.sort(scores)[-2:]
        if best[1] - best[0] > 0.05:
            assert results.prediction[row] == np.argmax(scores) + 1
    np.testing.assert_allclose(learner.weights.reshape(512, 8)[:, :5], twin.w, **close)
    if not price:
        np.testing.assert_allclose(learner.squares.reshape(512, 8)[:, :5], twin.g, **close)
        np.testing.assert_allclose(learner.scale[:, 0], twin.scale, rtol=1e-6)
    assert learner.log_loss[0, 0] == pytest.approx(total, rel=2e-3, abs=1e-3)
    assert not learner.weights.reshape(512, 8)[:, 5:].any()
    left = np.array([twin.left(row) for row in range(512)])
    assume(not twin.on_edge)
    np.testing.assert_allclose(learner.predicting().weights.reshape(512, 8)[:, :5], left, **close)
    if price:
        assert learner.shrinkage.sums.tolist() == pytest.approx([twin.penalty, twin.squares, twin.rows], rel=2e-3)


SHARES = st.dictionaries(st.integers(1, 5), st.sampled_from([0.25, 0.5, 1.0, 3.0]), min_size=1)
examples = st.lists(
    st.tuples(SHARES, st.lists(st.sampled_from(FEATURES), max_size=4, unique=True)), min_size=1, max_size=10
)


@given(examples, st.sampled_from([0.0, 0.25]))
def test_labels_of_shares_and_smoothed_ones_are_the_twins(drawn, smoothing):
    close = {"rtol": 2e-3, "atol": 2e-4}
    features, options, seen = FeatureConfig(bits=12), Options(bits=12), set()
    learner = Multiclass(config("multinomial", label_shares=True, smoothing=smoothing), 12)
    learner.want_scores()
    text = [" ".join(f"{c}:{x}" for c, x in shares.items()) + f" | {' '.join(words)}" for shares, words in drawn]
    batch = parse_text("\n".join(text).encode(), text_format(features, skip_malformed=True).of_words(lists=True))
    results = Results()
    results.reserve(len(batch))
    batch.label = learner.labels().check(batch)
    learner.run(batch, Plan(features), results, 0, len(batch))
    twin, total = Twin("multinomial", 5, 1 << 9), 0.0
    for row, (shares, words) in enumerate(drawn):
        terms = [
            (slot & 511, float(x))
            for slot, x, *_ in expand(parse_line(f"| {' '.join(words)}".encode(), options), options, seen)[0]
        ]
        share = np.array([shares.get(number, 0) for number in range(1, 6)]) / sum(shares.values())
        mixed = share * (1 - smoothing) + smoothing / 5 if len(shares) == 1 else share
        scores = twin.learn(terms, mixed, 1.0)
        assume(not twin.on_edge)
        total += twin.value(scores, share)
        np.testing.assert_allclose(learner.raw[row], scores, **close)
    np.testing.assert_allclose(learner.weights.reshape(512, 8)[:, :5], twin.w, **close)
    assert learner.log_loss[0, 0] == pytest.approx(total, rel=2e-3, abs=1e-3)


@given(lines, st.sampled_from(LOSSES))
def test_rows_are_zero_as_a_whole_or_not_at_all(text, loss):
    _, learner = learn(text, loss, learner=Multiclass(config(loss, group_l1=0.2), 12))
    before, after = learner.weights.reshape(512, 8)[:, :5], learner.predicting().weights.reshape(512, 8)[:, :5]
    vanished = ~after.any(axis=1)
    assert (np.linalg.norm(after, axis=1) <= np.linalg.norm(before, axis=1)).all()
    share = np.linalg.norm(after, axis=1) / np.maximum(np.linalg.norm(before, axis=1), 1e-30)
    np.testing.assert_allclose(after[~vanished], before[~vanished] * share[~vanished, None], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("loss", ["multinomial", "logistic"])
def test_the_lengths_of_rows_reach_the_optimum_of_fista(loss):
    random = np.random.default_rng(4)
    x = random.integers(0, 3, (400, 12)) * (random.random((400, 12)) < 0.5)
    truth = np.zeros((12, 3))
    truth[:4] = random.normal(size=(4, 3))
    y = (x @ truth + random.gumbel(size=(400, 3))).argmax(axis=1)
    text = [
        f"{label + 1} | {' '.join(f'x{j}:{v}' for j, v in enumerate(row) if v)}".encode()
        for label, row in zip(y, x, strict=True)
    ]
    learner, price = Multiclass(config(loss, 3, group_l1=0.02, learning_rate=1.0), 12), 0.02
    for _ in range(30):
        learn(text, loss, learner=learner)
        learner.set(rate=learner.get("rate") * 0.85)
    rows, constant = np.column_stack([x, np.ones(400)]).astype(float), np.eye(3)[y]

    def objective(w):
        s = rows @ w
        if loss == "multinomial":
            smooth = (np.logaddexp.reduce(s, axis=1) - s[np.arange(400), y]).mean()
            slope = np.exp(s - np.logaddexp.reduce(s, axis=1)[:, None]) - constant
        else:
            smooth, slope = np.logaddexp(0, (1 - 2 * constant) * s).sum(axis=1).mean(), 1 / (1 + np.exp(-s)) - constant
        return smooth + price * np.linalg.norm(w, axis=1).sum(), rows.T @ slope / 400

    best = np.zeros((13, 3))
    for _ in range(4000):
        v = best - 0.1 * objective(best)[1]
        best = v * np.maximum(0, 1 - 0.1 * price / np.maximum(np.linalg.norm(v, axis=1), 1e-12))[:, None]
    kept = learner.predicting().weights.reshape(-1, 8)[:, :3]
    actual = kept[np.flatnonzero(learner.weights.reshape(-1, 8).any(axis=1))]
    _, again = learn(text, loss, learner=learner.tester())
    total, weight = again.log_loss[:, 0]
    reached = total / weight + price * np.linalg.norm(actual, axis=1).sum()
    assert objective(best)[0] * 0.9999 <= reached <= objective(best)[0] * 1.005
    assert abs(int(actual.any(axis=1).sum()) - int(best.any(axis=1).sum())) <= 2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", ["1e-3", "1", "100", "1e6"])
def test_no_importance_makes_an_example_worse(loss, weight):
    text = [b"1 | a b", b"2 | a c", b"3 | b c d", f"1 {weight} | a b".encode(), b"1 0 | a b"]
    _, learner = learn(text, loss, chunk=1)
    twin = Twin(loss, 5, 1)
    before, after = (twin.value(learner.raw[row].astype(float), 0) for row in (3, 4))
    assert after <= before + 1e-5 and np.isfinite(learner.weights).all()
    if loss == "crammer_singer":
        assert after >= -1e-5 and (weight != "1e6" or after < 1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_twice_as_important_is_about_twice(loss):
    before, steps = learn([b"2 | a b"], loss)[1].weights.copy(), []
    for text in ([b"1 2 | a b"], [b"1 | a b"], [b"1 1 | a b", b"1 1 | a b"]):
        _, learner = learn([b"2 | a b", *text], loss)
        steps.append(np.linalg.norm(learner.weights - before))
    assert math.isclose(steps[0], steps[2], rel_tol=0.35)
    assert steps[1] < 0.8 * steps[0]


def test_probabilities_are_the_softmax():
    learner = Multiclass(config("multinomial", probabilities=True), 12)
    _, learner = learn([b"1 | a", b"2 | b", b"1 | a b"], "multinomial", learner=learner)
    raw = learner.raw[:3].astype(float)
    expected = np.exp(raw) / np.exp(raw).sum(1, keepdims=True)
    np.testing.assert_allclose(learner.score[:3], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_loss": "squared"}, "goes with --loss_function multinomial, logistic, crammer_singer"),
        ({"l2": 0.1}, "--l2 does not go with --multiclass"),
        ({"power_t": 0.3}, "--power_t"),
        ({"multiclass": 0}, "takes 1 to"),
        ({"group_l1": -1.0}, "--group_l1 takes a number of 0 or more"),
        ({"multiclass": 1, "group_l1": 0.1}, "--multiclass 1 has one"),
        ({"average": True, "group_l1": 0.1}, "--group_l1 does not go with --average: a mean of sparse weights"),
        ({"class_loss": "logistic", "probabilities": True}, "--probabilities needs --loss_function multinomial"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UsageError, match=message):
        MulticlassConfig(**{"multiclass": 3, **options})
