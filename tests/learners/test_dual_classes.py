"""The dual of the hinge loss of classes: steps against a twin, and what holds of its objectives."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle.dual import Dual
from oracle.dual_classes import DualClasses

from vwlite._native import dual_classes as kernel
from vwlite.data.batch import Csr
from vwlite.interrupts import STOP
from vwlite.learners.configs.dual import DualConfig
from vwlite.learners.dual import CrammerSinger
from vwlite.learners.losses import LossConfig

from .test_dual import solver_of

VALUES = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.5, 2.0, -3.0])
ANY = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def problems(draw, most=6):
    columns, classes = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    rows = st.lists(VALUES, min_size=columns, max_size=columns).filter(any)
    x = draw(st.lists(rows, min_size=1, max_size=most))
    each = {"min_size": len(x), "max_size": len(x)}
    y = draw(st.lists(st.integers(0, classes - 1), **each))
    c = draw(st.lists(st.sampled_from([0.25, 1.0, 3.0]), **each))
    return DualClasses(x, y, c, classes, draw(st.sampled_from([0.1, 1.0, 20.0])))


def rows_of(x):
    x = np.array(x, np.float32)
    own, columns = np.nonzero(x)
    return Csr(np.searchsorted(own, np.arange(len(x) + 1)), columns.astype(np.uint32), x[own, columns])


def classes_of(twin, gap=1e-3, passes=1000, seed=0):
    config = DualConfig(loss=LossConfig("hinge"), l2=twin.l2, gap=gap, random_seed=seed)
    numbers = np.array(twin.y, np.uint32), np.array(twin.c, np.float64)
    shape = {"classes": twin.classes, "slots": len(twin.x[0])}
    return CrammerSinger(rows_of(twin.x), *numbers, config, **shape, passes=passes)


@ANY
@given(problems(), st.integers(1, 3))
def test_every_sweep_takes_the_best_steps(twin, sweeps):
    solver = classes_of(twin)
    for _ in range(sweeps):
        solver.active, solver.highest = len(twin.y), np.inf  # no row is left out
        solver.run_pass()
        for row in solver.order:
            twin.step(row)
        np.testing.assert_allclose(solver.a, twin.a, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(solver.w.T, twin.w, rtol=1e-7, atol=1e-8)
        twin.a = solver.a.tolist()
    metrics = solver.evaluate()
    assert metrics.primal == pytest.approx(twin.primal(), rel=1e-10)
    assert metrics.dual == pytest.approx(twin.dual(), rel=1e-10, abs=1e-10)
    assert abs(solver.a.sum(axis=1)).max() < 1e-9


@ANY
@given(problems(most=12))
def test_no_sweep_lowers_the_dual_and_the_gap_closes(twin):
    solver = classes_of(twin, 1e-6, passes=100_000)
    before = solver.evaluate()
    assert before.dual == 0
    for _ in range(20):
        solver.run_pass()
        actual = solver.evaluate()
        slack = 1e-12 * (actual.primal + abs(before.dual))
        assert before.dual - slack <= actual.dual <= actual.primal + slack
        before = actual
    actual, passes = solver.solve(lambda number, told: None)
    assert actual.gap <= 1e-6 and passes < 100_000
    assert actual.primal == pytest.approx(twin.primal(solver.w.T.tolist()), rel=1e-9)


def random_problem(rows=60, classes=2, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4)).astype(np.float32).astype(float)
    y = (x @ rng.normal(size=(4, classes)) + rng.normal(size=(rows, classes))).argmax(axis=1)
    return DualClasses(x.tolist(), y.tolist(), [1.0] * rows, classes, 2.0)


def test_two_classes_are_one_machine_of_half_the_penalty():
    twin = random_problem()
    solver = classes_of(twin, 1e-10, passes=100_000)
    actual, _ = solver.solve(lambda number, told: None)
    signs = [1.0 if y else -1.0 for y in twin.y]
    binary = solver_of(Dual("hinge", twin.x, signs, twin.c, [0.0] * 60, 1.0), 1e-10, passes=100_000)
    other, _ = binary.solve(lambda number, told: None)
    assert actual.primal == pytest.approx(other.primal, rel=1e-8)
    np.testing.assert_allclose(solver.w[:, 1] - solver.w[:, 0], binary.w, atol=1e-4)


def test_support_vectors_are_rows_with_numbers():
    solver, active = classes_of(random_problem(classes=3), 1e-9, passes=100_000), []
    actual, _ = solver.solve(lambda number, told: active.append(solver.active))
    assert min(active) < 50  # settled rows were left out
    true = solver.prediction[np.arange(60), solver.label]
    rivals = solver.prediction.copy()
    rivals[np.arange(60), solver.label] = -np.inf
    margin = true - rivals.max(axis=1)
    assert (margin < 1 - 1e-3).sum() <= actual.bound <= actual.support <= (margin < 1 + 1e-3).sum()


def test_arrays_that_do_not_fit_are_refused():
    solver = classes_of(random_problem())
    with pytest.raises(ValueError, match="no order of the rows"):
        kernel.sweep(solver, solver.order[:-1], 59, 0, STOP, solver.scratch)
    with pytest.raises(ValueError, match="too little scratch"):
        kernel.sweep(solver, solver.order, 60, 0, STOP, solver.scratch[:1])
    with pytest.raises(ValueError, match="each row and class"):
        kernel.evaluate(solver, solver.prediction[:-1])
    solver.cost = solver.cost[:-1]
    with pytest.raises(ValueError, match="missing for some rows"):
        kernel.sum_weights(solver)
    solver.rows.values = solver.rows.values[:-1]
    with pytest.raises(ValueError, match="no rows"):
        solver.evaluate()
    beyond, shape = np.array([5], np.uint32), {"classes": 2, "slots": 1, "passes": 1}
    with pytest.raises(ValueError, match="rows need terms"):
        CrammerSinger(rows_of([[1.0]]), beyond, np.ones(1), solver.config, **shape)
