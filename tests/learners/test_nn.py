"""Networks of tanh units against their twin, finite differences, and the laws they claim."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.network import Network as Twin
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand

from vwlite.data.text_format import parse_text
from vwlite.errors import Diverged, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.base import has_simple_labels
from vwlite.learners.configs.nn import NnClassesConfig, NnConfig, row_shift
from vwlite.learners.losses import LossConfig
from vwlite.learners.nn import Nn, NnClasses
from vwlite.learners.row_results import Results

BITS = 12
CLOSE = {"rtol": 2e-3, "atol": 2e-4}
FEATURES = ["a", "b", "c:2", "d:-1.5", "f:0.5", "e:0.1", "z:0"]
HEADS = st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from(["", " 2", " 0.5", " 1 0.5", " 0"]))
rows_of = st.tuples(HEADS, st.lists(st.sampled_from(FEATURES), max_size=4))
lines = st.lists(rows_of, min_size=1, max_size=8).map(
    lambda drawn: [f"{label}{more} | {' '.join(dict.fromkeys(words))}".encode() for (label, more), words in drawn]
)
networks = st.sampled_from(["1", "4", "9", "3,2", "4,8,3"])
KINDS = ("squared", "logistic", "classes")
TABLES = ("weights", "squares", "scale", "dense", "dense_squares", "scalars")


def learner_of(kind, nn="4", **more):
    if kind == "classes":
        return NnClasses(NnClassesConfig(loss=LossConfig("logistic"), multiclass=3, indexing=1, nn=nn, **more), BITS)
    return Nn(NnConfig(loss=LossConfig(kind, logistic_min=1, logistic_max=3), nn=nn, **more), BITS)


def run(learner, text, chunk=None, held=None):
    """The scores, float32[n, outputs], of lines that are learned in order."""
    features = FeatureConfig(bits=BITS)
    batch, results = parse_text(b"\n".join(text), text_format(features, skip_malformed=True)), Results()
    results.reserve(len(batch))
    results.holdout_mask = held
    if not has_simple_labels(learner):
        batch.label = learner.labels().check(batch)
        learner.want_scores()
    for begin in range(0, len(batch), chunk or len(batch)):
        learner.run(batch, Plan(features), results, begin, min(begin + (chunk or len(batch)), len(batch)))
    return results.raw[: len(batch), None] if has_simple_labels(learner) else learner.raw[: len(batch)]


def slopes_of(kind, label, low, high):
    """The derivatives of the loss by the scores."""

    def classes(scores):
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        shares[int(label) - 1] -= 1
        return shares

    def logistic(scores):
        share = (label - 1) / 2
        p = np.clip(scores, -50, 50)
        return 1 / (1 + np.exp(-p)) - share

    return {"classes": classes, "logistic": logistic, "squared": lambda s: 2 * (np.clip(s, low, high) - label)}[kind]


def value_of(kind, scores, label):
    if kind == "classes":
        return float(np.log(np.exp(scores).sum()) - scores[int(label) - 1])
    if kind == "squared":
        return float((scores[0] - label) ** 2)
    share = (label - 1) / 2
    return float(share * np.log1p(np.exp(-scores[0])) + (1 - share) * np.log1p(np.exp(scores[0])))


def terms_of(text):
    """Label, importance, initial prediction and terms of every line."""
    options, seen = Options(bits=BITS), set()
    for line in text:
        example = parse_line(line, options)
        terms = [(slot, float(x)) for slot, x, *_ in expand(example, options, seen)[0]]
        yield float(example.label), float(example.importance), float(example.base), terms


@given(lines, networks, st.sampled_from(KINDS), st.booleans(), st.booleans(), st.integers(0, 2))
def test_rows_and_weights_are_the_twins(text, nn, kind, inpass, dropout, seed):
    learner = learner_of(kind, nn, inpass=inpass, dropout=dropout, random_seed=seed)
    width = 1 << row_shift(learner.config)
    twin = Twin(learner.config.hidden, learner.config.outputs, (1 << BITS) // width, width, 0.5, seed, inpass, dropout)
    low, high, expected = 0.0, 0.0, []
    for label, weight, base, terms in terms_of(text):
        terms = [(slot % len(twin.scale), x) for slot, x in terms]
        low, high = min(low, label), max(high, label)
        if weight > 0:
            expected.append(twin.learn(terms, slopes_of(kind, label, low, high), weight, base))
        else:
            expected.append(twin.scores(terms, base))
    units = twin.first.shape[1]
    np.testing.assert_allclose(run(learner, text), expected, **CLOSE)
    np.testing.assert_allclose(learner.weights.reshape(-1, width)[:, :units], twin.first, **CLOSE)
    np.testing.assert_allclose(learner.squares.reshape(-1, width)[:, :units], twin.first_squares, **CLOSE)
    np.testing.assert_allclose(learner.scale[:, 0], twin.scale, rtol=1e-6)
    assert not learner.weights.reshape(-1, width)[:, units:].any()
    at = 0
    for w, squares in zip(twin.dense, twin.dense_squares, strict=True):
        padded = -(-w.shape[1] // 8) * 8
        for table, of in ((learner.dense, w), (learner.dense_squares, squares)):
            part = table[at : at + len(w) * padded].reshape(len(w), padded)
            np.testing.assert_allclose(part[:, : w.shape[1]], of, **CLOSE)
            assert not part[:, w.shape[1] :].any()
        at += len(w) * padded
    assert at == len(learner.dense) and learner.get("learned") == twin.learned


@pytest.mark.parametrize("inpass", [False, True])
@pytest.mark.parametrize("nn", ["3", "4,3", "3,4,2"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_finite_differences(kind, nn, inpass):
    """After a step from no squares their root is the size of the gradient, and the weight has gone against it."""
    learner = learner_of(kind, nn, inpass=inpass)
    run(learner, [b"1 | a b c:2", b"3 | b d:-1.5", b"2 | a d:-1.5", b"1 | b c:2"] * 3)
    line, label = [b"2 | a c:2 d:-1.5"], 2
    learner.squares[:], learner.dense_squares[:] = 0, 0
    before = {name: getattr(learner, name).copy() for name in ("weights", "dense")}

    def loss():
        return value_of(kind, run(tested, line)[0].astype(float), label)

    tested = learner.tester()
    run(learner, line)
    for name, other, squares in (("weights", "dense", "squares"), ("dense", "weights", "dense_squares")):
        moved = getattr(learner, name) - before[name]
        values = before[name].copy()
        setattr(tested, name, values)
        setattr(tested, other, before[other])
        slots = np.flatnonzero(getattr(learner, squares))
        assert len(slots) > 3
        for slot in slots[:: -(-len(slots) // 10)]:
            old, ends = values[slot, 0], []
            for change in (1e-2, -1e-2):
                values[slot, 0] = old + np.float32(change)
                ends.append(loss())
            values[slot, 0] = old
            gradient = (ends[0] - ends[1]) / 2e-2
            assert math.sqrt(getattr(learner, squares)[slot, 0]) == pytest.approx(abs(gradient), rel=5e-3, abs=2e-4)
            if abs(gradient) > 1e-3:
                assert np.sign(moved[slot, 0]) == -np.sign(gradient)


@given(lines, st.sampled_from(KINDS))
def test_the_order_of_features_only_rounds_otherwise(text, kind):
    parts = (line.split(b" | ") for line in text)
    turned = [b"%b | %b" % (head, b" ".join(reversed(words.split()))) for head, words in parts]
    one, other = learner_of(kind), learner_of(kind)
    np.testing.assert_allclose(run(one, text), run(other, turned), **CLOSE)
    np.testing.assert_allclose(one.weights, other.weights, **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_learned_from_changes_nothing(kind):
    learner = learner_of(kind)
    run(learner, [b"1 | a b", b"3 | b c:2"])
    before = {name: getattr(learner, name).tobytes() for name in TABLES[:-1]}
    run(learner, [b"2 0 | a new", b" | other"])
    run(learner, [b"2 | a new"], held=np.ones(1, np.uint8))
    assert {name: getattr(learner, name).tobytes() for name in TABLES[:-1]} == before
    assert learner.get("learned") == 2


def test_an_unknown_feature_has_no_say():
    learner = learner_of("squared", inpass=True)
    run(learner, [b"1 | a b", b"3 | b c:2"] * 5)
    tested = learner.tester()
    assert run(tested, [b"2 | a b"]) == run(tested, [b"2 | a b new other:7"])


def test_predictions_leave_no_unit_out():
    learner = learner_of("squared", "8", dropout=True)
    run(learner, [b"1 | a b", b"3 | b c:2"] * 5)
    assert len(set(run(learner.tester(), [b"| a"] * 5).ravel().tolist())) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_that_is_too_large_diverges(kind):
    with pytest.raises(Diverged, match="smaller learning rate"):
        run(learner_of(kind, "4,4", learning_rate=3e38), [b"1 | a b", b"3 | b c:2"] * 20)


@pytest.mark.parametrize("kind", ["logistic", "classes"])
@pytest.mark.parametrize("seed", range(5))
def test_exclusive_or(kind, seed):
    draw = np.random.default_rng(seed)
    pairs = draw.integers(0, 2, (2000, 2))
    words = ("", "a"), ("", "b")
    text = [f"{1 + 2 * (a != b)} | {words[0][a]} {words[1][b]}".encode() for a, b in pairs]
    learner = learner_of(kind, "4", random_seed=seed)
    run(learner, text)
    scores = run(learner.tester(), [b"1 |", b"3 | a", b"3 | b", b"1 | a b"])
    answers = scores.argmax(axis=1) == 2 if kind == "classes" else scores[:, 0] > 0
    assert answers.tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nn": "0"}, "--nn takes the units of each hidden layer, 1 to 10000, as 100 or 300,300,300, not '0'"),
        ({"nn": "4,0"}, "not '4,0'"),
        ({"nn": "4,"}, "not '4,'"),
        ({"nn": "-1"}, "not '-1'"),
        ({"nn": "10001"}, "not '10001'"),
        ({"nn": ",".join("1" * 17)}, "up to 16 hidden layers, not 17"),
        ({"nn": "10000,10000"}, "100,090,008 weights between its layers"),
        ({"nn": ""}, "not ''"),
        ({"l1": 0.1}, "--l1 does not go with --nn"),
        ({"sgd": True}, "--sgd does not go with --nn"),
        ({"power_t": 0.3}, "--power_t does not go with --nn"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UsageError, match=message):
        NnConfig(**{"nn": "4", **options})


def test_too_few_slots():
    with pytest.raises(UsageError, match="--nn 100 needs more than the 64 slots of -b 6"):
        Nn(NnConfig(nn="100"), 6)
