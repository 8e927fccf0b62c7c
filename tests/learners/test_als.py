"""``--als``: steps and objective beside whole matrices, and what it converges to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import als as oracle

from vwlite._native import als as kernel
from vwlite.interrupts import STOP
from vwlite.learners.configs.lrq import AlsConfig
from vwlite.learners.lrq import STEPS, Factors

EXAMPLES = st.lists(
    st.tuples(
        st.integers(0, 6), st.integers(0, 4), st.sampled_from([0.25, 1.0, 3.0]), st.sampled_from([1.0, -1.0, 0.5])
    ),
    min_size=1,
    max_size=40,
)
DECAYS = (0.05, 0.02)


def numbered(examples):
    """The same with ids from 0 on, all of which occur."""
    known = [sorted({one[side] for one in examples}) for side in range(2)]
    return [(known[0].index(a), known[1].index(b), weight, label) for a, b, weight, label in examples]


def factors_of(examples, rank, **options):
    people, items, weight, label = zip(*examples, strict=True)
    start = np.random.default_rng(3).normal(size=(1 + max(items), rank)).astype(np.float32)
    numbers = [np.array(one, np.uint32) for one in (people, items)]
    config = AlsConfig(pairs=1, rank=rank, **options)
    return Factors(numbers, np.array(weight, float), np.array(label, float), start, config, DECAYS)


def ridges_of(weight, unobserved, counts):
    others = weight.shape[::-1]
    return [DECAYS[side] * (counts[side] + unobserved * others[side]) for side in range(2)]


@settings(max_examples=30, deadline=None)
@given(EXAMPLES, st.integers(1, 6), st.sampled_from([0.01, 0.3, 2.0]))
def test_steps_and_objective_are_those_of_whole_matrices(examples, rank, unobserved):
    examples = numbered(examples)
    factors = factors_of(examples, rank, unobserved=unobserved)
    weight, target = oracle.matrices(examples, unobserved)
    counts = [np.zeros(size) for size in weight.shape]
    for *ids, importance, _ in examples:
        for side in range(2):
            counts[side][ids[side]] += importance
    ridges = ridges_of(weight, unobserved, counts)
    before = np.inf
    for _ in range(3):
        for side in range(2):
            other = factors.vectors[1 - side][:, :rank].copy()
            expected = factors.vectors[side][:, :rank].copy()
            whole = (weight, target) if side == 0 else (weight.T, target.T)
            for row, (c, t) in enumerate(zip(*whole, strict=True)):
                matrix = (other.T * c) @ other + ridges[side][row] * np.eye(rank)
                expected[row] = oracle.conjugate_gradients(matrix, (other.T * c) @ t, expected[row], STEPS)
            factors.improve(side)
            assert factors.vectors[side][:, :rank] == pytest.approx(expected, rel=1e-6, abs=1e-8)
            assert not factors.vectors[side][:, rank:].any()
        now = factors.objective()
        vectors = [one[:, :rank] for one in factors.vectors]
        assert now == pytest.approx(oracle.objective(examples, vectors, ridges, unobserved), rel=1e-9)
        assert now <= before * (1 + 1e-12)
        before = now


def test_it_converges_to_alternating_least_squares():
    draw = np.random.default_rng(1)
    examples = numbered([(int(draw.integers(30)), int(draw.integers(20)), 1.0, 1.0) for _ in range(200)])
    factors = factors_of(examples, 3)
    weight, target = oracle.matrices(examples, 0.3)
    ridges = ridges_of(weight, 0.3, [np.bincount([one[side] for one in examples]) for side in range(2)])
    for _ in range(300):
        for side in range(2):
            factors.improve(side)
    people, items = (one[:, :3] for one in factors.vectors)
    assert people == pytest.approx(oracle.best_vectors(weight, target, items, ridges[0]), abs=1e-6)
    assert items == pytest.approx(oracle.best_vectors(weight.T, target.T, people, ridges[1]), abs=1e-6)


@pytest.mark.parametrize("spoiled", ["column", "gram", "width"])
def test_the_kernel_refuses_arrays_that_do_not_belong_together(spoiled):
    factors = factors_of([(0, 0, 1.0, 1.0), (1, 1, 1.0, 1.0)], 4)
    entries, own, gram = factors.entries[0], factors.vectors[0], factors.grams[1]
    if spoiled == "column":
        entries = entries._replace(column=np.array([0, 2], np.uint32))
    elif spoiled == "gram":
        gram = np.zeros((4, 8))
    else:
        own = np.zeros((2, 8))
    with pytest.raises((ValueError, IndexError)):
        kernel.solve(entries, factors.vectors[1], gram, factors.ridges[0], own, STEPS, STOP)
