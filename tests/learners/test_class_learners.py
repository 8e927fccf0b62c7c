"""Classes over --lrq and dot products against learners of numbers that are run one after the other, row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.per_class import cost_of_set

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import CoinConfig
from vwlite.learners.configs.lrq import LrqConfig
from vwlite.learners.configs.per_class import LABEL_ORDERS, SET_LOSSES, ClassLearnersConfig
from vwlite.learners.dyadic import Dyadic
from vwlite.learners.ensemble import ClassLearners
from vwlite.learners.losses import LossConfig
from vwlite.learners.lrq import Lrq
from vwlite.learners.row_results import Results

COUNT = 3
LOGISTIC = LossConfig("logistic")
BASES = {
    "lrq": (Lrq, LrqConfig(lrq=("ui2",)), FeatureConfig(bits=8)),
    "lrq logistic": (Lrq, LrqConfig(lrq=("ui2",), loss=LOGISTIC), FeatureConfig(bits=8)),
    "dyadic": (Dyadic, DyadicConfig(rank=2, pairs=1), FeatureConfig(bits=8, dotproduct=("ui",))),
}
WORDS = st.tuples(*[st.sampled_from(["a", "b", "c:2", "d"])] * 2)
WEIGHTS = st.sampled_from(["", " 2", " 0"])
LABELS = {
    "oaa": st.sampled_from(["1", "2", "3", ""]),
    "csoaa": st.sampled_from(["1:0 2:1", "1:2 2:0.5 3:0", "3:1", ""]),
    "multilabel_oaa": st.sampled_from(["0", "0,2", "1", "0,1,2"]),
}
HELD = st.lists(st.integers(0, 1), min_size=10, max_size=10)


def lines_of(kind):
    weights = WEIGHTS if kind == "oaa" else st.just("")
    drawn = st.tuples(LABELS[kind], weights, WORDS)
    line = drawn.map(lambda one: f"{one[0]}{one[1] if one[0] else ''} |u {one[2][0]} |i {one[2][1]}".encode())
    return st.lists(line, min_size=1, max_size=10)


def parsed(text, learner, features, words):
    form = text_format(features, skip_malformed=True)
    batch = parse_text(b"\n".join(text), form if words is None else form.of_words(words))
    batch.label = learner.labels().check(batch)
    return batch


def learn(text, kind, base, held, chunk=None, **more):
    _, config, features = BASES[base]
    own = {kind: COUNT, "indexing": 1, "loss": config.loss, "pairs": getattr(config, "pairs", 0), **more}
    learner = ClassLearners(ClassLearnersConfig(base=config, **own), 8)
    batch, results = parsed(text, learner, features, learner.config.label_words), Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held[: len(batch)], np.uint8)
    learner.want_scores()
    for begin in range(0, len(batch), chunk or len(batch)):
        learner.run(batch, Plan(features), results, begin, min(begin + (chunk or len(batch)), len(batch)))
    return learner, results, batch


def targets(line, kind):
    """What each class's learner is told of a line; None: nothing."""
    words = line.partition(b"|")[0].decode().split()
    if kind == "csoaa":
        costs = dict(word.split(":") for word in words)
        return [costs.get(str(number + 1)) for number in range(COUNT)]
    if not words:
        return [None] * COUNT
    if kind == "oaa":
        return ["1" if words[0] == str(number + 1) else "-1" for number in range(COUNT)]
    return ["1" if str(number) in words[0].split(",") else "-1" for number in range(COUNT)]


def one_by_one(text, kind, base, held):
    """float32[rows, classes], the scores of learners that each read lines of their own."""
    learner_type, config, features = BASES[base]
    form, plan, scores = text_format(features, skip_malformed=True), Plan(features), []
    for number in range(COUNT):
        learner, results, column = learner_type(config, 8), Results(), []
        low, high = config.prediction_bounds or config.loss.start_range(False)
        learner.set(min_label=low, max_label=high)
        results.reserve(1)
        for row, line in enumerate(text):
            told = targets(line, kind)[number]
            head, _, rest = line.partition(b"|")
            weight = head.decode().split()[1:] if kind == "oaa" and head.split() else []
            batch = parse_text(" ".join([told or "", *weight]).encode() + b" |" + rest, form)
            results.holdout_mask = None if held is None else np.array([held[row]], np.uint8)
            learner.run(batch, plan, results, 0, 1)
            column.append(results.prediction[0])
        scores.append(column)
    return np.array(scores).T


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", LABELS)
@settings(max_examples=20)
@given(data=st.data(), held=st.none() | HELD, chunk=st.sampled_from([None, 1, 3]))
def test_every_class_learns_as_if_it_were_alone(kind, base, data, held, chunk):
    if kind == "csoaa" and "logistic" in base:
        return  # costs are no labels of that loss
    text = data.draw(lines_of(kind))
    learner, results, batch = learn(text, kind, base, held, chunk)
    scores = one_by_one(text, kind, base, held)
    assert np.array_equal(learner.score[: len(text)], scores)
    for row, line in enumerate(text):
        told = targets(line, kind)
        known = [number for number in range(COUNT) if told[number] is not None] or range(COUNT)
        if kind == "oaa":
            assert results.prediction[row] == scores[row].argmax() + 1
            wrong = batch.label[row] != results.prediction[row] and told[0] is not None
            assert results.loss[row] == (batch.importance[row] if wrong else 0)
        elif kind == "csoaa":
            best = min(known, key=lambda number: (learner.raw[row, number], number))
            assert results.prediction[row] == best + 1
            costs = [float(told[number]) for number in known if told[number] is not None]
            assert results.loss[row] == (np.float32(told[best]) - min(costs) if costs else 0)
        else:
            assert results.loss[row] == sum((scores[row] > 0) != (np.array(told) == "1"))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("loss", SET_LOSSES)
@settings(max_examples=20)
@given(
    text=lines_of("multilabel_oaa"),
    held=st.none() | HELD,
    order=st.sampled_from(LABEL_ORDERS),
    chunk=st.sampled_from([None, 1, 3]),
)
def test_labels_of_a_set_are_decided_one_after_the_other(base, loss, text, held, order, chunk):
    """Against learners of which each reads lines of its own, whose weights say what depends on the decision."""
    order = "given" if loss == "hamming" else order
    learner, results, _ = learn(text, "multilabel_oaa", base, held, chunk, set_loss=loss, label_order=order)
    learner_type, config, features = BASES[base]
    form, plan, inner = text_format(features, skip_malformed=True), Plan(features), Results()
    nodes, labels, having, learned = [learner_type(config, 8) for _ in range(COUNT)], [*range(COUNT)], [0] * COUNT, 0
    low, high = config.prediction_bounds or config.loss.start_range(False)
    inner.reserve(1)
    for row, line in enumerate(text):
        head, _, rest = line.partition(b"|")
        meant, answered, later = {int(label) for label in head.decode().strip().split(",") if label}, set(), [*labels]
        inner.holdout_mask = None if held is None else np.array([held[row]], np.uint8)
        for number in labels:
            later.remove(number)
            rest_of = meant & {*later}
            with_it, without = (cost_of_set(loss, answered | rest_of | own, meant) for own in ({number}, set()))
            weight = abs(with_it - without)
            if row == 0:
                nodes[number].set(min_label=low, max_label=high)
            batch = parse_text((f"{1 if number in meant else -1} " if weight else "").encode() + b"|" + rest, form)
            batch.importance[:] = weight
            nodes[number].run(batch, plan, inner, 0, 1)
            assert learner.score[row, number] == inner.prediction[0]
            if inner.prediction[0] > 0:
                answered.add(number)
        assert results.loss[row] == np.float32(cost_of_set(loss, answered, meant))
        if not (held and held[row]):
            learned += 1
            for label in meant:
                having[label] += 1
        if order != "given" and learned and learned & (learned - 1) == 0:
            sign = 1 if order == "rare" else -1
            labels = sorted(range(COUNT), key=lambda label: (sign * having[label], label))


def test_probabilities_add_up_and_their_log_loss_is_counted():
    text = [b"%d 2 |u a%d |i b%d" % (n % 3 + 1, n % 3, n % 2) for n in range(20)]
    held = [int(n % 4 == 0) for n in range(20)]
    learner, _, batch = learn(text, "oaa", "lrq logistic", held, probabilities=True)
    shares = learner.score[:20]
    assert shares.sum(axis=1) == pytest.approx(1, abs=1e-6)
    true = -np.log(shares[np.arange(20), batch.label.astype(int) - 1].astype(float))
    for part in (0, 1):
        rows = np.array(held) == part
        assert learner.log_loss[0, part] == pytest.approx(2 * true[rows].sum(), rel=1e-5)
        assert learner.log_loss[1, part] == 2 * rows.sum()


def test_refusals():
    base = LrqConfig(lrq=("ui2",))
    with pytest.raises(UsageError, match="--oaa_subsample does not go with --lrq"):
        ClassLearnersConfig(oaa=3, base=base, oaa_subsample=1)
    with pytest.raises(UsageError, match="--oaa does not go with --oaa"):
        ClassLearnersConfig(oaa=3, base=ClassLearnersConfig(oaa=3, base=base))
    assert CoinConfig(coin=True).is_base
