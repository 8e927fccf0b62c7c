"""Kernel support vector machines against a twin that keeps whole rows of kernels, and what holds of their models."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle.ksvm import Machine
from vwlite._native.ksvm import KernelMachine

from vwlite.data.batch import Csr
from vwlite.errors import UsageError
from vwlite.interrupts import STOP
from vwlite.learners.configs.dual import KERNELS, KsvmConfig
from vwlite.learners.ksvm import LEARN, PREDICT, KernelConfig, vectors_in
from vwlite.learners.losses import LossConfig

ANY = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
VALUES = st.sampled_from([1.0, 1.0, 0.5, -1.0, 0.25, 2.0])
ROW = st.dictionaries(st.integers(0, 7), VALUES, max_size=5)
HINGE = LossConfig(name="hinge")


def rows_of(dicts):
    sizes = [len(row) for row in dicts]
    slots = [slot for row in dicts for slot in sorted(row)]
    values = [row[slot] for row in dicts for slot in sorted(row)]
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Csr(indptr, np.array(slots, np.uint32), np.array(values, np.float32))


def machine_of(held=1 << 20, **options):
    config = KsvmConfig(loss=HINGE, **options)
    return KernelMachine(KernelConfig(config, config.random_seed), 4, held)


def run(machine, rows, label, importance=None, again=False, task=LEARN):
    csr, n = rows_of(rows), len(rows)
    raw = np.zeros(n, np.float32)
    weight = np.ones(n, np.float32) if importance is None else np.array(importance, np.float32)
    tasks = np.full(n, task, np.uint8)
    status, row = machine.run_rows(csr, np.array(label, np.float32), weight, tasks, raw, 0, n, 0, again, STOP)
    assert (status, row) == (0, n)
    return raw


@st.composite
def problems(draw, kernels=KERNELS, most=40):
    rows = draw(st.lists(ROW, min_size=1, max_size=most, unique_by=lambda row: tuple(sorted(row.items()))))  # no ties
    each = {"min_size": len(rows), "max_size": len(rows)}
    label = draw(st.lists(st.sampled_from([-1.0, 1.0]), **each))
    importance = draw(st.lists(st.sampled_from([1.0, 1.0, 0.25, 3.0]), **each))
    options = {
        "kernel": draw(st.sampled_from(kernels)),
        "degree": draw(st.integers(1, 3)),
        "bandwidth": draw(st.sampled_from([0.1, 1.0, 2.5])),
        "l2": draw(st.sampled_from([0.5, 1.0, 4.0])),
        "reprocess": draw(st.integers(0, 4)),
        "bias_scale": draw(st.sampled_from([None, None, 0.5, 2.0])),
    }
    return rows, label, importance, options, draw(st.integers(0, 5))


@ANY
@given(problems(), st.sampled_from([1, 1, 1, 3]))
def test_every_row_is_predicted_and_learned_as_by_the_twin(problem, pool_size):
    rows, label, importance, options, seed = problem
    options["pool_size"] = pool_size
    machine, twin = machine_of(random_seed=seed, **options), Machine(seed=seed, **options)
    raw = run(machine, rows, label, importance)
    for row, (terms, y, weight) in enumerate(zip(rows, label, importance, strict=True)):
        assert raw[row] == pytest.approx(float(twin.learn(terms, y, weight)), rel=1e-3, abs=1e-3)
    (a, slope, _, most), _ = machine.numbers()
    assert len(a) == len(twin.support)
    assert (np.abs(a) <= most).all()
    actual, expected = np.array([a, slope]), np.array([(one.a, one.slope) for one in twin.support]).reshape(-1, 2).T
    if options["kernel"] == "rbf":  # whose last digits decide between alike vectors
        actual, expected = np.sort(actual), np.sort(expected)
    else:
        assert machine.counts[1:3] == (twin.evaluations, twin.queries)
    np.testing.assert_allclose(actual, expected, rtol=1e-2, atol=1e-2)
    assert machine.chance == twin.chance.state


@ANY
@given(problems(kernels=("linear", "poly"), most=20), st.integers(2, 3))
def test_later_passes_go_on_with_the_examples_that_are_support_vectors(problem, passes):
    rows, label, importance, options, seed = problem
    machine, twin = machine_of(random_seed=seed, **options), Machine(seed=seed, **options)
    for again in (False, True, True)[:passes]:
        raw = run(machine, rows, label, importance, again)
        for row, (terms, y, weight) in enumerate(zip(rows, label, importance, strict=True)):
            assert raw[row] == pytest.approx(float(twin.learn(terms, y, weight, row, again)), rel=2e-3, abs=2e-3)
    origin = machine.numbers()[1]
    assert origin.tolist() == [one.origin for one in twin.support] and len(set(origin.tolist())) == len(origin)


@ANY
@given(problems(most=20), st.integers(1, 4))
def test_over_the_budget_a_vector_is_merged_with_its_nearest(problem, budget):
    rows, label, importance, options, seed = problem
    options["reprocess"] = 0  # of alike vectors another might be taken
    machine, twin = machine_of(random_seed=seed, budget=budget, **options), Machine(seed=seed, budget=budget, **options)
    merged = False
    for terms, y, weight in zip(rows, label, importance, strict=True):
        before = machine.counts[3]
        raw = run(machine, [terms], [y], [weight])
        told = float(twin.learn(terms, y, weight))
        merged = merged or machine.counts[3] > before
        if not merged:
            assert raw[0] == pytest.approx(told, rel=1e-3, abs=1e-3)
        assert machine.support <= budget


def test_a_merger_is_the_best_of_all_between_two_vectors():
    rows, label = [{0: 1.0}, {0: 0.5, 1: 0.5}], [1.0, 1.0]
    for kernel, bandwidth in (("rbf", 0.3), ("linear", 1.0), ("poly", 1.0)):
        machine = machine_of(kernel=kernel, bandwidth=bandwidth, budget=1, reprocess=0)
        twin = Machine(kernel, bandwidth=bandwidth, budget=1, reprocess=0)
        run(machine, rows, label)
        for terms, y in zip(rows, label, strict=True):
            twin.learn(terms, y)
        (a, slope, _, most), origin = machine.numbers()
        _, _, values = machine.vectors()
        assert machine.counts[3] == 1 and origin.tolist() == [-1] and most.tolist() == [2.0]
        assert a[0] == pytest.approx(float(twin.support[0].a), rel=1e-4)
        assert values == pytest.approx([float(one) for one in twin.support[0].terms.values()], abs=1e-4)
        assert slope[0] == pytest.approx(float(twin.support[0].slope), abs=1e-4)


@ANY
@given(problems(most=30), st.integers(0, 3))
def test_a_small_cache_changes_nothing(problem, held):
    rows, label, importance, options, seed = problem
    machines = [machine_of(size, random_seed=seed, **options) for size in (1 << 20, held)]
    raws = [run(machine, rows, label, importance) for machine in machines]
    np.testing.assert_array_equal(*raws)
    np.testing.assert_array_equal(*(machine.numbers()[0] for machine in machines))


@ANY
@given(problems(most=30))
def test_what_is_saved_goes_on_as_if_it_had_not_ended(problem):
    rows, label, importance, options, seed = problem
    first = machine_of(random_seed=seed, **options)
    run(first, rows, label, importance)
    second = machine_of(**options)
    second.take(Csr(*first.vectors()), *first.numbers()[0])
    second.chance = first.chance
    np.testing.assert_array_equal(*(run(one, rows, label, importance) for one in (first, second)))
    np.testing.assert_array_equal(*(one.numbers()[0] for one in (first, second)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_vectors_that_come_and_go_are_renumbered(kernel):
    """Their numbers are given up, and nothing else changes."""
    rng = np.random.default_rng(2)
    rows = [{slot: float(rng.integers(1, 4)) for slot in rng.choice(8, 3, replace=False)} for _ in range(600)]
    label = [1.0 if row.get(0, 0) > row.get(1, 0) else -1.0 for row in rows]
    machine, twin = (kind(kernel=kernel, bandwidth=0.5, reprocess=2) for kind in (machine_of, Machine))
    raw = run(machine, rows, label)
    numbers = [float(twin.learn(terms, y)) for terms, y in zip(rows, label, strict=True)]
    assert machine.support < 400
    np.testing.assert_allclose(raw[:100], numbers[:100], rtol=1e-3, atol=1e-3)
    before = machine.numbers()[0]
    np.testing.assert_allclose(
        run(machine, rows, label, task=PREDICT),
        (rows_dense(rows, Csr(*machine.vectors()), kernel) @ before[0]),
        rtol=1e-3,
        atol=1e-3,
    )
    np.testing.assert_array_equal(machine.numbers()[0], before)


def rows_dense(rows, vectors, kernel):
    """float64[rows, vectors]: their kernels, by definition."""
    x = np.array([[row.get(slot, 0.0) for slot in range(8)] for row in rows])
    z = np.zeros((len(vectors), 8))
    z[vectors.owner, vectors.indices] = vectors.values
    product = x @ z.T
    distance = (x * x).sum(1)[:, None] + (z * z).sum(1) - 2 * product
    return {"linear": product, "poly": (1 + product) ** 2, "rbf": np.exp(-0.5 * distance)}[kernel]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("passes", "finished"), [(60, False), (6, True)])
def test_passes_reach_the_optimum_of_the_support_vector_machine(kernel, passes, finished):
    """No a_i could be better: those below their importance have margins of 1 or more, those above 0 of 1 or less.

    Passes that end with steps of the vectors that are there reach it sooner.
    """
    rng = np.random.default_rng(5)
    rows = [{slot: float(value) for slot, value in enumerate(rng.normal(size=6))} for _ in range(120)]
    label = [1.0 if row[0] + row[1] * row[2] + 0.3 * rng.normal() > 0 else -1.0 for row in rows]
    machine = machine_of(kernel=kernel, bandwidth=0.2, **({"l2": 0.1} if finished else {"reprocess": 3}))
    for number in range(passes):
        run(machine, rows, label, again=number > 0)
        assert not finished or machine.finish(STOP) == 0
    (a, _, y, most), origin = machine.numbers()
    margin = np.array(label) * run(machine, rows, label, task=PREDICT)
    size = np.zeros(len(rows))
    size[origin] = a * y
    assert margin[size < 1].min() > 1 - 5e-3 and margin[size > 0].max() < 1 + 5e-3
    assert 20 < len(a) < 120 and most.tolist() == [1.0] * len(a)


def test_rows_must_fit():
    machine = machine_of()
    one = np.ones(1, np.float32)
    with pytest.raises(ValueError, match="do not fit"):
        machine.run_rows(rows_of([{0: 1.0}]), one, one, np.ones(1, np.uint8), one, 0, 2, 0, False, STOP)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": np.array([0, 2, 1, 3])}, "the rows"),
        ({"indptr": np.array([1, 2, 3])}, "the rows"),
        ({"indptr": np.array([], np.int64)}, "the rows"),
        ({"indices": np.array([0, 3, 99], np.uint32)}, "the rows"),
        ({"indices": np.array([3, 0, 1], np.uint32)}, "the slots"),
        ({"indices": np.array([0, 0, 1], np.uint32)}, "the slots"),
        ({"values": np.array([1, np.nan, 1], np.float32)}, "values"),
        ({"values": np.array([1, 1], np.float32)}, "the rows"),
    ],
)
def test_damaged_rows_of_a_model_are_refused(change, message):
    arrays = {
        "indptr": np.array([0, 2, 3]),
        "indices": np.array([0, 3, 1], np.uint32),
        "values": np.ones(3, np.float32),
    }
    assert len(vectors_in(arrays, 4)) == 2
    with pytest.raises(ValueError, match=message):
        vectors_in({**arrays, **change}, 4)


def test_other_losses_are_refused():
    with pytest.raises(UsageError, match="--ksvm has --loss_function hinge, not logistic"):
        KsvmConfig(loss=LossConfig(name="logistic"))


def test_a_hardly_penalised_intercept_has_the_widest_margin():
    """Of two points a side, whose margin is that of the nearest two (the root of 5, halved)."""
    rows, label = [{0: 2.0, 1: 1.0}, {0: 3.0, 1: 2.0}, {0: -1.0, 1: 0.5}, {1: 2.0}], [1.0, 1.0, -1.0, -1.0]
    margins = []
    for scale in (None, 10.0):
        machine = machine_of(l2=0.001, reprocess=20, bias_scale=scale)
        for number in range(50):
            run(machine, rows, label, again=number > 0)
        x, y, bias = run(machine, [{0: 1.0}, {1: 1.0}, {}], [1.0] * 3, task=PREDICT)
        margins.append(1 / np.hypot(x - bias, y - bias))
    assert margins[0] < 1.115 and margins[1] == pytest.approx(np.sqrt(5) / 2, rel=1e-4)
