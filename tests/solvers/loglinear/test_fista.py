"""FISTA finds the minimum, of single weights and of rows, and knows how near it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import chain_part, text_of, twins
from oracle import proximal as oracle

from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.minimisers import Fista, OwlQn, Rows, Sizes, Smooth, norm_of, rows_of

ROW = np.array([0, 0, 1, 2, 2, 2])
NORMS = {"sizes": Sizes(), "rows": Rows(ROW)}
VECTOR = st.lists(st.floats(-3, 3), min_size=len(ROW), max_size=len(ROW)).map(np.array)


def minimise(smooth, start, norm, penalty, tolerance=1e-9, iterations=5000):
    solver = Fista(smooth, start, norm, penalty, tolerance)
    for _ in range(iterations):
        if not solver.iterate():
            break
    return solver


def squares(centre, scale):
    return Smooth(
        lambda w: float(scale @ (w - centre) ** 2) / 2,
        lambda w: (float(scale @ (w - centre) ** 2) / 2, scale * (w - centre)),
    )


def likelihood(part):
    def gradient(w):
        slopes = np.zeros_like(w)
        return -part.problem.likelihood(w, part.rows, slopes), -slopes

    return Smooth(lambda w: -part.value(w), gradient)


@given(v=VECTOR, by=st.floats(0, 2), other=VECTOR)
@pytest.mark.parametrize("name", NORMS)
def test_a_shrunk_vector_is_the_nearest_of_its_norm(name, v, by, other):
    norm = NORMS[name]

    def cost(w):
        return float((w - v) @ (w - v)) / 2 + by * norm.value(w)

    actual = norm.shrunk(v, by)
    assert cost(actual) <= cost(other) + 1e-9 and cost(actual) <= cost(actual + other / 1000) + 1e-9
    assert float(v @ other) <= norm.dual(v) * norm.value(other) + 1e-9


@given(v=VECTOR, by=st.floats(0, 2))
def test_rows_are_shrunk_as_the_twin_does(v, by):
    rows = [np.flatnonzero(row == ROW).tolist() for row in range(3)]
    np.testing.assert_allclose(Rows(ROW).shrunk(v, by), oracle.shrunk(rows, v, by), atol=1e-12)
    np.testing.assert_allclose(Rows(ROW).lengths(v), oracle.lengths(rows, v), atol=1e-12)


@given(centre=VECTOR, scale=st.floats(0.1, 30), penalty=st.floats(0.1, 3))
@pytest.mark.parametrize("name", NORMS)
def test_a_round_bowl_ends_at_its_shrunk_centre(name, centre, scale, penalty):
    norm = NORMS[name]
    actual = minimise(squares(centre, np.full(len(centre), scale)), np.zeros(len(centre)), norm, penalty).weights
    np.testing.assert_allclose(actual, norm.shrunk(centre, penalty / scale), atol=1e-3)


@given(centre=VECTOR, scale=VECTOR.map(lambda v: np.abs(v) + 0.01), penalty=st.floats(0.1, 3))
@pytest.mark.parametrize("name", NORMS)
@settings(max_examples=20)
def test_the_optimum_is_not_below_the_bound(name, centre, scale, penalty):
    norm, smooth = NORMS[name], squares(centre, scale)
    solver = Fista(smooth, np.zeros(len(centre)), norm, penalty, 1e-12)
    bounds, values = [], [solver.value]
    while solver.iterate() and len(values) < 300:
        bounds.append(solver.bound)
        values.append(solver.value)
    assert max(bounds, default=0) <= min(values) + 1e-7


@pytest.mark.parametrize(("model", "edge"), [("multinomial", ()), ("crf", ("e",))])
def test_the_twin_finds_the_same_minimum(model, edge):
    corpus = [[("X", ["a", "b"], "p"), ("Y", ["b"], "q")], [("Z", ["c"], "p"), ("X", ["a"], "p"), ("Y", ["d"], "q")]]
    part = chain_part(text_of(corpus, bool(edge)), model, edge, dense=True)
    rows = oracle.rows_by(rows_of(part.problem.pairs))
    chains = twins(part.problem)

    def gradient(w):
        return -sum(part.problem.weight[row] * chains[row].gradient(w) for row in part.rows)

    penalty, start = 0.3, np.zeros(part.problem.weights)
    expected = oracle.minimise(gradient, start, 3.0, 2500, lambda v, by: oracle.shrunk(rows, v, penalty * by))
    norm = norm_of(L1Config(model=model, edge=edge, solver="fista", group=True), part.problem)
    actual = minimise(likelihood(part), start, norm, penalty, 1e-7)
    np.testing.assert_allclose(actual.weights, expected, atol=0.02)
    value = -sum(part.problem.weight[row] * chains[row].log_likelihood(expected) for row in part.rows)
    assert actual.value == pytest.approx(value + penalty * sum(oracle.lengths(rows, expected)), rel=1e-6)
    lengths = np.array(oracle.lengths(rows, actual.weights))
    assert 0 < np.count_nonzero(lengths) < len(rows)
    vanished = {row for row, length in enumerate(lengths) if not length}
    assert all((actual.weights[rows[row]] != 0).any() for row in range(len(rows)) if row not in vanished)


def test_single_weights_have_the_optimum_of_owlqn():
    rng = np.random.default_rng(5)
    words = ["".join(rng.choice(list("abcdefgh"), 2)) for _ in range(60)]
    part = chain_part("".join(f"{'XYZ'[word < 'd']} |w {word[0]} {word}\n" for word in words), "multinomial")
    smooth, start = likelihood(part), np.zeros(part.problem.weights)
    other = OwlQn(smooth.gradient, start, 0.5, 1e-10)
    while other.iterate():
        pass
    assert minimise(smooth, start, Sizes(), 0.5, 1e-7).value == pytest.approx(other.value, rel=1e-6)


def test_a_great_penalty_leaves_nothing_at_once():
    part = chain_part("X |w a\nY |w b\n" * 5, "multinomial")
    solver = minimise(likelihood(part), np.zeros(part.problem.weights), Rows(rows_of(part.problem.pairs)), 1000.0)
    assert not solver.weights.any() and solver.bound == pytest.approx(solver.value)
