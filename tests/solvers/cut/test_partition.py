"""Normalised cuts of partitions, and the alternation that lowers them."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest
from graph_case import blocks, entries, graph_from
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.cut import cost, distances, matrix_of

from vwlite.solvers.cut.find import ENOUGH, Alternation, keep_filled, partition_of
from vwlite.solvers.cut.graph import kmeans


def dense(graph):
    edges = zip(np.repeat(np.arange(len(graph)), np.diff(graph.indptr)).tolist(), graph.index.tolist(), strict=True)
    return matrix_of(dict(zip(edges, graph.value.tolist(), strict=True)), len(graph))


@st.composite
def states(draw):
    """A graph and a partition of its nodes, some clusters of which may be empty."""
    result = draw(entries)
    assume(any(weight for _, _, weight in result))
    graph = graph_from(*zip(*result, strict=True), nodes=10)
    clusters = draw(st.integers(2, 4))
    numbers = st.integers(0, clusters - 1)
    cluster = draw(st.lists(numbers, min_size=len(graph), max_size=len(graph)))
    return graph, np.array(cluster, np.int32), clusters


@given(states())
def test_the_cost_is_cut_over_volume(state):
    graph, cluster, clusters = state
    assert partition_of(graph, cluster, clusters).cost == pytest.approx(cost(dense(graph), cluster.tolist(), clusters))


@given(states(), st.sampled_from([0.0, 0.3, 1.0]), st.integers(1, 3))
def test_a_step_takes_the_nearest_centres(state, shift, threads):
    graph, cluster, clusters = state
    with ThreadPoolExecutor(threads) as pool:
        actual = Alternation(graph, shift, threads).step(partition_of(graph, cluster, clusters), shift, pool)
    for own, taken, distance in zip(cluster, actual, distances(dense(graph), cluster.tolist(), shift), strict=True):
        nearest = min(distance.values())
        if taken == own:  # which may be its cluster's last
            assert distance[own] < nearest + 1e-9 or (actual == own).sum() == 1
        else:
            assert distance[taken] < nearest + 1e-9
    assert {*actual.tolist()} == {*cluster.tolist()}


@given(states())
def test_a_step_never_raises_the_cost_of_a_semidefinite_matrix(state):
    graph, cluster, clusters = state
    before = partition_of(graph, cluster, clusters)
    with ThreadPoolExecutor(1) as pool:
        after = Alternation(graph).step(before, ENOUGH, pool)
    assert partition_of(graph, after, clusters).cost <= before.cost + 1e-9


@given(states(), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_alternation_never_raises_the_cost(state, shift):
    graph, cluster, clusters = state
    before = partition_of(graph, cluster, clusters)
    after = Alternation(graph, shift).lowest(before)
    assert after.cost <= before.cost
    assert after.cost == partition_of(graph, after.cluster, clusters).cost
    assert {*after.cluster.tolist()} == {*cluster.tolist()}
    assert Alternation(graph, shift).lowest(after).cost == after.cost


def test_it_finds_blocks_from_a_random_partition():
    """With shift 0, where it moves more nodes; K has negative eigenvalues."""
    draw = np.random.default_rng(0)
    graph = graph_from(*blocks(draw, 400, 2, 8000, 0.9))
    random = partition_of(graph, draw.integers(0, 2, 400).astype(np.int32), 2)
    true = partition_of(graph, (np.arange(400) % 2).astype(np.int32), 2)
    assert Alternation(graph).lowest(random).cost == pytest.approx(true.cost) and true.cost < random.cost / 3


def test_a_cluster_keeps_the_node_that_is_farthest_elsewhere():
    before, after = np.array([0, 0, 1, 1], np.int32), np.zeros(4, np.int32)
    assert keep_filled(before, after, np.array([0.0, 9, 2, 3]), 3).tolist() == [0, 0, 0, 1]


@given(st.integers(1, 6), st.integers(0, 99))
def test_every_mean_of_k_means_has_points(clusters, seed):
    points = np.array([[0.0], [0], [1], [1], [1], [5]])
    actual = kmeans(points, np.ones(6), clusters, Random(seed))
    assert {*actual.tolist()} == {*range(clusters)}
    if clusters == 3:
        assert {frozenset(np.flatnonzero(actual == j).tolist()) for j in range(3)} == {
            frozenset({0, 1}),
            frozenset({2, 3, 4}),
            frozenset({5}),
        }


@given(st.integers(0, 99))
def test_k_means_ends_where_neither_rows_nor_means_change(seed):
    draw = np.random.default_rng(seed)
    points, weight = draw.normal(size=(40, 3)), draw.random(40) + 0.1
    actual = kmeans(points, weight, 4, Random(seed))
    means = np.stack([np.average(points[actual == j], axis=0, weights=weight[actual == j]) for j in range(4)])
    assert (((points[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) == actual).all()
