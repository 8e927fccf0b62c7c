"""Many problems in one pass: each is the plain twin's, whatever the others are and however many threads there are."""

from dataclasses import replace

import numpy as np
import pytest
from oracle.one_vs_rest_sgd import passes

from vwlite._native import batch_rows
from vwlite.data.batch import Csr, offsets
from vwlite.errors import Diverged, UsageError
from vwlite.features.sparse_rows import Rows
from vwlite.solvers.aso.config import LOSSES, SolverConfig
from vwlite.solvers.aso.sgd import objective, solve, targets, zero_weights

FEATURES, PROBLEMS, SHARED = 12, 40, 3


def some_rows(count=60, seed=3):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((count, FEATURES)) < 0.3, rng.random((count, FEATURES)), 0).astype(np.float32)
    dense[5] = 0  # an empty row
    owner, index = np.nonzero(dense)
    terms = Csr(offsets(np.bincount(owner, minlength=count)), index.astype(np.uint32), dense[owner, index])
    extra = rng.normal(size=(count, SHARED)).astype(np.float32)
    importance = np.ones(count, np.float32)
    rows = Rows(terms, importance, extra)
    chosen = rng.random((count, PROBLEMS)) < 0.3
    made = targets(*np.nonzero(chosen), count, [str(n) for n in range(PROBLEMS)])
    return rows, made, dense, chosen


def orders_of(config, count):
    for number in range(config.passes):
        order = np.arange(count)
        batch_rows.shuffle(order, (config.seed * 0x9E3779B97F4A7C15 + number) % 2**64)
        yield order.tolist()


@pytest.mark.parametrize("loss", LOSSES)
def test_every_problem_is_the_twins(loss):
    config = SolverConfig(loss=loss, penalty=0.01, rate=0.2, passes=3, seed=4)
    rows, made, dense, chosen = some_rows()
    weights = solve(config, rows, made, zero_weights(FEATURES, SHARED, PROBLEMS))
    pairs = [[(j, float(value)) for j, value in enumerate(row) if value] for row in dense]
    orders = list(orders_of(config, len(rows)))
    for problem in (0, 7, PROBLEMS - 1):
        positive = set(np.flatnonzero(chosen[:, problem]).tolist())
        w, v, bias = passes(config, pairs, positive, orders, rows.extra.astype(float).tolist())
        expected = [w.get(j, 0) for j in range(FEATURES)]
        np.testing.assert_allclose(weights.w[:, problem], expected, rtol=2e-3, atol=2e-4)
        np.testing.assert_allclose(weights.v[:, problem], v, rtol=2e-3, atol=2e-4)
        np.testing.assert_allclose(weights.bias[problem], bias, rtol=2e-3, atol=2e-4)


def test_threads_do_not_matter():
    rows, made, _, _ = some_rows()
    config = SolverConfig(passes=2)
    one, two = (solve(replace(config, threads=n), rows, made, zero_weights(FEATURES, SHARED, PROBLEMS)) for n in (1, 2))
    assert one.w.tobytes() == two.w.tobytes() and one.v.tobytes() == two.v.tobytes()
    assert one.bias.tobytes() == two.bias.tobytes() and one.w.any()


def test_many_problems_are_one_versus_rest_one_by_one():
    rows, made, _, chosen = some_rows()
    config = SolverConfig(passes=2)
    together = solve(config, rows, made, zero_weights(FEATURES, SHARED, PROBLEMS))
    for problem in (0, 13):
        owner = np.flatnonzero(chosen[:, problem])
        alone = targets(owner, np.zeros(len(owner), int), len(rows), ["it"])
        single = solve(config, rows, alone, zero_weights(FEATURES, SHARED, 1))
        assert single.w[:, 0].tobytes() == together.w[:, problem].tobytes()


def test_fixed_v_stays():
    rows, made, _, _ = some_rows()
    weights = zero_weights(FEATURES, SHARED, PROBLEMS)
    weights.v += 0.25
    solve(SolverConfig(shared_rate=0.0), rows, made, weights)
    assert (weights.v == 0.25).all() and weights.w.any()


def test_importance_weighs_steps():
    rows, made, _, _ = some_rows()
    heavy = replace(rows, importance=np.full(len(rows), 2, np.float32))
    config = SolverConfig(penalty=0.0, rate=0.1, passes=1)
    doubled = solve(config, heavy, made, zero_weights(FEATURES, SHARED, PROBLEMS))
    faster = solve(replace(config, rate=0.2), rows, made, zero_weights(FEATURES, SHARED, PROBLEMS))
    np.testing.assert_allclose(doubled.w, faster.w, rtol=1e-4, atol=1e-6)


def test_the_objective_falls_towards_its_minimum():
    rows, made, _, _ = some_rows()
    start = objective(SolverConfig(), rows, made, zero_weights(FEATURES, SHARED, PROBLEMS))
    few, many = (
        objective(c, rows, made, solve(c, rows, made, zero_weights(FEATURES, SHARED, PROBLEMS)))
        for c in (SolverConfig(rate=0.05, passes=5), SolverConfig(rate=0.05, passes=80))
    )
    assert start == pytest.approx(PROBLEMS) and many < few < start


def test_rates_that_explode_are_an_error():
    rows, made, _, _ = some_rows()
    config = SolverConfig(loss="squared", rate=400.0, penalty=0.0, passes=30)
    with pytest.raises(Diverged, match="smaller -l"):
        solve(config, rows, made, zero_weights(FEATURES, SHARED, PROBLEMS))


@pytest.mark.parametrize(
    "wrong", [{"loss": "poisson"}, {"penalty": -1.0}, {"rate": 0.0}, {"passes": 0}, {"rate": 1.0, "penalty": 0.5}]
)
def test_impossible_options_are_refused(wrong):
    with pytest.raises(UsageError):
        SolverConfig(**wrong)
