"""Batch optimisation: its sums against a plain twin, the minimum against closed forms, its steps in both modes."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.curved_losses import loss_of
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from vwtext import feature_config

from vwlite._native import loss_functions as native
from vwlite.data.text_format import parse_text
from vwlite.errors import Diverged, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.bfgs import Bfgs
from vwlite.learners.configs.bfgs import WITH_KINKS, BfgsConfig
from vwlite.learners.losses import LOSSES as TABLE
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results

from .test_gd import problems

WIDE = {"min_prediction": -1000.0, "max_prediction": 1000.0}


def run_pass(learner, lines, features, held=None, chunk=None):
    batch, results = parse_text(b"\n".join(lines), text_format(features, skip_malformed=False)), Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held, np.uint8)
    chunk = chunk or len(batch)
    for begin in range(0, len(batch), chunk):
        learner.run(batch, Plan(features), results, begin, min(begin + chunk, len(batch)))
    return results


LOSSES = ("squared", "logistic", "quantile", "poisson")


@given(problems(losses=LOSSES), st.integers(0, 2**31), st.sampled_from([1, 3, 99]))
def test_a_pass_sums_what_the_twin_sums(problem, seed, chunk):
    lines, options, held = problem
    features, rng = feature_config(options), np.random.default_rng(seed)
    config = BfgsConfig(loss=LossConfig(options.loss, quantile_tau=options.quantile_tau), **WIDE)
    options.min_prediction, options.max_prediction = -1000.0, 1000.0
    learner = Bfgs(config, options.bits, vw_compat=True)
    slots = 1 << options.bits
    learner.weights[:, 0] = rng.integers(-3, 4, slots) / 4
    learner.weights[:, 2] = rng.integers(-3, 4, slots)
    w, d = learner.weights[:, 0].astype(float), learner.weights[:, 2].astype(float)
    expected = {"g": np.zeros(slots), "h": np.zeros(slots), "loss": 0.0, "weight": 0.0, "curvature": 0.0}
    loss, seen = loss_of(options), set()
    loss.low, loss.high = np.float32(-1000), np.float32(1000)
    for number, line in enumerate(lines):
        example = parse_line(line, options)
        terms = expand(example, options, seen)[0]
        if np.isnan(example.label) or (held and held[number]) or not example.importance > 0:
            continue
        y, weight = example.label, float(example.importance)
        p = np.float32(sum(w[slot] * float(x) for slot, x, *_ in terms) + float(example.base))
        p = min(max(p, np.float32(-1000)), np.float32(1000))
        assume(abs(p) < 16 or options.loss in ("squared", "quantile"))  # odds within single precision
        along = sum(d[slot] * float(x) for slot, x, *_ in terms) + float(example.base)
        slope, bend = float(loss.dl(p, y)) * weight, float(loss.second(p, y)) * weight
        expected["loss"] += float(loss.value(p, y)) * weight
        expected["weight"] += weight
        expected["curvature"] += along * along * bend
        for slot, x, *_ in terms:
            expected["g"][slot] += slope * float(x)
            expected["h"][slot] += bend * float(x) ** 2
    run_pass(learner, lines, features, held, chunk)
    close = {"rtol": 1e-4, "atol": 1e-3}
    np.testing.assert_allclose(learner.weights[:, 1], expected["g"], **close)
    np.testing.assert_allclose(learner.weights[:, 3], expected["h"], **close)
    np.testing.assert_allclose(learner.sums[:2], [expected["loss"], expected["weight"]], **close)
    learner.gradient = learner.first = False
    run_pass(learner, lines, features, held, chunk)
    np.testing.assert_allclose(learner.sums[2], expected["curvature"], rtol=1e-4, atol=1e-2)


def data(loss, rows=60, inputs=5):
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(size=(rows, inputs)), 3)
    y = np.round(x @ np.arange(1, inputs + 1) / 3 + rng.normal(size=rows), 3)
    y = np.where(y > 0, 1, -1) if TABLE[loss].two_classes else np.round(abs(y)) if loss == "poisson" else y
    text = [f"{t} | " + " ".join(f"f{i}:{v}" for i, v in enumerate(row)) for t, row in zip(y, x, strict=True)]
    return [line.encode() for line in text], x, y


def optimise(loss, passes=60, *, strict=True, **options):
    lines, x, y = data(loss)
    features = FeatureConfig(bits=10, noconstant=True)
    options = {"l2": 0.5, "termination": 0.0, **options}
    learner = Bfgs(BfgsConfig(loss=LossConfig(loss, expectile_q=0.2), **options), 10, vw_compat=not strict)
    told = []
    learner.watch(passes, told.append, lambda: None)
    while not learner.finished:
        run_pass(learner, lines, features)
        learner.end_pass()
    terms = [expand(parse_line(lines[0], Options(bits=10)), Options(bits=10, noconstant=True), set())[0]]
    return learner.weights[[slot for slot, *_ in terms[0]], 0], x, y, told


KINDS = [{}, {"hessian_on": True}, {"conjugate_gradient": True}, {"mem": 2}]


def best_ridge(x, y, l2):
    return np.linalg.solve(2 * x.T @ x + l2 * np.eye(5), 2 * x.T @ y)


@pytest.mark.parametrize("l2", [0.5, 5.0, 50.0])
@pytest.mark.parametrize("options", KINDS)
def test_ridge_regression_has_its_closed_form(options, l2):
    w, x, y, told = optimise("squared", l2=l2, **options)
    np.testing.assert_allclose(w, best_ridge(x, y, l2), atol=1e-6)
    rows = [line.split() for line in told if line.strip()[:1].isdigit()]
    assert [int(row[0]) for row in rows][:2] == [1, 3] and float(rows[1][1]) < float(rows[0][1])
    assert told[-1] == "note: no step lowers the loss any further" and len(rows) < 15


@pytest.mark.parametrize("options", KINDS)
def test_ridge_regression_as_vw_has_it(options):
    w, x, y, _ = optimise("squared", strict=False, **WIDE, **options)
    np.testing.assert_allclose(w, best_ridge(x, y, 0.5), atol=2e-4)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("options", [{}, {"hessian_on": True}])
def test_the_logistic_minimum_has_no_slope(options, strict):
    w, x, y, _ = optimise("logistic", strict=strict, **options)
    slope = -(x * (y / (1 + np.exp(y * (x @ w))))[:, None]).sum(0) + 0.5 * w
    assert abs(slope).max() < (1e-5 if strict else 2e-3)


def test_rare_features_move_beside_large_values():
    """A count in every line, as steep as 10^9 of the features that tell the label."""
    rng = np.random.default_rng(3)
    labels, features = rng.choice([-1, 1], 400), FeatureConfig(bits=12)
    lines = [f"{y} |a c:{rng.integers(1, 100000)} w{100 * y + i % 40}".encode() for i, y in enumerate(labels)]
    learner = Bfgs(BfgsConfig(loss=LossConfig("logistic"), l2=0.01, termination=0.0), 12)
    learner.watch(12, lambda line: None, lambda: None)
    while not learner.finished:
        results = run_pass(learner, lines, features)
        learner.end_pass()
    assert np.mean(results.loss[:400]) < 0.02


def objective(loss, x, y, w, l2):
    params = LossConfig(loss, expectile_q=0.2).params((-1e9, 1e9))
    values = native.evaluate(TABLE[loss].code, params, np.float32(x @ w), np.float32(y))[0]
    return values.sum(dtype=float) / (2 if loss == "poisson" else 1) + l2 / 2 * w @ w


@pytest.mark.parametrize("options", [{}, {"conjugate_gradient": True}])
@pytest.mark.parametrize("loss", [name for name in TABLE if name != "perceptron"])  # whose minimum is at 0
def test_every_loss_comes_to_a_minimum(loss, options):
    """From which no way leads down, straight or by chance; curved or not, with kinks or without."""
    w, x, y, _ = optimise(loss, passes=150, l2=1.0, **options)
    actual, rng = objective(loss, x, y, w, 1), np.random.default_rng(1)
    assert actual < 0.8 * objective(loss, x, y, 0 * w, 1)
    for size in (1e-3, 1e-2, 1e-1):
        around = [objective(loss, x, y, w + size * rng.normal(size=5), 1) for _ in range(50)]
        assert min(around) > actual * (1 - 2e-4)


SMOOTH = [name for name in TABLE if name not in ("perceptron", *WITH_KINKS)]


@pytest.mark.parametrize("loss", SMOOTH)
def test_every_smooth_loss_with_l1_comes_to_a_minimum(loss):
    """With zeros, at which neither side descends, and a loss from which no way leads down."""
    w, x, y, _ = optimise(loss, passes=200, l1=4.0, l2=0.1)

    def penalised(w):
        return objective(loss, x, y, w, 0.1) + 4 * abs(w).sum()

    actual, rng = penalised(w), np.random.default_rng(1)
    for size in (1e-3, 1e-2, 1e-1):
        assert min(penalised(w + size * rng.normal(size=5)) for _ in range(50)) > actual * (1 - 2e-4)
    for place in range(5):
        assert min(penalised(w + step * np.eye(5)[place]) for step in (-1e-2, 1e-2)) > actual * (1 - 1e-5)


@pytest.mark.parametrize(("penalty", "least", "active"), [(5, 63.9518, 25), (20, 187.4043, 6), (80, 616.6304, 5)])
def test_the_lasso_has_the_objective_of_coordinate_descent(penalty, least, active):
    """200 rows of 50 numbers, 5 of which matter; objectives and weights left as scikit-learn has them."""
    rng = np.random.default_rng(0)
    x, truth = rng.normal(size=(200, 50)), np.append([3, -2, 1.5, 1, -1], np.zeros(45))
    y = x @ truth + 0.5 * rng.normal(size=200)
    rows = (" ".join(f"f{i}:{v!r}" for i, v in enumerate(row)) for row in x.tolist())
    lines = [f"{t!r} | {row}".encode() for t, row in zip(y.tolist(), rows, strict=True)]
    features = FeatureConfig(bits=14, noconstant=True)
    learner = Bfgs(BfgsConfig(l1=2.0 * penalty, termination=0.0), 14)  # the loss is the squared error, not half of it
    learner.watch(200, lambda line: None, lambda: None)
    while not learner.finished:
        run_pass(learner, lines, features)
        learner.end_pass()
    terms = expand(parse_line(lines[0], Options(bits=14)), Options(bits=14, noconstant=True), set())[0]
    w = learner.weights[[slot for slot, *_ in terms], 0].astype(float)
    rest = y - x @ w
    assert 0.5 * rest @ rest + penalty * abs(w).sum() == pytest.approx(least, rel=1e-6)
    assert np.count_nonzero(w) == active
    slope = x.T @ rest
    assert abs(slope[w == 0]).max() <= penalty
    np.testing.assert_allclose(slope[w != 0], penalty * np.sign(w[w != 0]), rtol=1e-4)


@pytest.mark.parametrize("loss", WITH_KINKS)
def test_l1_needs_a_loss_without_kinks(loss):
    with pytest.raises(UsageError, match=f"--l1 with --bfgs needs a loss without kinks, which {loss} is not"):
        Bfgs(BfgsConfig(loss=LossConfig(loss), l1=1.0), 4)


def test_vw_knows_no_l1_beside_it():
    learner = Bfgs(BfgsConfig(l1=1.0), 4, vw_compat=True)
    assert type(learner.steps).__name__ == "Halving"


# linear programming: the least sums of absolute errors and of hinge losses
@pytest.mark.parametrize(("loss", "least"), [("absolute", 36.79585), ("hinge", 9.083423)])
def test_kinks_do_not_stop_it(loss, least):
    w, x, y, _ = optimise(loss, passes=100, l2=0.0)
    assert objective(loss, x, y, w, 0) == pytest.approx(least, rel=1e-4)


def test_sums_are_of_the_loss_before_clipping():
    """Beyond the labels seen the squared error goes on, and it is its slope that is summed."""
    learner = Bfgs(BfgsConfig(), 4)
    lines, features = [b"1 | a:1", b"3 2 | a:1"], FeatureConfig(bits=4, noconstant=True)
    run_pass(learner, lines, features)
    slot = int(np.flatnonzero(learner.vectors[:, 2])[0])
    assert learner.sums.tolist() == [19, 3, 0] and learner.vectors[slot].tolist() == [-14, 1, 6]
    learner.end_pass(), run_pass(learner, lines, features)
    assert learner.sums[2] == pytest.approx(6 * (14 / 6) ** 2)
    learner.end_pass(), run_pass(learner, lines, features)
    assert learner.weights[slot, 0] == pytest.approx(7 / 3) and learner.sums[0] == pytest.approx(8 / 3)


def test_weights_between_passes_are_the_best_met():
    lines, _, _ = data("hinge")
    features = FeatureConfig(bits=10, noconstant=True)
    learner = Bfgs(BfgsConfig(loss=LossConfig("hinge"), l2=1.0, termination=0.0), 10)
    learner.watch(40, lambda line: None, lambda: None)
    best, rejected = np.inf, 0
    while not learner.finished:
        run_pass(learner, lines, features)
        gradient, here = learner.gradient, learner.weights.copy()
        loss = learner.sums[0] + 0.5 * float((here.astype(float) ** 2).sum())
        learner.end_pass()
        if gradient and learner.measured:
            best = min(best, loss)
            np.testing.assert_array_equal(learner.weights, here)
        elif gradient:
            rejected += 1
            assert loss > best * (1 - 1e-4)
    assert rejected > 0


def test_what_cannot_be_learned_from_ends_it():
    learner, told = Bfgs(BfgsConfig(), 4), []
    learner.watch(9, told.append, lambda: None)
    run_pass(learner, [b"| a", b"0 | a"], FeatureConfig(bits=4))
    learner.end_pass()
    assert learner.finished and told[-1] == "note: no step lowers the loss any further"
    learner = Bfgs(BfgsConfig(), 4)
    run_pass(learner, [b"1e30 | a"], FeatureConfig(bits=4))
    with pytest.raises(Diverged, match="is not a finite number"):
        learner.end_pass()


def test_it_needs_two_passes_and_takes_no_other_rule():
    with pytest.raises(UsageError, match="at least 2 passes"):
        Bfgs(BfgsConfig(), 4).watch(1, print, lambda: None)
    for options in ({"mem": -1}, {"termination": 1.0}, {"ftrl": True}):
        with pytest.raises(UsageError, match=f"--{next(iter(options))}"):
            BfgsConfig(**options)
