"""Partitions of a graph's nodes: their normalised cut, and the alternation that lowers it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from vwlite._native import graph_cut
from vwlite.interrupts import obey
from vwlite.solvers.cut.graph import Graph

LEAST_GAIN = 1e-12  # of a step, below which the cost is the same but for rounding
ENOUGH = 1.0  # a shift with which K is positive semidefinite, whatever the graph


@dataclass(slots=True)
class Partition:
    """``cluster`` int32[n]. Of each cluster its ``volume``, the degrees of its nodes, and the weight ``inside`` it of
    edges, each counted at both ends, float64[k].
    """

    cluster: np.ndarray
    volume: np.ndarray
    inside: np.ndarray

    @property
    def cost(self) -> float:
        """k - tr((Y'LY)^-1 Y'KY), the sum of cut over volume of the clusters; an empty one costs 1."""
        filled = self.volume > 0
        return float(len(self.volume) - (self.inside[filled] / self.volume[filled]).sum())


def partition_of(graph: Graph, cluster: np.ndarray, clusters: int) -> Partition:
    within = np.empty(len(graph))
    graph_cut.inside(*graph.rows, cluster, within)
    volume = np.bincount(cluster, graph.degree, clusters)
    return Partition(cluster, volume, np.bincount(cluster, within, clusters))


class Alternation:
    """Moves every node to the nearest centre, as weighted kernel k-means does, until none is nearer than its own.

    The centres are the clusters' means with the kernel L^-1 (K + shift L) L^-1 and the degrees as weights (Dhillon,
    Guan, Kulis, KDD 2004). That never raises the cost if K + shift L is positive semidefinite, as it is from shift 1
    on; a step with less that would raise it is made again with more.
    """

    def __init__(self, graph: Graph, shift: float = 0.0, threads: int = 1) -> None:
        self.graph, self.shift, self.shares = graph, shift, graph.shares(threads)

    def lowest(self, found: Partition) -> Partition:
        """What the partition becomes. Raises Interrupted."""
        shift = self.shift
        with ThreadPoolExecutor(len(self.shares)) as pool:
            while True:
                cluster = self.step(found, shift, pool)
                obey()
                changed = partition_of(self.graph, cluster, len(found.volume))
                if changed.cost < found.cost - LEAST_GAIN:
                    found, shift = changed, self.shift
                elif shift >= ENOUGH or not (cluster != found.cluster).any():
                    return found
                else:
                    shift = min(2 * shift + ENOUGH / 8, ENOUGH)

    def step(self, found: Partition, shift: float, pool: ThreadPoolExecutor) -> np.ndarray:
        """int32[n]: the nearest cluster of every node; each keeps one node at least."""
        volume = found.volume
        filled = np.where(volume > 0, volume, 1)
        square = found.inside / filled**2 + shift / filled
        cluster, distance = np.empty_like(found.cluster), np.empty(len(self.graph))
        state = *self.graph.rows, self.graph.degree, found.cluster, square, volume, shift
        work = [
            pool.submit(graph_cut.nearest, *state, np.zeros(len(volume)), cluster, distance, *share)
            for share in self.shares
        ]
        for one in work:
            one.result()
        return keep_filled(found.cluster, cluster, distance, len(volume))


def keep_filled(before: np.ndarray, cluster: np.ndarray, distance: np.ndarray, clusters: int) -> np.ndarray:
    """``cluster``, where no cluster that had nodes loses all of them: the farthest of these stays."""
    had = np.bincount(before, minlength=clusters) > 0
    while (lost := np.flatnonzero(had & (np.bincount(cluster, minlength=clusters) == 0))).size:
        for one in lost.tolist():
            nodes = np.flatnonzero(before == one)
            cluster[nodes[distance[nodes].argmax()]] = one
    return cluster
