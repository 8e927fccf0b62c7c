"""Scoring filter trees against their twin, the full gradient flow, and the laws they have to keep."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import label_updates
from oracle.dyadic import full_flow, merged
from oracle.dyadic_updates import PAIRS
from oracle.label_updates import close
from oracle.scoring_tree import champion
from oracle.scoring_tree_case import ScoringCase

from vwlite.errors import UsageError
from vwlite.learners.configs.trees import ScoringTreeConfig
from vwlite.learners.losses import LossConfig

LOSSES = ("hinge", "logistic", "squared")
MIXED = "".join(f"{1 + (3 * u + i * i) % 5} |a u{u} |b i{i} g{i % 3}:0.5\n" for u in range(9) for i in range(7))


def updates(loss, decays=(0.0,), **ranges):
    """``label_updates.updates`` of scoring trees, some of them linear."""

    def make(draw, options):
        return ScoringCase(loss=loss, **options)

    return label_updates.updates(make, decays, pairs=[(), *PAIRS], **ranges)


def costs_of(update):
    costs = np.ones(update.case.config.count)
    costs[update.true] = 0
    return costs


def margin(update):
    """Of the class of the label over the other one; of two classes."""
    scores = update.case.twin().scores(update.row)
    return float(scores[update.true] - scores[1 - update.true])


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_agrees_with_the_twin(loss, data):
    check_against_twin(data.draw(updates(loss)))


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_agrees_with_decay(loss, data):
    check_against_twin(data.draw(updates(loss, (0.01, 0.3), rates=(-3, 0), importances=(-2, 1))))


def check_against_twin(update):
    case, row = update.case, update.row
    twin, old = case.twin(), case.parameters(row)
    update.learn()
    try:
        before = twin.learn(row, costs_of(update), update.importance)
    except (ArithmeticError, OverflowError):
        assume(False)
    np.testing.assert_allclose(case.learner.raw[0], before, rtol=1e-5, atol=1e-5)
    close(case.parameters(row), case.twin_parameters(twin, row), old, of_largest=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_agrees_with_the_full_gradient_flow(loss, data):
    tame = {"rates": (-2, -1), "importances": (-1, 0.3), "values": (-0.5, 0), "scale": (-1, 0), "most": 2}
    update = data.draw(updates(loss, (0.0, 0.1), **tame))
    case, row, twin = update.case, update.row, update.case.twin()
    label = 1.0 if update.true == 0 else -1.0
    slots = merged(row.linear)
    weights = np.concatenate([[twin.w[slot][place] for slot in slots] for place in (0, 1)])
    x = np.concatenate([[*slots.values()], [-value for value in slots.values()]])
    w, pairs = full_flow(twin.contest(row, 0, 1, label), weights, x, update.importance, 400)
    update.learn()
    got = np.concatenate([[case.linear[slot, place] for slot in slots] for place in (0, 1)])
    close(got, w, weights, 1e-5)
    terms = case.twin().contest(row, 0, 1, label).terms
    for term, wanted in zip(terms, pairs, strict=True):
        for one, other in zip((term.alpha, term.beta), wanted, strict=True):
            close(one, other, other, 1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_two_importances_equal_their_sum(loss, data):
    once, twice = data.draw(updates(loss, copies=2, most=2, importances=(-3, 1)))
    first = float(np.float32(once.importance * data.draw(st.floats(0.05, 0.95))))
    row, old = once.row, once.case.parameters(once.row)
    once.learn()
    twice.learn(first)
    twice.learn(once.importance - first)
    close(twice.case.parameters(row), once.case.parameters(row), old, 1e-5, of_largest=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_margin_never_passes_the_label_and_the_loss_never_grows(loss, data):
    update = data.draw(updates(loss, rates=(-4, 4), importances=(-6, 6), values=(-2, 2), most=2))
    loss, before = update.case.twin().loss, margin(update)
    update.learn()
    after, rounding = margin(update), 1e-4 * (1 + abs(before))
    assert loss.value(after, 1.0) <= loss.value(before, 1.0) + rounding
    if loss.name != "logistic":
        assert (after - 1) * np.sign(before - 1) >= -rounding
    else:
        assert after >= before - rounding
    assert update.importance > 100 or not update.case.learner.get("unbounded")  # as of dyadic models


@given(st.integers(2, 9), st.sampled_from(LOSSES), st.sampled_from([(), ("ab",)]), st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_the_winner_is_the_class_of_the_largest_score_on_every_row(classes, loss, pairs, seed):
    case = ScoringCase(classes, pairs, loss=loss, rank=2)
    case.fill(np.random.default_rng(seed), 0.5)
    text = MIXED.replace("5 |", "1 |") if classes > 2 else MIXED.translate(str.maketrans("345", "121"))
    results = case.run("".join(line for line in text.splitlines(True) if int(line[0]) <= classes))
    rows = slice(sum(int(line[0]) <= classes for line in text.splitlines()))
    scores = case.learner.raw[rows]
    assert (results.prediction[rows] == scores.argmax(axis=1) + 1).all()
    for one in scores:
        assert champion(classes, lambda *_, scores=one: scores) == one.argmax()


def test_of_equal_scores_the_lower_class_wins():
    case = ScoringCase(7, ())
    assert case.run("|a x |b y").prediction[0] == 1
    case.linear[:, [4, 6]] = 1
    assert case.run("|a x |b y").prediction[0] == 5


@pytest.mark.parametrize("line", ["1 0 |a x |b y", "|a x |b y"])
def test_no_importance_and_no_label_change_nothing(line):
    case = ScoringCase(3)
    case.fill(np.random.default_rng(1))
    old = [case.learner.weights.copy(), *(table.copy() for table in case.learner.latent[0])]
    case.run(line)
    assert all(np.array_equal(a, b) for a, b in zip(old, [case.learner.weights, *case.learner.latent[0]], strict=True))


def test_costs_weigh_contests():
    """A contest is learned with the difference of the costs; where one of them is not known, not at all."""
    for text, costs in (
        ("1:0.5 2:2 3:0.5 4:3 |a x |b y", [0.5, 2, 0.5, 3]),
        ("2:2 4:3 |a x |b y", [np.inf, 2, np.inf, 3]),
    ):
        case = ScoringCase(4, costs=True, learning_rate=0.1)
        case.fill(np.random.default_rng(4), 0.3)
        row, twin, old = case.row("1 |a x |b y"), case.twin(), case.parameters(case.row("1 |a x |b y"))
        with np.errstate(invalid="ignore"):
            best = int(twin.learn(row, np.array(costs)).argmax())
        results = case.run(text)
        close(case.parameters(row), case.twin_parameters(twin, row), old)
        assert results.loss[0] == (costs[best] - min(costs) if costs[best] < np.inf else 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": LossConfig("quantile")}, "needs a --loss_function of two classes, like hinge"),
        ({"loss": LossConfig("perceptron")}, "ends at the margin 0"),
        ({"probabilities": True}, "--probabilities of --scoring needs --loss_function logistic"),
        ({"loss": LossConfig("logistic"), "probabilities": True, "costs": True}, "labels without --costs"),
        ({"dot_init": 0.0}, "--dot-init 0 never learns"),
        ({"pairs": 1, "dot_l2_of": "weights"}, "--dot-l2-of weights does nothing without --dot-offset"),
        ({"pairs": 1, "active": True}, "--active with --filter_tree and --scoring needs --simulation"),
        ({"dot_unseen": "start", "min_updates": 2}, "contradict each other"),
        ({"l2": 0.1}, "--l2 does not go with --filter_tree and --scoring"),
        ({"binary": True}, "--binary does not go with"),
        ({"filter_tree": 1}, "takes 2 to 4096 classes"),
        ({"filter_tree": 4000, "pairs": 1, "rank": 20}, "80,000 numbers"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UsageError, match=message):
        ScoringTreeConfig(**{"loss": LossConfig("hinge"), "filter_tree": 3, "scoring": True, **options})
