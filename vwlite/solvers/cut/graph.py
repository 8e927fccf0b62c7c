"""Graphs in memory: each edge once at either end, in compressed sparse rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vwlite._native import graph_cut
from vwlite.data.csr import offsets
from vwlite.solvers.cut.edges import Edges


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
        """How many parts it has between which there is no edge."""
        first = np.empty(len(self), np.int32)
        graph_cut.components(*self.rows, first)
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
        found = np.zeros(nodes, bool)
        found[self.low] = found[self.high] = True
        return found


def undirected(edges: Edges, combine: str) -> Undirected:
    """Of several entries between the same nodes those at one end are added; the two ends' come to their maximum, sum or
    mean as ``combine`` says. Edges of weight 0 are none.
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
    key, weight = key[first], summed(weight, first)
    pair = key >> np.uint64(1)
    first = firsts(pair)
    both = np.diff(np.append(first, len(pair))) == 2
    one, two = weight[first], weight[np.minimum(first + 1, max(len(weight) - 1, 0))]
    together = {"max": np.maximum(one, two), "sum": one + two, "mean": (one + two) / 2}
    made = np.where(both, together[combine], one)
    kept = made > 0
    low, high = np.divmod(pair[first][kept], np.uint64(nodes))
    different = int((both & (one != two)).sum())
    return Undirected(low.astype(np.int32), high.astype(np.int32), made[kept], different)


def firsts(sorted_keys: np.ndarray) -> np.ndarray:
    """int64[n]: the places at which another key begins."""
    new = np.ones(len(sorted_keys), bool)
    new[1:] = sorted_keys[1:] != sorted_keys[:-1]
    return np.flatnonzero(new)


def summed(values: np.ndarray, first: np.ndarray) -> np.ndarray:
    return np.add.reduceat(values, first) if len(first) else values


def graph_of(edges: Undirected, connected: np.ndarray) -> Graph:
    """Of the nodes that are ``connected``, bool[nodes], numbered anew in their order."""
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
