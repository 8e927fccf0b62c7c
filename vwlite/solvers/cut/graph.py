"""Graphs in memory: each edge once at either end, in compressed sparse rows; their spectrum; k-means in it."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np

from vwlite._native import spectral
from vwlite.data.batch import offsets
from vwlite.interrupts import raise_if_stopped
from vwlite.solvers.cut.edges import Edges
from vwlite.solvers.tall_matrices import eigenpairs, orthonormal, product, times
from vwlite.training.listener import Monitor


@dataclass(slots=True)
class Graph:
    """The symmetric matrix K of the weights, in the rows of which columns ascend; every node has an edge."""

    indptr: np.ndarray  # int64[n + 1]
    index: np.ndarray  # int32[entries]
    value: np.ndarray  # float64[entries], above 0
    degree: np.ndarray  # float64[n], sums of the rows: the diagonal of L

    def __len__(self) -> int:
        return len(self.degree)

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.indptr, self.index, self.value

    def shares(self, threads: int) -> list[tuple[int, int]]:
        """Ranges of rows with about as many entries each, one for every thread."""
        edges = np.searchsorted(self.indptr, np.linspace(0, self.indptr[-1], threads + 1)[1:-1])
        return list(pairwise([0, *edges.tolist(), len(self)]))

    def components(self) -> int:
        """The number of connected components."""
        first = np.empty(len(self), np.int32)
        spectral.components(*self.rows, first)
        return int((first == np.arange(len(self))).sum())

    def normalised(self) -> np.ndarray:
        """float64[entries]: the values of L^-1/2 K L^-1/2."""
        root = 1 / np.sqrt(self.degree)
        return self.value * np.repeat(root, np.diff(self.indptr)) * root[self.index]


@dataclass(slots=True)
class Undirected:
    """Every edge once, by ends: ``low[i] <= high[i]``."""

    low: np.ndarray  # int32[edges]
    high: np.ndarray  # int32[edges]
    weight: np.ndarray  # float64[edges]
    different: int  # edges whose weights at the two ends differ

    def connected(self, nodes: int) -> np.ndarray:
        """bool[nodes]: those that have an edge, be it one to themselves."""
        connected = np.zeros(nodes, bool)
        connected[self.low] = connected[self.high] = True
        return connected


def undirected(edges: Edges, combine: str) -> Undirected:
    """The undirected graph. Several entries between the same nodes are added at each end; the two ends' come to their
    maximum, sum or mean as ``combine`` says. Edges of weight 0 are none.
    """
    nodes = max(len(edges.names), 1)
    low, high = np.minimum(edges.tail, edges.head), np.maximum(edges.tail, edges.head)
    key = low.astype(np.uint64)  # one array, changed in place: there are many entries
    key *= np.uint64(nodes)
    key += high.astype(np.uint64)
    key *= np.uint64(2)
    key += (edges.tail > edges.head).astype(np.uint64)
    order = np.argsort(key, kind="stable")
    key, weight = key[order], edges.weight[order].astype(np.float64)
    first = firsts(key)
    key, weight = key[first], np.add.reduceat(weight, first) if len(first) else weight
    pair = key >> np.uint64(1)
    first = firsts(pair)
    both = np.diff(np.append(first, len(pair))) == 2
    one, two = weight[first], weight[np.minimum(first + 1, max(len(weight) - 1, 0))]
    together = {"max": np.maximum(one, two), "sum": one + two, "mean": (one + two) / 2}
    made = np.where(both, together[combine], one)
    positive = made > 0
    low, high = np.divmod(pair[first][positive], np.uint64(nodes))
    different = int((both & (one != two)).sum())
    return Undirected(low.astype(np.int32), high.astype(np.int32), made[positive], different)


def firsts(sorted_keys: np.ndarray) -> np.ndarray:
    """int64[n]: the places at which another key begins."""
    new = np.ones(len(sorted_keys), bool)
    new[1:] = sorted_keys[1:] != sorted_keys[:-1]
    return np.flatnonzero(new)


def graph_of(edges: Undirected, connected: np.ndarray) -> Graph:
    """The graph of the nodes that are ``connected``, bool[nodes], renumbered in their order."""
    number = np.cumsum(connected, dtype=np.int32) - np.int32(1)
    low, high = number[edges.low], number[edges.high]
    nodes = int(connected.sum())
    # As edges ascend by low and high, a node's come in the order of its neighbours: first where it is the high end.
    other = low != high
    once = np.repeat(np.arange(len(low)), 1 + other)
    second = np.zeros(len(once), bool)
    second[1:] = once[1:] == once[:-1]
    rows, columns = np.where(second, low[once], high[once]), np.where(second, high[once], low[once])
    order = np.argsort(rows, kind="stable")
    rows, columns, value = rows[order], columns[order], edges.weight[once[order]]
    indptr = offsets(np.bincount(rows, minlength=nodes))
    return Graph(indptr, columns.astype(np.int32), value, np.bincount(rows, value, nodes))


WHOLE = 500  # nodes of the largest graphs that are decomposed as they are
GUARDS = 5  # columns beside those asked for
STRETCH = 1e5  # the most that a filter strengthens one vector against another; beyond, these lose their digits
SETTLED = 1e-6  # length of S q - value q of an eigenvector q that is good enough
LOWEST = -0.9  # end of the range that is damped, where nearly all eigenvalues lie below


class Spectrum(NamedTuple):
    """``values`` float64[count] descending, ``vectors`` float64[n, count]; ``error``: of S q - value q, length."""

    values: np.ndarray
    vectors: np.ndarray
    error: float
    products: int


class Products:
    """Products of the graph's normalised matrix S with tall matrices, by rows that threads share out."""

    def __init__(self, graph: Graph, threads: int, monitor: Monitor) -> None:
        self.rows = graph.indptr, graph.index, graph.normalised()
        self.shares = graph.shares(threads)
        self.pool = ThreadPoolExecutor(threads)
        self.done, self.monitor = 0, monitor

    def step(self, x: np.ndarray, y: np.ndarray, product: float, same: float, before: float) -> None:
        """``y = product * S x + same * x + before * y``, float64[n, columns]. Raises Interrupted."""
        step = *self.rows, x, y, product, same, before
        work = [self.pool.submit(spectral.multiply, *step, *share) for share in self.shares]
        for one in work:
            one.result()
        self.done += 1
        self.monitor.step(self.done)
        raise_if_stopped()

    def of(self, x: np.ndarray) -> np.ndarray:
        y = np.zeros_like(x)
        self.step(x, y, 1, 0, 0)
        return y

    def filtered(self, x: np.ndarray, degree: int, upper: float) -> np.ndarray:
        """T(S) x, T Chebyshev's polynomial of this degree, at most 1 on [-1, upper] and growing fastest beyond."""
        half, middle = (upper + 1) / 2, (upper - 1) / 2
        y = np.zeros_like(x)
        self.step(x, y, 1 / half, -middle / half, 0)
        for _ in range(degree - 1):
            self.step(y, x, 2 / half, -2 * middle / half, -1)
            x, y = y, x
        return y


def spectrum(graph: Graph, count: int, monitor: Monitor, threads: int = 1, seed: int = 0, most: int = 1000) -> Spectrum:
    """The ``count`` largest eigenvalues but the first, which is 1 with the eigenvector L^1/2 1.

    ``count`` is below the number of nodes. By iterations of a subspace that are filtered by Chebyshev's polynomials
    (Zhou, Saad, Tiago, Chelikowsky, Journal of Computational Physics 219, 2006): no eigenvalue is below -1. ``most``
    products are made, which the monitor counts. A vector's entry of largest size is positive. The same bytes for
    any number of threads.
    """
    first = np.sqrt(graph.degree / graph.degree.sum())[:, None]
    if len(graph) <= WHOLE:
        eigenpairs = whole(graph, first, count)
    else:
        products = Products(graph, threads, monitor)
        with products.pool:
            eigenpairs = iterate(products, start(first, count, seed), first, count, most)
    strongest = eigenpairs.vectors[np.abs(eigenpairs.vectors).argmax(axis=0), np.arange(count)]
    return eigenpairs._replace(vectors=eigenpairs.vectors * np.where(strongest < 0, -1, 1))


def whole(graph: Graph, known: np.ndarray, count: int) -> Spectrum:
    matrix = np.zeros((len(graph), len(graph)))
    matrix[np.repeat(np.arange(len(graph)), np.diff(graph.indptr)), graph.index] = graph.normalised()
    values, vectors = eigenpairs(matrix - 3 * known @ known.T)  # which is moved below all others
    return Spectrum(values[::-1][:count].copy(), vectors[:, ::-1][:, :count].copy(), 0.0, 0)


def start(known: np.ndarray, count: int, seed: int) -> np.ndarray:
    signs = np.empty((len(known), count + GUARDS), np.float32)
    spectral.random_signs(np.arange(len(known), dtype=np.uint32), seed, signs)
    return signs.astype(np.float64)


def iterate(products: Products, x: np.ndarray, known: np.ndarray, count: int, most: int) -> Spectrum:
    x = beside(x, known)
    while True:
        image = products.of(x)
        values, turn = eigenpairs(product(x, image))
        values, turn = values[::-1], np.ascontiguousarray(turn[:, ::-1])
        x, image = times(x, turn), times(image, turn)
        image -= x * values
        error = float(np.sqrt(np.einsum("ij,ij->j", image, image)[:count]).max())
        if error <= SETTLED or products.done + 2 > most:
            return Spectrum(values[:count], np.ascontiguousarray(x[:, :count]), error, products.done)
        upper = max(float(values[-1]), LOWEST)
        degree = min(degree_of(upper), most - products.done - 1)
        x = beside(products.filtered(x, degree, upper), known)


def degree_of(upper: float) -> int:
    """The highest degree that strengthens the eigenvalue 1 no more than ``STRETCH`` times."""
    growth = math.acosh(1 + 2 * max(1 - upper, 1e-12) / (upper + 1))
    return max(int(math.acosh(STRETCH) / growth), 1)


def beside(x: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Orthonormal columns, orthogonal to the ``known`` ones, in place of ``x``."""
    for _ in range(2):
        x -= known @ product(known, x)
        x = orthonormal(x)[0]
    return x


MOST = 100  # rounds


def kmeans(x: np.ndarray, weight: np.ndarray, clusters: int, draw: Random) -> np.ndarray:
    """int32[n]: the nearest of ``clusters`` means of each row of ``x``, float64[n, d]; every cluster has rows.

    Rows count ``weight``, float64[n], above 0. The means begin at rows that are drawn by their distances from those
    before (k-means++; Arthur and Vassilvitskii, SODA 2007); then rows and means change in turn (Lloyd).
    """
    squares = np.einsum("ij,ij->i", x, x)
    means, cluster = start_vectors(x, squares, weight, clusters, draw), np.full(len(x), -1)
    for _ in range(MOST):
        distance = distances(x, squares, means)
        changed = distance.argmin(axis=1)
        fill(changed, distance[np.arange(len(x)), changed], clusters)
        if (changed == cluster).all():
            break
        cluster = changed
        total = np.bincount(cluster, weight, clusters)
        means = np.stack([np.bincount(cluster, weight * column, clusters) / total for column in x.T], axis=1)
    return cluster.astype(np.int32)


def distances(x: np.ndarray, squares: np.ndarray, means: np.ndarray) -> np.ndarray:
    """float64[n, means]: squared distances."""
    return squares[:, None] - 2 * x @ means.T + np.einsum("ij,ij->i", means, means)


def start_vectors(x: np.ndarray, squares: np.ndarray, weight: np.ndarray, clusters: int, draw: Random) -> np.ndarray:
    chosen, nearest = [draw_row(weight, draw)], np.full(len(x), np.inf)
    for _ in range(clusters - 1):
        nearest = np.minimum(nearest, np.maximum(distances(x, squares, x[chosen[-1:]])[:, 0], 0))
        chosen.append(draw_row(weight * nearest, draw))
    return x[chosen]


def draw_row(chances: np.ndarray, draw: Random) -> int:
    """A row by its share of the chances; any where all are 0."""
    ends = np.cumsum(chances)
    if not ends[-1] > 0:
        return int(draw.random() * len(chances))
    return min(int(np.searchsorted(ends, draw.random() * ends[-1], side="right")), len(chances) - 1)


def fill(cluster: np.ndarray, distance: np.ndarray, clusters: int) -> None:
    """Give each cluster without rows the row that is farthest from its mean, unless that mean has no other."""
    sizes = np.bincount(cluster, minlength=clusters)
    for empty in np.flatnonzero(sizes == 0).tolist():
        row = int(np.where(sizes[cluster] > 1, distance, -np.inf).argmax())
        sizes[[cluster[row], empty]] += (-1, 1)
        cluster[row] = empty
