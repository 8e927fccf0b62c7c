"""Graphs for the tests of normalised cuts."""

import numpy as np
from hypothesis import strategies as st

from vwlite.solvers.cut.edges import Edges, NodeNames
from vwlite.solvers.cut.graph import graph_of, undirected


def names_of(words):
    """``(names, numbers)`` of texts."""
    names, data = NodeNames(), [word.encode() for word in words]
    ends = np.cumsum([len(word) for word in data], dtype=np.uint32)
    return names, names.numbers(b"".join(data), ends - np.array([len(word) for word in data], np.uint32), ends)


def graph_from(tail, head, weight=None, nodes=None, combine="max"):
    """Of the nodes that have an edge."""
    nodes = int(max(*tail, *head)) + 1 if nodes is None else nodes
    weight = np.ones(len(tail)) if weight is None else weight
    columns = zip((tail, head, weight), (np.int32, np.int32, np.float32), strict=True)
    names = names_of(map(str, range(nodes)))[0]
    result = undirected(Edges(names, *(np.asarray(column, kind) for column, kind in columns)), combine)
    return graph_of(result, result.connected(nodes))


def blocks(draw, nodes, clusters, edges, inside):
    """Random edges, of which the share ``inside`` is within blocks."""
    tail = draw.integers(0, nodes, edges)
    within = draw.integers(0, nodes // clusters, edges) * clusters + tail % clusters
    return tail, np.where(draw.random(edges) < inside, within, draw.integers(0, nodes, edges))


def neighbours(points, count):
    """The ``count`` nearest points of each, as tails and heads."""
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :count]
    return np.repeat(np.arange(len(points)), count), near.ravel()


def moons(draw, count, noise):
    angle = draw.random(count) * np.pi
    upper = np.arange(count) % 2 == 0
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.stack([x, y], axis=1) + noise * draw.normal(size=(count, 2))


nodes = st.integers(0, 9)
entries = st.lists(st.tuples(nodes, nodes, st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])), min_size=1, max_size=40)
