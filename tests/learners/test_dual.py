"""Dual coordinate descent: its steps against a twin that searches, and what holds of its objectives."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle.dual import OF_MARGIN, Dual

from vwlite._native import dual as kernel
from vwlite.data.batch import Csr
from vwlite.errors import UsageError
from vwlite.interrupts import STOP
from vwlite.learners.configs.dual import LOSSES, DualConfig
from vwlite.learners.dual_solver import DualSolver
from vwlite.learners.losses import LossConfig

VALUES = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.5, 2.0, -3.0])
ANY = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def problems(draw, losses=LOSSES, most=6):
    """Rows with a term each; some are alike, and labels contradict one another."""
    loss, columns = draw(st.sampled_from(losses)), draw(st.integers(1, 4))
    rows = st.lists(VALUES, min_size=columns, max_size=columns).filter(any)
    x = draw(st.lists(rows, min_size=1, max_size=most))
    each = {"min_size": len(x), "max_size": len(x)}
    label = st.sampled_from([-1.0, 1.0] if loss in OF_MARGIN else [-2.0, 0.0, 0.5, 3.0])
    y, c = draw(st.lists(label, **each)), draw(st.lists(st.sampled_from([0.25, 1.0, 1.0, 3.0]), **each))
    b = draw(st.lists(st.sampled_from([0.0, 0.0, 0.5]), **each))
    return Dual(loss, x, y, c, b, draw(st.sampled_from([0.1, 1.0, 20.0])), draw(st.sampled_from([0.0, 0.25])))


def solver_of(twin, gap=1e-3, passes=1000, seed=0):
    x = np.array(twin.x, np.float32)
    own, columns = np.nonzero(x)
    rows = Csr(np.searchsorted(own, np.arange(len(x) + 1)), columns.astype(np.uint32), x[own, columns])
    config = DualConfig(loss=LossConfig(twin.name, tube=twin.tube), l2=twin.l2, gap=gap, random_seed=seed)
    numbers = (np.array(one, np.float64) for one in (twin.y, twin.c, twin.b))
    return DualSolver(rows, *numbers, config, slots=x.shape[1], passes=passes)


def step(solver, row):
    """One step, of this row."""
    solver.order[:] = np.roll(np.arange(len(solver.label), dtype=np.uint32), -row)
    kernel.sweep(solver, 1, 0, STOP)


@ANY
@given(problems(), st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_every_step_is_the_best_one(twin, rows):
    solver = solver_of(twin)
    for row in rows:
        row %= len(twin.y)
        step(solver, row)
        twin.step(row)
        np.testing.assert_allclose(solver.a, twin.a, rtol=1e-6, atol=2e-6 * (1 + max(twin.c)))
        twin.a = solver.a.tolist()
        np.testing.assert_allclose(solver.w, twin.w, rtol=1e-9, atol=1e-12)
    metrics = solver.evaluate()
    assert metrics.primal == pytest.approx(twin.primal(), rel=1e-10)
    assert metrics.dual == pytest.approx(twin.dual(), rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(solver.prediction, [twin.predict(row, twin.w) for row in range(len(twin.y))], atol=1e-12)


@ANY
@given(problems(most=12), st.integers(0, 3))
def test_no_sweep_lowers_the_dual_and_the_gap_is_never_negative(twin, seed):
    solver = solver_of(twin, seed=seed)
    before = solver.evaluate()
    for _ in range(20):
        solver.run_pass()
        metrics = solver.evaluate()
        slack = 1e-12 * (abs(metrics.primal) + abs(before.dual))
        assert metrics.dual >= before.dual - slack and metrics.primal >= metrics.dual - slack
        before = metrics


@ANY
@given(problems(), st.sampled_from([1e-1, 1e-3, 1e-8]))
def test_the_gap_certifies_how_far_the_primal_is_from_the_least(twin, gap):
    solver = solver_of(twin, gap, passes=100_000)
    actual, passes = solver.solve(lambda number, told: None)
    assert actual.gap <= gap and passes < 100_000
    assert actual.primal == pytest.approx(twin.primal(solver.w.tolist()), rel=1e-10, abs=1e-10)
    for _ in range(30):
        for row in range(len(twin.y)):
            twin.step(row)
    least = twin.primal()  # or somewhat more
    assert actual.primal * (1 - gap) <= least + 1e-9
    assert actual.dual <= least + 1e-9 * (1 + least)


@ANY
@given(problems(losses=("hinge",), most=10))
def test_slackness_is_complementary(twin):
    """A margin beyond 1 where a_i is 0, at most 1 where it is the importance, 1 between."""
    solver = solver_of(twin, 1e-9, passes=100_000)
    actual, _ = solver.solve(lambda number, told: None)
    error = 1 - solver.label * solver.prediction
    lacks = np.where(error > 0, (solver.cost - solver.a) * error, -solver.a * error)
    assert lacks.min() >= 0 and lacks.sum() <= 1e-9 * actual.primal + 1e-12


def random_problem(loss, rows=60, columns=5, l2=1.0, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)).astype(np.float32).astype(float)
    y = x @ rng.normal(size=columns) + rng.normal(size=rows)
    y = np.where(y > 0, 1.0, -1.0) if loss in OF_MARGIN else y
    return Dual(loss, x.tolist(), y.tolist(), [1.0] * rows, [0.0] * rows, l2, 0.3)


@pytest.mark.parametrize("l2", [0.01, 1, 30])
def test_squared_loss_gives_ridge_regression(l2):
    twin = random_problem("squared", l2=l2)
    solver = solver_of(twin, 1e-12, passes=100_000)
    solver.solve(lambda number, told: None)
    x, y = np.array(twin.x), np.array(twin.y)
    expected = np.linalg.solve(x.T @ x + l2 / 2 * np.eye(5), x.T @ y)
    np.testing.assert_allclose(solver.w, expected, atol=1e-6)


def test_a_tube_of_no_width_gives_the_median():
    y = [0.0, 1.0, 2.0, 40.0, 90.0]
    solver = solver_of(Dual("tube", [[1.0]] * 5, y, [1.0] * 5, [0.0] * 5, 0.1, 0.0), 1e-9, passes=100_000)
    solver.solve(lambda number, told: None)
    assert solver.w[0] == pytest.approx(2, abs=1e-6)


@ANY
@given(problems(most=12), st.integers(1, 8))
def test_a_step_leaves_what_has_settled(twin, passes):
    solver = solver_of(twin, passes=1000)
    for _ in range(passes):
        solver.run_pass()
    solver.evaluate()
    a, w, order, active = solver.a.copy(), solver.w.copy(), solver.order.tolist(), solver.active
    assert sorted(order) == list(range(len(a)))
    for place, row in enumerate(order):
        solver.a[:], solver.w[:] = a, w
        step(solver, row)
        moved = abs(solver.a[row] - a[row])
        assert moved <= 1e-12 * (1 + abs(a[row])) or place < active


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "tube"])
def test_liblinear_finds_the_same(loss):
    linear = pytest.importorskip("sklearn.svm")
    twin = random_problem(loss, rows=200)
    x, y = np.array(twin.x), np.array(twin.y)
    same = {"tol": 1e-10, "max_iter": 10**6, "fit_intercept": False, "C": 1.0}
    if loss == "logistic":
        model = pytest.importorskip("sklearn.linear_model").LogisticRegression(**{**same, "tol": 1e-8})
    elif loss == "tube":
        model = linear.LinearSVR(epsilon=0.3, **same)
    else:
        model = linear.LinearSVC(loss=loss, dual=True, **same)
    solver = solver_of(twin, 1e-10, passes=100_000)
    actual, _ = solver.solve(lambda number, told: None)
    assert actual.primal == pytest.approx(twin.primal(model.fit(x, y).coef_.ravel().tolist()), rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_follows_the_seed(loss):
    twin = random_problem(loss)
    actual = []
    for seed in (0, 0, 1):
        solver = solver_of(twin, 1e-6, seed=seed)
        solver.solve(lambda number, told: None)
        actual.append(solver.a.tobytes())
    assert actual[0] == actual[1] != actual[2]


@pytest.mark.parametrize("scale", [1e-3, 1e5])
def test_labels_of_any_size_are_fitted(scale):
    twin = random_problem("tube")
    twin.y, twin.tube, twin.c = [y * scale for y in twin.y], 0.3 * scale, [scale] * len(twin.y)
    twin.l2 = 1.0
    actual, passes = solver_of(twin, 1e-6).solve(lambda number, told: None)
    assert actual.gap <= 1e-6 and passes < 1000


def test_the_last_objective_is_that_of_weights_summed_anew():
    solver, told = solver_of(random_problem("hinge"), 1e-4), []
    actual, passes = solver.solve(lambda number, objective: told.append(objective))
    w, summed = solver.w.copy(), solver.evaluate()
    kernel.sum_weights(solver)
    assert np.array_equal(w, solver.w) and actual == summed == told[-1] and len(told) == passes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "--dual needs --l2, the strength of regularisation: try --l2 1"),
        ({"loss": LossConfig("poisson"), "l2": 1.0}, "not poisson"),
        ({"loss": LossConfig("logistic", logistic_min=0), "l2": 1.0}, "drop --logistic_min"),
        ({"loss": LossConfig("hinge"), "l2": 1.0, "ftrl": True}, "--ftrl does not go with --dual"),
        ({"loss": LossConfig("hinge"), "l2": 1.0, "gap": 0.0}, "--gap takes a number above 0 and below 1"),
        ({"loss": LossConfig("hinge"), "l2": 1.0, "bias_scale": 0.0}, "--bias_scale takes a number above 0"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    with pytest.raises(UsageError, match=message):
        DualConfig(**{"loss": LossConfig("hinge"), **changes})


def test_arrays_that_do_not_fit_are_refused():
    solver = solver_of(random_problem("hinge"))
    with pytest.raises(ValueError, match="no order of the rows"):
        kernel.sweep(solver, len(solver.order) + 1, 0, STOP)
    with pytest.raises(ValueError, match="a prediction and a place for each row"):
        kernel.evaluate(solver, solver.prediction[:-1])
    solver.cost = solver.cost[:-1]
    with pytest.raises(ValueError, match="missing for some rows"):
        kernel.sum_weights(solver)
    solver.rows.values = solver.rows.values[:-1]
    with pytest.raises(ValueError, match="no rows"):
        solver.evaluate()
    with pytest.raises(ValueError, match="no rows"):
        kernel.row_squares(np.array([0, 2]), np.ones(1, np.float32), np.zeros(1))
    empty = Csr(np.array([0, 0]), np.zeros(0, np.uint32), np.zeros(0, np.float32))
    with pytest.raises(ValueError, match="rows need terms"):
        DualSolver(empty, *np.ones((3, 1)), DualConfig(loss=LossConfig("hinge"), l2=1.0), slots=1, passes=1)
