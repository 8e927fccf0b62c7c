"""The largest eigenvalues and eigenvectors of a graph's normalised matrix L^-1/2 K L^-1/2."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from vwlite._native import graph_cut
from vwlite._native.range_finder import random_signs
from vwlite.interrupts import raise_if_stopped
from vwlite.solvers.cut.graph import Graph
from vwlite.solvers.tall_matrices import eigenpairs, orthonormal, product, times
from vwlite.training.monitor import Monitor

WHOLE = 500  # graphs of at most so many nodes are decomposed as they are
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
        work = [self.pool.submit(graph_cut.multiply, *step, *share) for share in self.shares]
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
    products are made, of which the monitor is told. A vector's entry of largest size is positive. The same bytes for
    any number of threads.
    """
    first = np.sqrt(graph.degree / graph.degree.sum())[:, None]
    if len(graph) <= WHOLE:
        found = whole(graph, first, count)
    else:
        products = Products(graph, threads, monitor)
        with products.pool:
            found = iterated(products, start(first, count, seed), first, count, most)
    strongest = found.vectors[np.abs(found.vectors).argmax(axis=0), np.arange(count)]
    return found._replace(vectors=found.vectors * np.where(strongest < 0, -1, 1))


def whole(graph: Graph, known: np.ndarray, count: int) -> Spectrum:
    matrix = np.zeros((len(graph), len(graph)))
    matrix[np.repeat(np.arange(len(graph)), np.diff(graph.indptr)), graph.index] = graph.normalised()
    values, vectors = eigenpairs(matrix - 3 * known @ known.T)  # which is moved below all others
    return Spectrum(values[::-1][:count].copy(), vectors[:, ::-1][:, :count].copy(), 0.0, 0)


def start(known: np.ndarray, count: int, seed: int) -> np.ndarray:
    signs = np.empty((len(known), count + GUARDS), np.float32)
    random_signs(np.arange(len(known), dtype=np.uint32), seed, signs)
    return signs.astype(np.float64)


def iterated(products: Products, x: np.ndarray, known: np.ndarray, count: int, most: int) -> Spectrum:
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
