"""One battery over the loss table: every loss meets every law it claims."""

import math

import numpy as np
import pytest
from oracle import curved_losses
from oracle.options import Options

from vwlite._native import loss_functions as native
from vwlite.learners.losses import LINKS, LOSSES, LossConfig, link_code

NAMES = list(LOSSES)
MARGIN = ["hinge", "exponential", "modified_huber", "tanh", "squared_hinge", "perceptron"]
ONE_SIDED = ["hinge", "modified_huber", "squared_hinge"]  # no loss from the margin 1 on
TUBE = 0.25
LABELS = {**{name: [-1, 1] for name in (*MARGIN, "logistic")}, "poisson": [0, 1, 3]}  # others: any number
ENDLESS = ["logistic", "exponential", "tanh"]  # the larger a margin the better
FORGIVING = [
    "absolute", "truncated", "geman_mcclure", "exponential", "modified_huber", "tanh", "lp", "squared_hinge", "tube",
]
PLAIN = ["squared", "classic", "hinge", "quantile", "expectile", "perceptron"]  # no exp or log but in updates
DEVIANCE = {"poisson": 2}  # its value grows twice as fast as its slope says
INVARIANT = [name for name in NAMES if name not in ("classic", "perceptron")]  # has a closed-form update


def config(name):
    return LossConfig(name, quantile_tau=0.1, expectile_q=0.2, loss_scale=1.5, tube=TUBE)


def labels(name):
    return LABELS.get(name, [-2.5, 0, 1, 4])


def grid(*axes):
    """All combinations of the axes' values, one float32 array per axis."""
    mesh = np.meshgrid(*[np.float32(axis) for axis in axes], indexing="ij")
    return [np.ascontiguousarray(axis.ravel()) for axis in mesh]


def evaluate(name, p, y, label_range=(-10, 10)):
    return native.evaluate(LOSSES[name].code, config(name).params(label_range), p, y)


def update(name, *args, label_range=(-10, 10)):
    return native.update(LOSSES[name].code, config(name).params(label_range), *args)


def oracle(name, label_range):
    twin = curved_losses.loss_of(Options(loss=name, quantile_tau=0.1, expectile_q=0.2, own=True))
    if name in ("squared", "expectile"):
        twin.low, twin.high = np.float32(label_range)
    return twin


def steps(name):
    """Predictions, labels, scales and predictions per update that meet every branch."""
    return grid(np.linspace(-6, 6, 25), labels(name), [1e-7, 0.01, 0.3, 2, 50], [0.04, 1, 7])


# value, slope, curvature, square_grad at prediction 0.5; tau 0.1, q 0.2, label 2 (1 where binary)
POINTS = {
    "squared": (2.25, -3, 2, 9),
    "classic": (2.25, -3, 2, 9),
    "hinge": (0.5, -1, 0, 1),
    "logistic": (0.4740770, -0.3775407, 0.2350037, 0.1425370),
    "quantile": (0.15, -0.1, 0, 0.01),
    "expectile": (1.8, -2.4, 1.6, 5.76),
    "poisson": (0.0700333, -0.3512787, 1.6487213, 0.1233967),
    "absolute": (1.5, -1, 0, 1),
    "truncated": (1, 0, 0, 0),
    "geman_mcclure": (0.5, -1 / 3, -2 / 9, 1 / 9),
    "exponential": (0.6065307, -0.6065307, 0.6065307, 0.3678794),
    "modified_huber": (0.25, -1, 2, 1),
    "tanh": (0.5378828, -0.7864477, 0.7268619, 0.6185),
    "lp": (1.8371173, -1.8371173, 0.6123724, 3.375),
    "squared_hinge": (0.25, -1, 2, 1),
    "tube": (1.25, -1, 0, 1),
    "perceptron": (0, 0, 0, 0),
}


@pytest.mark.parametrize("name", NAMES)
def test_known_points(name):
    y = np.float32([1 if name in (*MARGIN, "logistic") else 2])
    actual = np.array(evaluate(name, np.float32([0.5]), y)).ravel()
    np.testing.assert_allclose(actual, POINTS[name], rtol=5e-6)


@pytest.mark.parametrize("label_range", [(-10, 10), (-2.5, 4)])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in FORGIVING])
def test_oracle(name, label_range):
    rng = np.random.default_rng(3)
    p, u, k = (
        rng.uniform(-6, 6, 400),
        10 ** rng.uniform(-4, 2, 400),
        10 ** rng.uniform(-1, 1, 400),
    )
    y = rng.uniform(-1, 1, 400) if name == "logistic" else rng.choice(labels(name), 400)
    rows = [x.astype(np.float32) for x in (p, y, u, k)]
    value, slope, curvature, square_grad = evaluate(name, *rows[:2], label_range)
    step, plain_step = update(name, *rows, label_range=label_range)
    twin = oracle(name, label_range)
    for mine, function, arguments in (
        (value, twin.value, rows[:2]),
        (slope, twin.dl, rows[:2]),
        (curvature, twin.second, rows[:2]),
        (square_grad, twin.square_grad, rows[:2]),
        (plain_step, twin.unsafe_update, rows[:3]),
        (step, twin.update, rows),
    ):
        expected = np.float32([function(*row) for row in zip(*arguments, strict=True)])
        if name in PLAIN and mine is not step and mine is not square_grad:
            np.testing.assert_array_equal(mine, expected)
        else:  # an ulp of exp grows where the formula subtracts
            slack = 1e-5 if mine is step else 2e-6
            np.testing.assert_allclose(mine, expected, rtol=1e-6, atol=slack)


@pytest.mark.parametrize("name", NAMES)
def test_slope_and_curvature_are_derivatives(name):
    h = np.float32(2**-7)
    p, y = grid(np.linspace(-3, 3, 24), labels(name))
    kink = 1 / y if name in ("hinge", "squared_hinge") else 0 * y if name == "perceptron" else y
    far = 20 * h if name == "lp" else 2 * h  # the third derivative of lp grows without bound towards the label
    smooth = abs(abs(p - kink) - TUBE if name == "tube" else p - kink) > far
    p, y = p[smooth], y[smooth]
    _, slope, curvature, square_grad = evaluate(name, p, y)
    (above, slope_above, *_), (below, slope_below, *_) = (evaluate(name, p + s, y) for s in (h, -h))
    numeric = (above - below) / (2 * h) / DEVIANCE.get(name, 1)
    np.testing.assert_allclose(numeric, slope, rtol=1e-3, atol=2e-4)
    numeric = (slope_above - slope_below) / (2 * h)
    np.testing.assert_allclose(numeric, curvature, rtol=1e-3, atol=2e-4)
    np.testing.assert_allclose(square_grad, slope * slope, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_unsafe_update_is_a_gradient_step(name):
    p, y, u, k = steps(name)
    np.testing.assert_allclose(update(name, p, y, u, k)[1], -u * evaluate(name, p, y)[1], rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_small_updates_are_gradient_steps(name):
    p, y, u, k = grid(np.linspace(-3, 3, 25), labels(name), [1e-4], [1e-3])
    safe, unsafe = update(name, p, y, u, k)
    np.testing.assert_allclose(safe, unsafe, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("name", INVARIANT)
def test_importance_a_plus_b_is_a_then_b(name):
    p, y, a, b, k = grid(np.linspace(-3, 3, 13), labels(name), [0.02, 0.5, 4], [0.05, 1, 9], [0.3, 1, 5])
    first = update(name, p, y, a, k)[0]
    second = update(name, p + first * k, y, b, k)[0]
    at_once = update(name, p, y, a + b, k)[0]
    np.testing.assert_allclose((first + second) * k, at_once * k, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", INVARIANT)
def test_the_prediction_never_crosses_the_label(name):
    p, y, u, k = steps(name)
    if name == "poisson":
        with np.errstate(divide="ignore"):
            goal = np.log(y)
    else:
        goal = y * (np.inf if name in ENDLESS else 1)
    moved = update(name, p, y, u, k)[0] * k
    expected = goal - p
    if name in ONE_SIDED:
        expected[y * p >= 1] = 0
    if name == "tube":
        expected = np.sign(expected) * np.maximum(abs(expected) - TUBE, 0)
    slack = 4e-6 * (1 + abs(p))  # roundings of p, and of Lambert's W at large p
    assert np.all(np.sign(expected) * moved >= -slack)
    assert np.all(abs(moved) <= abs(expected) + slack)


@pytest.mark.parametrize("name", [name for name in INVARIANT if name not in ENDLESS])
def test_a_huge_importance_reaches_the_label(name):
    p, y, u, k = grid([-4, 0.25, 5], [1], [1e8], [0.5, 3])
    reached = p + update(name, p, y, u, k)[0] * k
    goal = np.maximum(p, 1) if name in ONE_SIDED else np.zeros(6) if name == "poisson" else y
    if name == "tube":
        goal = y + np.sign(p - y) * TUBE
    if name == "truncated":  # what is an outlier stays one
        goal = np.where(abs(p - y) < 1.5, y, p)
    np.testing.assert_allclose(reached, goal, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_extremes_give_no_nan(name):
    wide = {"hinge": [-1, 1], "logistic": [-1, -0.3, 1], "poisson": [0, 1e-30, 1, 1e30]}
    for label in wide.get(name, [-1e30, -1, 0, 1e30]):
        span = min(label, -50), max(label, 50)
        p, y, u, k = grid(
            [-1e30, -88, -50, -17, 0, 1, 17, 50, 88, 89, 1e30],
            [label],
            [1e-30, 1e-6, 1, 1e6, 1e30],
            [0, 1e-30, 1e-6, 1, 1e6, 1e30],
        )
        for actual in (*evaluate(name, p, y, span), *update(name, p, y, u, k, label_range=span)):
            assert not np.isnan(actual).any()


VALUES = {  # of residuals and the scale, or of margins, as the books write them
    "absolute": lambda r, scale: abs(r),
    "truncated": lambda r, scale: min(1, (r / scale) ** 2),
    "geman_mcclure": lambda r, scale: r**2 / (scale**2 + r**2),
    "exponential": lambda m, scale: math.exp(-m),
    "modified_huber": lambda m, scale: max(0, 1 - m) ** 2 if m >= -1 else -4 * m,
    "tanh": lambda m, scale: 1 - math.tanh(m),
    "lp": lambda r, scale: abs(r) ** 1.5,
    "squared_hinge": lambda m, scale: max(0, 1 - m) ** 2,
    "tube": lambda r, scale: max(0, abs(r) - TUBE),
}


@pytest.mark.parametrize("name", FORGIVING)
def test_updates_follow_the_flow(name):
    """Many small gradient steps, the slopes by differences of the value."""

    def value(p, y):
        return VALUES[name](y * p if name in MARGIN else y - p, 1.5)

    rng = np.random.default_rng(5)
    for _ in range(40):
        p, y = rng.uniform(-3, 3), float(rng.choice(labels(name)))
        u, k = 10 ** rng.uniform(-1, 0.5), 10 ** rng.uniform(-0.5, 0.3)
        assert evaluate(name, np.float32([p]), np.float32([y]))[0][0] == pytest.approx(value(p, y), rel=1e-5, abs=1e-6)
        x, steps = p, 4000
        for _ in range(steps):
            x -= u * k / steps * (value(x + 1e-6, y) - value(x - 1e-6, y)) / 2e-6
        moved = update(name, *np.float32([[p], [y], [u], [k]]))[0][0] * k
        assert moved == pytest.approx(x - p, rel=3e-3, abs=3e-3)


@pytest.mark.parametrize("p", [17, 30, 50, 88, 100])
def test_logistic_update_of_a_sure_prediction_with_a_soft_label(p):
    p, y, u, k = grid([p, -p], [-0.5, 0.5], [0.5], [2])
    moved = update("logistic", p, y, u, k)[0] * k
    assert np.all(np.sign(moved) == -np.sign(p))
    assert np.all(abs(moved) < 1)


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_learned_where_the_value_is_above_0(name):
    edges = [0.5, 1, 2, 15.9, 15.999999, 16, 16.1, 16.6, 16.63, 16.635532, 16.64, 17, 30, 88, 100, math.inf, math.nan]
    p, y = grid([0, *edges, *np.negative(edges)], [*labels(name), -0.5, 2, -math.inf, math.nan])
    actual = native.needs_updates(LOSSES[name].code, config(name).params((-10, 10)), p, y)
    with np.errstate(invalid="ignore"):
        at_kink = (name == "perceptron") & (p * y == 0)  # all weights may be 0
    np.testing.assert_array_equal(actual, (evaluate(name, p, y)[0] > 0) | at_kink)


@pytest.mark.parametrize("limits", [(0, 1e-50), (0, 1), (-3e38, 3e38)])
def test_there_is_a_logistic_loss_between_any_limits(limits):
    params = LossConfig("logistic", logistic_min=limits[0], logistic_max=limits[1]).params((-50, 50))
    p, y = grid([-20, -1, 0, 3, 17], [-1, 0, 1, *limits])
    actual = native.needs_updates(LOSSES["logistic"].code, params, p, y)
    np.testing.assert_array_equal(actual, native.evaluate(LOSSES["logistic"].code, params, p, y)[0] > 0)


def test_squared_is_linear_beyond_the_labels_seen():
    p = np.float32([-3, 1, 7, 7])
    value, slope, curvature, _ = evaluate("squared", p, np.float32([2, 2, 2, 5]), (0, 5))
    np.testing.assert_array_equal(value, [16, 1, 21, 0])
    np.testing.assert_array_equal(slope, [-4, -2, 6, 0])
    np.testing.assert_array_equal(curvature, [0, 2, 0, 0])


def test_soft_logistic_labels_mix_the_two_sides():
    p = np.float32([0.7] * 3)
    low, middle, high = evaluate("logistic", p, np.float32([-1, -0.5, 1]))[0]
    assert middle == pytest.approx(0.75 * low + 0.25 * high, rel=1e-6)


def test_links():
    p = np.linspace(-60, 60, 121, dtype=np.float32)
    assert curved_losses.LINKS.keys() == LINKS.keys()
    for name, function in curved_losses.LINKS.items():
        shown = p.copy()
        native.link(link_code(name), shown)
        expected = [function(x) for x in p]
        np.testing.assert_allclose(shown, expected, rtol=3e-7, atol=1.2e-7, err_msg=name)


def test_native_door_refuses_nonsense():
    one, params = np.float32([1]), config("squared").params()
    with pytest.raises(ValueError, match=f"no loss has the code {len(LOSSES)}"):
        native.evaluate(len(LOSSES), params, one, one)
    with pytest.raises(ValueError, match="expected 10 loss parameters, got 1"):
        native.evaluate(0, one, one, one)
    with pytest.raises(ValueError, match="differ in length: 1 and 10"):
        native.update(0, params, one, one, one, params)
    for code in (-1, len(LINKS)):
        with pytest.raises(ValueError, match="no link has the code"):
            native.link(code, one)


def lp(power, *columns, scale=1.5):
    """The loss's value, slope and curvature, or with four columns its update, which has more."""
    params, code = LossConfig("lp", lp_power=power, loss_scale=scale).params(), LOSSES["lp"].code
    arrays = [np.float32([column]).ravel() for column in columns]
    return (native.evaluate if len(arrays) == 2 else native.update)(code, params, *arrays)


def lp_by_the_book(r, power, scale):
    return (r * r + scale * scale) ** (power / 2) - scale**power if power < 1 else r**power


@pytest.mark.parametrize("power", [0.1, 0.5, 0.9, 1, 1.1, 1.5, 2, 3, 6])
def test_the_lp_loss_and_its_update_follow_the_formula_for_every_power(power):
    far = [(30, 1, 9, 5)] if power < 1 else []
    for p, y, u, k in (*far, (0.2, 2, 0.3, 0.7), (4, 1, 0.05, 1), (1.5, 1.2, 2, 0.5)):
        value, slope, *_ = (float(actual[0]) for actual in lp(power, p, y))
        assert value == pytest.approx(lp_by_the_book(abs(p - y), power, 1.5), rel=1e-6)
        h = 1e-4
        numeric = (lp_by_the_book(abs(p + h - y), power, 1.5) - lp_by_the_book(abs(p - h - y), power, 1.5)) / (2 * h)
        assert slope == pytest.approx(numeric, rel=1e-5)
        x, steps = p, 100_000
        for _ in range(steps):
            r = abs(y - x)
            force = power * r * (r * r + 1.5**2) ** (power / 2 - 1) if power < 1 else power * r ** (power - 1)
            x += u * k / steps * force * (1 if y > x else -1 if y < x else 0)
        moved = float(lp(power, p, y, u, k)[0][0]) * k
        assert moved == pytest.approx(x - p, rel=2e-3, abs=2e-3)


@pytest.mark.parametrize("scale", [1e-6, 0.1, 3])
@pytest.mark.parametrize("power", [0.01, 0.5, 0.99])
def test_lp_below_1_takes_importance_a_plus_b_as_a_then_b(power, scale):
    p, a, b = grid([-1e6, -5, 0.99999, 1.1, 3, 80], [1e-6, 0.3, 40], [1e-3, 1, 1e4])
    y, k = np.float32(1), np.full_like(p, 0.5)
    params, code = LossConfig("lp", lp_power=power, loss_scale=scale).params(), LOSSES["lp"].code
    labels = np.full_like(p, y)
    first = native.update(code, params, p, labels, a, k)[0] * k
    second = native.update(code, params, p + first, labels, b, k)[0] * k
    at_once = native.update(code, params, p, labels, a + b, k)[0] * k
    np.testing.assert_allclose(p + first + second, p + at_once, rtol=3e-5, atol=2e-5)
    assert np.all(abs(at_once) <= abs(p - y) * (1 + 1e-6)) and np.all(at_once * (y - p) >= 0)


def test_lp_of_the_power_1_is_the_absolute_error():
    p, y, u, k = grid(np.linspace(-3, 3, 13), [-2.5, 0, 1], [0.02, 3], [0.3, 5])
    absolute = *evaluate("absolute", p, y), *update("absolute", p, y, u, k)
    for actual, wanted in zip((*lp(1, p, y), *lp(1, p, y, u, k)), absolute, strict=True):
        np.testing.assert_array_equal(actual, wanted)


@pytest.mark.parametrize(("scale", "centre"), [(0.1, 3.049), (0.3, 3.042), (1, 3.039)])
def test_lp_below_1_hardly_sees_outliers(scale, centre):
    """200 numbers around 3 and 7 at 500: where SciPy finds the least sum of the loss, its slopes add up to 0."""
    numbers = np.append(np.random.default_rng(0).normal(3, 1, 200), [500.0] * 7).astype(np.float32)

    def slope(p):
        return float(lp(0.5, np.full_like(numbers, p), numbers, scale=scale)[1].sum(dtype=np.float64))

    assert slope(centre - 1e-3) < 0 < slope(centre + 1e-3)
