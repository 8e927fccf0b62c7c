"""Importance-aware steps of every loss, above all next to the places where the slope jumps."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from vwlite import Model
from vwlite._native import loss_functions as native
from vwlite.learners.losses import LOSSES, LossConfig

PLAIN = ("classic", "perceptron")  # whose steps are plain gradient steps
HINGES = ("hinge", "modified_huber", "squared_hinge")
ENDLESS = ("exponential", "tanh")  # the larger a margin the better
BOUNDED = ("truncated", "geman_mcclure", "tanh", "lp")  # not convex: the flow enlarges the rounding of where it begins
SPAN = {"logistic": 16.6, "poisson": 44}  # beyond, one loss is 0 in single precision and the other constant
PARAMETERS = {
    "quantile_tau": [0.0, 0.1, 0.9, 1.0],
    "expectile_q": [0.2, 0.5],
    "tube": [0.0, 0.1, 0.25],
    "loss_scale": [0.1, 1.5],
    "lp_power": [0.5, 0.99, 1.0, 1.5, 2.0, 3.0, 100.0],
}
NUMBERS = st.floats(-1e3, 1e3, width=32)


def neighbour(x, ulps):
    for _ in range(abs(ulps)):
        x = np.nextafter(np.float32(x), np.float32(math.copysign(math.inf, ulps)))
    return x


def labels_of(name):
    if name == "poisson":
        return st.sampled_from([0, 1, 3])
    if name == "logistic":
        return st.floats(-1, 1, width=32)
    return st.sampled_from([-1, 1]) if LOSSES[name].two_classes else NUMBERS


@st.composite
def cases(draw):
    """A loss, a prediction, a label, and what a unit of the update changes the prediction by."""
    name = draw(st.sampled_from([name for name in LOSSES if name not in PLAIN]))
    loss = LossConfig(name, limited=True, **{field: draw(st.sampled_from(PARAMETERS[field])) for field in PARAMETERS})
    y = np.float32(draw(labels_of(name)))
    kinks = [y + side * width for side in (-1, 1) for width in (loss.tube, loss.loss_scale, 0)] + [-1, 0, 1]
    p = draw(st.one_of(NUMBERS, st.builds(neighbour, st.sampled_from(kinks), st.integers(-3, 3))))
    p = min(max(p, -40), 40) if name in ("logistic", "poisson", *ENDLESS) else p
    return loss, np.float32(p), y, np.float32(draw(st.sampled_from([1e-6, 0.04, 1, 2.39, 1e3])))


def moved(loss, p, y, time, k):
    """The prediction after an update of scale ``time / k``."""
    arrays = (np.float32([x]) for x in (p, y, time / k, k))
    return float(p) + float(native.update(loss.loss.code, loss.params((-2e3, 2e3)), *arrays)[0][0]) * float(k)


def goal_of(loss, p, y):
    """Where the loss is least, on the way from ``p``; for bounded losses ``p`` itself where they are flat."""
    params, residual = loss.params().astype(float), abs(float(p) - float(y))
    if loss.name == "logistic":
        return math.inf * y if abs(y) == 1 else math.log((1 + float(y)) / (1 - float(y)))
    if loss.name == "poisson":
        return math.log(y) if y else -math.inf
    if loss.name in ENDLESS:
        return math.inf * y
    if loss.name in HINGES:
        return p if y * p >= 1 else y
    if loss.name == "tube":
        return p if residual <= params[8] else y + math.copysign(params[8], float(p) - float(y))
    return p if loss.name == "truncated" and residual >= params[6] else y


TIMES = st.sampled_from([1e-9, 1e-7, 1e-6, 1e-3, 0.1, 1, 30, 1e4, 1e8, 1e20])
TUBE = LossConfig("tube", tube=0.1)
LAMBERT_ERROR = 6e-6  # vw's approximation to W(exp(x)) - x is off by 5.87e-6 at x = 1, and by less elsewhere


@given(cases(), TIMES)
@example((TUBE, neighbour(0.79, -1), np.float32(0.89), np.float32(2.39)), 1)  # the rounding of 0.89 - 0.1
@example((LossConfig("squared_hinge"), neighbour(1, -1), np.float32(1), np.float32(1)), 1e6)
@example((LossConfig("modified_huber"), neighbour(1, -2), np.float32(1), np.float32(1)), 1e6)
@example((LossConfig("geman_mcclure", loss_scale=1), np.float32(1e7), np.float32(0), np.float32(1)), 1e32)
@example((LossConfig("lp", lp_power=100), np.float32(0.1), np.float32(0), np.float32(1)), 1)
@example((LossConfig("logistic", limited=True), np.float32(0), np.float32(-0.1), np.float32(1)), 10)
@example((LossConfig("logistic", limited=True), np.float32(0), np.float32(1), np.float32(1e-6)), 1e-6)  # -4.3e-6, by W
def test_no_update_passes_the_label(case, time):
    loss, p, y, k = case
    goal, after = goal_of(loss, p, y), moved(loss, p, y, time, k)
    slack = 2e-7 * min(abs(goal - float(p)), 1e9) + 1e-35  # roundings of the difference and the step
    if loss.name in ("logistic", "poisson"):  # of exp, log and Lambert's W
        slack = LAMBERT_ERROR * (1 + abs(float(p)))
    assert min(p, goal) - slack <= after <= max(p, goal) + slack


def steepest(loss, p, y):
    """The greatest slope on the way, by the slope at ``p``."""
    goal = float(goal_of(loss, p, y))
    way = np.linspace(float(p), goal if math.isfinite(goal) else float(y), 200, dtype=np.float32)
    slopes = abs(native.evaluate(loss.loss.code, loss.params((-2e3, 2e3)), way, np.full_like(way, y))[1])
    return max(slopes) / slopes[0] if slopes[0] > 0 and max(slopes) < math.inf else math.inf


@given(cases(), TIMES, TIMES)
@example((TUBE, neighbour(0.79, -1), np.float32(0.89), np.float32(2.39)), 1, 1)
@example((LossConfig("lp", lp_power=100), np.float32(0.1), np.float32(0), np.float32(1)), 1, 1)
@example((LossConfig("logistic", limited=True), np.float32(0), np.float32(-0.1), np.float32(1)), 1, 10)
def test_two_updates_equal_one_of_their_sum(case, first, second):
    loss, p, y, k = case
    enlarged = steepest(loss, p, y) if loss.name in BOUNDED else 1
    assume(enlarged < 1e3)
    between = np.float32(moved(loss, p, y, first, k))
    twice, once = moved(loss, between, y, second, k), moved(loss, p, y, first + second, k)
    if loss.name in SPAN:
        twice, once = np.clip([twice, once], -SPAN[loss.name], SPAN[loss.name])
    rounding = LAMBERT_ERROR if loss.name == "logistic" else 1e-6
    assert twice == pytest.approx(once, rel=2e-6, abs=rounding * float(enlarged) * (2 + abs(float(p)) + abs(float(y))))


RULES = ("", "--sgd --invariant --power_t 0", "--sgd --adaptive --invariant", "--sgd --normalized --invariant")


@pytest.mark.parametrize("options", RULES)
@pytest.mark.parametrize("name", [name for name in LOSSES if name not in PLAIN])
def test_equal_examples_lead_to_the_label_and_not_past_it(name, options):
    label = np.float32(2 if name == "poisson" else 1 if name != "logistic" and LOSSES[name].two_classes else 0.89)
    typed = {"expectile": "--expectile_q 0.2", "logistic": "--logistic_min 0 --logistic_max 1"}.get(name, "")
    free = "" if name in (*ENDLESS, "poisson", "logistic") else "--min_prediction -100 --max_prediction 100"
    model = Model(f"--loss_function {name} {typed} {free} {options} --label-units raw")
    predictions = []
    for _ in range(6):
        model.learn(f"{label} 3 | a:1.3 b:0.7")
        predictions.append(float(model.predict("| a:1.3 b:0.7", raw=True)[0]))
    end = label - np.float32(0.1) if name == "tube" else math.log(label) if name == "poisson" else label
    end = math.log(label / (1 - label)) if name == "logistic" else math.inf if name in ENDLESS else end
    assert np.all(np.diff(predictions) >= -1e-6)
    assert predictions[-1] == pytest.approx(end, rel=1e-6) if name == "tube" else predictions[-1] < end + 1e-6
