"""The dyadic update against its plain-Python twin, the full gradient flow, and the laws it has to keep."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracle.dyadic import full_flow, merged
from oracle.dyadic_case import LOSSES, MORE_LOSSES, Case
from oracle.dyadic_updates import Update, check_against_twin, check_invariance, close, numbers, updates

SMOOTH = [name for name in LOSSES if name not in ("hinge", "quantile")]


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in ("logistic", "poisson")])
@settings(max_examples=20)
@given(data=st.data())
def test_agrees_with_the_closed_form_at_any_scale(loss, data):
    check_against_twin(data.draw(updates(loss)))


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@settings(max_examples=20)
@given(data=st.data())
def test_agrees_with_the_closed_form_of_losses_without_a_flat_point(loss, data):
    check_against_twin(data.draw(updates(loss, rates=(-4, 0), importances=(-6, 2), values=(-3, 1))))


@pytest.mark.parametrize("loss", MORE_LOSSES)
@settings(max_examples=12)
@given(data=st.data())
def test_agrees_with_the_closed_form_of_other_losses(loss, data):
    update = data.draw(updates(loss, rates=(-4, 0), importances=(-6, 2), values=(-3, 1)))
    check_against_twin(update)
    assert update.case.learner.get("unbounded") == 0


@pytest.mark.parametrize("loss", MORE_LOSSES)
@settings(max_examples=6)
@given(data=st.data())
def test_agrees_with_decay_of_other_losses(loss, data):
    check_against_twin(data.draw(updates(loss, (0.01, 0.3), (-4, -1), (-3, 1), (-1, 0.3))))


@pytest.mark.parametrize("loss", ["hinge", "quantile"])
@settings(max_examples=15)
@given(data=st.data())
def test_agrees_with_decay(loss, data):
    check_against_twin(data.draw(updates(loss, (0.01, 0.3), rates=(-4, 1), importances=(-6, 1))))


@pytest.mark.parametrize("loss", SMOOTH)
@settings(max_examples=12)
@given(data=st.data())
def test_agrees_with_decay_of_smooth_losses(loss, data):
    check_against_twin(data.draw(updates(loss, (0.01, 0.3), (-4, -1), (-3, 1), (-1, 0.3))))


@pytest.mark.parametrize("loss", LOSSES | MORE_LOSSES)
@settings(max_examples=3)
@given(data=st.data())
def test_agrees_with_the_full_gradient_flow(loss, data):
    update = data.draw(updates(loss, (0.0, 0.1), (-2, -1.3), (-1, 0.3), (-0.5, 0)))
    case, row = update.case, update.row
    case.tame(row, 2)
    assume(abs(case.twin().predict(row)) < 4)
    flow, x = case.twin().flow(row, update.label), merged(row.linear)
    weights = case.learner.weights[list(x), 0].astype(float)
    old, before = case.parameters(row), case.tangent(row)
    update.learn()
    steps = 8000 if loss == "lp" else 600  # whose slope is steep at the label
    w, pairs = full_flow(flow, weights, np.array(list(x.values())), update.importance, steps)
    expected = np.concatenate([w, *(part.ravel() for pair in pairs for part in pair)])
    close(update, case.parameters(row), expected, old, (before, case.tangent(row)))


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "poisson"])
@settings(max_examples=12)
@given(data=st.data())
def test_two_importances_equal_their_sum(loss, data):
    check_invariance(data, loss, importances=(-6, 0) if loss == "logistic" else (-6, 6))


@pytest.mark.parametrize("loss", ["hinge", "quantile"])
@settings(max_examples=25)
@given(data=st.data())
def test_the_prediction_never_passes_the_label(loss, data):
    update = data.draw(updates(loss, (0.0, 0.01), (-4, 2), (-6, 3)))
    row, y = update.row, update.label
    before, error = update.case.twin().predict(row), update.error
    update.learn()
    after, error = update.case.twin().predict(row), max(error, update.error)
    if LOSSES[loss].slope(before, y) == 0:
        assert after == before
    else:
        assert (after - y) * np.sign(before - y) >= -error


@pytest.mark.parametrize("loss", LOSSES | MORE_LOSSES)
@settings(max_examples=12)
@given(data=st.data())
def test_the_loss_does_not_rise(loss, data):
    update = data.draw(updates(loss))
    row, y, function = update.row, update.label, (LOSSES | MORE_LOSSES)[loss]
    before = update.case.twin().predict(row)
    update.learn()
    after = update.case.twin().predict(row)
    rounding = abs(function.slope(after, y)) * update.error + update.error**2
    assert function.value(after, y) <= function.value(before, y) * (1 + 1e-6) + rounding
    rest = function.rest(y)
    if rest is not None:
        assert (after - rest) * np.sign(before - rest) >= -update.error


@pytest.mark.parametrize("loss", ["hinge", "quantile", "squared"])
def test_a_large_importance_reaches_the_label(loss):
    case = Case(loss, learning_rate=10.0)
    case.run("-1 1000 |a x y |b z:2")
    assert case.predict("|a x y |b z:2")[0] == pytest.approx(-1, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_importance_and_no_label_change_nothing(loss):
    case = Case(loss)
    case.fill(np.random.default_rng(1))
    old = [case.learner.weights.copy(), *(table.copy() for table in case.learner.latent[0])]
    case.run("1 0 |a x |b y\n|a x |b y")
    assert all(np.array_equal(a, b) for a, b in zip(old, [case.learner.weights, *case.learner.latent[0]], strict=True))


@pytest.mark.parametrize(
    ("repeated", "single"),
    [
        ("|a x x:2 |b y", "|a x:3 |b y"),
        ("|a x |a x |b y:0.5 y:0.5", "|a x:2 |b y"),
        ("|a x |b y |c z z", "|a x |b y |c z:2"),
    ],
)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_slot_that_occurs_twice_counts_its_values_together(loss, repeated, single):
    weights = []
    for features in (repeated, single):
        case = Case(loss, rank=2, learning_rate=3.0, dot_l2=0.1)
        case.fill(np.random.default_rng(2), 0.3)
        case.run(f"1 2 {features}")
        weights.append([case.learner.weights, *(table[:, :2] for table in case.learner.latent[0])])
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@example(features=40)
@settings(max_examples=10)
@given(features=st.integers(1, 70))
def test_many_features_with_repeated_slots(features):
    """Long lists are merged by sorting."""
    rng = np.random.default_rng(features)
    sides = (" ".join(f"{n % 23}:{x}" for n, x in enumerate(numbers(rng, -1, features))) for _ in "ab")
    case = Case("squared", rank=2)
    case.fill(rng, 0.3)
    case.set_range()
    check_against_twin(Update(case, "|a {} |b {}".format(*sides), 2.0, 3.0))
