"""Eigenvectors of normalised graphs against whole decompositions."""

import numpy as np
import pytest
from graph_case import blocks, graph_from

from vwlite.solvers.cut import graph as module
from vwlite.solvers.cut.graph import Products, iterated, spectrum, start
from vwlite.training.listener import Monitor


def some_graph(nodes=900, seed=0):
    draw = np.random.default_rng(seed)
    tail, head = blocks(draw, nodes, 4, 12 * nodes, 0.8)
    return graph_from(tail, head, draw.random(len(tail)) + 0.1)


def dense(graph):
    matrix = np.zeros((len(graph), len(graph)))
    matrix[np.repeat(np.arange(len(graph)), np.diff(graph.indptr)), graph.index] = graph.normalised()
    return matrix


def test_the_first_eigenvector_is_the_root_of_the_degrees_with_eigenvalue_one():
    graph = some_graph()
    products = Products(graph, 1, Monitor())
    nothing = np.zeros((len(graph), 0))
    with products.pool:
        found = iterated(products, start(nothing, 3, seed=1), nothing, 3, 1000)
    first = found.vectors[:, 0] * np.sign(found.vectors[0, 0])
    root = np.sqrt(graph.degree / graph.degree.sum())
    assert found.values[0] == pytest.approx(1, abs=1e-6)
    assert np.abs(first - root).max() < 1e-6 * root.max()


@pytest.mark.parametrize("nodes", [300, 900])
def test_the_others_are_those_of_the_whole_decomposition(nodes, monkeypatch):
    """Small graphs are decomposed whole, larger ones iterated."""
    graph = some_graph(nodes)
    values, vectors = np.linalg.eigh(dense(graph))
    found = spectrum(graph, 3, Monitor())
    assert (found.products > 0) == (nodes > module.WHOLE) and found.error <= 1e-6
    assert found.values == pytest.approx(values[::-1][1:4], abs=1e-9)
    angles = np.linalg.svd(vectors[:, ::-1][:, 1:4].T @ found.vectors)[1]
    assert angles == pytest.approx(np.ones(3), abs=1e-8)
    assert np.abs(found.vectors.T @ found.vectors - np.eye(3)).max() < 1e-12
    assert np.abs(found.vectors.T @ np.sqrt(graph.degree)).max() < 1e-9
    assert (found.vectors[np.abs(found.vectors).argmax(axis=0), range(3)] > 0).all()


def test_a_ring_whose_eigenvalues_lie_close():
    """They are cosines, each but the first twice (Chung, Spectral Graph Theory, 1997)."""
    nodes = 700
    around = np.arange(nodes)
    found = spectrum(graph_from(around, (around + 1) % nodes), 4, Monitor(), most=100_000)
    assert found.values == pytest.approx(np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / nodes), abs=1e-9)


def test_components_have_eigenvalues_of_one():
    draw = np.random.default_rng(3)
    parts = [np.array(blocks(draw, 300, 1, 3000, 0)) + 300 * part for part in range(3)]
    found = spectrum(graph_from(*np.concatenate(parts, axis=1)), 4, Monitor())
    assert found.values[:2] == pytest.approx([1, 1], abs=1e-9) and found.values[2] < 0.9


def test_a_graph_with_two_sides_and_a_complete_one():
    """Eigenvalues of -1, and of -1/(n-1) but for the first."""
    sides = np.arange(600)
    tail, head = np.repeat(sides[:300], 300), np.tile(sides[300:], 300)
    assert spectrum(graph_from(tail, head), 2, Monitor()).values == pytest.approx([0, 0], abs=1e-6)
    tail, head = np.triu_indices(600, 1)
    assert spectrum(graph_from(tail, head), 2, Monitor()).values == pytest.approx([-1 / 599] * 2, abs=1e-6)


def test_it_stops_at_so_many_products_and_says_how_far_it_is():
    around = np.arange(5000)
    found = spectrum(graph_from(around, (around + 1) % 5000), 2, Monitor(), most=30)
    assert found.products == 30 and found.error > 1e-6


def test_bytes_do_not_depend_on_threads():
    graph = some_graph()
    one, many = spectrum(graph, 3, Monitor(), threads=1), spectrum(graph, 3, Monitor(), threads=5)
    assert one.vectors.tobytes() == many.vectors.tobytes() and one.values.tobytes() == many.values.tobytes()
    assert spectrum(graph, 3, Monitor(), seed=1).vectors.tobytes() != one.vectors.tobytes()
