"""Normalised cuts: eigenvectors, k-means of their rows, and the alternation from there.

Of text, the graph has dot products of examples as its weights, K = X X', which is never formed. With l = X (X'1), the
degrees, kernel k-means of the cut is k-means of x_i / l_i with the weights l_i, and the eigenvectors of L^-1/2 K L^-1/2
are the left singular vectors of L^-1/2 X (Dhillon, Guan, Kulis, KDD 2004).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np

from vwlite._native import spectral, weigh_terms
from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.features.gamma import settle_gamma
from vwlite.interrupts import raise_if_stopped
from vwlite.options import check_memory
from vwlite.solvers.cut.config import CutConfig
from vwlite.solvers.cut.edges import Edges
from vwlite.solvers.cut.graph import GUARDS, SETTLED, Graph, Spectrum, graph_of, kmeans, spectrum, undirected
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.pca.train import NO_COMPONENTS, SubspaceIteration
from vwlite.solvers.row_solver import Part, RowSource, SlotRows
from vwlite.training.listener import Monitor, StepsOnly

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
    spectral.inside(*graph.rows, cluster, within)
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
                raise_if_stopped()
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
            pool.submit(spectral.nearest, *state, np.zeros(len(volume)), cluster, distance, *share)
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


PER_ENTRY = 64  # bytes, while entries are sorted
PER_EDGE = 40  # of a graph, at both ends
FEWER = "fewer edges or a smaller -k need less"


@dataclass(slots=True)
class Cut:
    """``cluster`` int32[nodes], numbered as they appear, -1 for a node without edges; ``nodes`` are of that order."""

    nodes: list[bytes]
    cluster: np.ndarray
    partition: Partition
    spectrum: Spectrum
    edges: int
    different: int
    components: int

    def facts(self) -> JsonObject:
        """What the command tells, as JSON data."""
        partition, spectrum = self.partition, self.spectrum
        filled = np.where(partition.volume > 0, partition.volume, 1)
        cut = np.maximum(partition.volume - partition.inside, 0)
        return {
            "nodes": len(self.nodes),
            "edges": self.edges,
            "different_weights": self.different,
            "without_edges": int((self.cluster < 0).sum()),
            "components": self.components,
            "normalised_cut": partition.cost,
            "clusters": [
                {"cluster": number, "nodes": size, "cut": cut_off, "volume": volume, "share_cut": share}
                for number, (size, cut_off, volume, share) in enumerate(
                    zip(
                        np.bincount(partition.cluster, minlength=len(cut)).tolist(),
                        cut.tolist(),
                        partition.volume.tolist(),
                        (cut / filled).tolist(),
                        strict=True,
                    )
                )
            ],
            "eigenvalues": [1.0, *spectrum.values.tolist()],
            "eigenvector_error": spectrum.error,
            "products": spectrum.products,
        }


def entry_check(memory: float) -> Callable[[int], None]:
    """Refuses, with UsageError, more entries than there is memory for."""
    return lambda entries: check_memory(entries * PER_ENTRY, memory, f"{entries:,} edges read so far", FEWER)


def find(edges: Edges, config: CutConfig, memory: float, threads: int, monitor: Monitor) -> Cut:
    """Raises UsageError for more clusters than nodes with edges, DataError where there is no edge, Interrupted."""
    nodes, undirected_graph = edges.names.all(), undirected(edges, config.combine)
    connected = undirected_graph.connected(len(nodes))
    graph = graph_of(undirected_graph, connected)
    alone = len(nodes) - len(graph)
    if not len(graph):
        raise DataError("there is no edge: lines are 'node |n other:weight other:weight'")
    components = graph.components()
    for sentence in notes_on(len(nodes), len(undirected_graph.low), components, alone, undirected_graph.different):
        monitor.line(sentence)
    if config.clusters > len(graph):
        raise UsageError(f"{config.clusters} clusters are more than there are nodes with edges: {len(graph)}")
    need = PER_EDGE * len(graph.index) + len(graph) * 8.0 * (3 * (config.clusters + GUARDS) + 2 * config.clusters)
    check_memory(need, memory, f"{len(graph):,} nodes, {len(undirected_graph.low):,} edges", FEWER)
    vectors = spectrum(graph, config.clusters - 1, monitor, threads, config.seed, config.products)
    if vectors.error > SETTLED:
        off = f"the eigenvectors have not settled (by {vectors.error:.2g})"
        monitor.line(f"{off}: more --products make them more exact")
    lowest = min(
        (Alternation(graph, config.shift, threads).lowest(one) for one in starts(graph, vectors, config)),
        key=lambda one: one.cost,
    )
    cluster = np.full(len(nodes), -1, np.int32)
    partition = partition_of(graph, in_order(lowest.cluster, config.clusters), config.clusters)
    cluster[connected] = partition.cluster
    monitor.line(f"normalised cut {partition.cost:.6g}")
    return Cut(nodes, cluster, partition, vectors, len(undirected_graph.low), undirected_graph.different, components)


def notes_on(nodes: int, edges: int, components: int, alone: int, different: int) -> Iterator[str]:
    if components > 1:
        yield f"the graph has {components:,} connected components, between which there is nothing to cut"
    yield f"nodes: {nodes:,}, edges: {edges:,}"
    if alone:
        yield f"nodes without edges, whose cluster is 'none': {alone:,}"
    if different:
        yield f"edges with different weights at their two ends (--combine max|sum|mean): {different:,}"


def starts(graph: Graph, found: Spectrum, config: CutConfig) -> Iterator[Partition]:
    """Start partitions by k-means of the vectors' rows over the root of the degree (Shi and Malik, PAMI 2000), and of
    their rows of length 1, the first eigenvector among them (Ng, Jordan, Weiss, NIPS 2001); none twice.
    """
    root = np.sqrt(graph.degree)[:, None]
    whole = np.hstack([root / np.linalg.norm(root), found.vectors])
    points = (
        (found.vectors / root, graph.degree),
        (whole / np.linalg.norm(whole, axis=1, keepdims=True), np.ones(len(graph))),
    )
    draw, known = Random(config.seed), set()
    for _ in range(config.restarts):
        for rows, weight in points:
            cluster = in_order(kmeans(rows, weight, config.clusters, draw), config.clusters)
            if (digest := hashlib.sha256(cluster).digest()) not in known:
                known.add(digest)
                yield partition_of(graph, cluster, config.clusters)


def in_order(cluster: np.ndarray, clusters: int) -> np.ndarray:
    """Clusters numbered as they appear, empty ones last."""
    first = np.full(clusters, len(cluster))
    used, at = np.unique(cluster, return_index=True)
    first[used] = at
    number = np.empty(clusters, np.int32)
    number[np.argsort(first, kind="stable")] = np.arange(clusters, dtype=np.int32)
    return number[cluster]


VECTORS = 50  # or as many as clusters
PASSES = 5
STARTS = 5  # of k-means of as many vectors
PER_NUMBER = 16  # bytes of an example's entry of a vector, and of what k-means makes of it


class DegreeRows(RowSource):
    """Rows over their degrees, which their weights are multiplied by.

    ``total`` float64[2^bits]: the sum of all examples, each times its weight; None before these are counted.
    """

    total: np.ndarray | None = None
    examples = 0  # of these, those that have a weight

    def know(self, slots: np.ndarray, total: np.ndarray) -> None:
        """Take over the sum of a model's examples, float64[n], at these slots."""
        self.total = np.zeros(2**self.plan.bits)
        self.total[slots] = total

    def count_terms(self) -> None:
        """The sum of the examples, too, where it is not known. Raises DataError for values below 0."""
        super().count_terms()
        if self.total is None:
            total, sums = np.zeros(2**self.plan.bits), np.zeros(2)
            for batch in settle_gamma(self.plan, self.batches()):
                part = super().part(batch)
                check_sign(part)
                rows = part.terms.indptr, part.terms.indices.astype(np.int64), part.terms.values, part.weight
                spectral.add_totals(*rows, total, sums)
                self.examples += int(((part.weight > 0) & (part.terms.sizes > 0)).sum())
            self.total = total

    def part(self, batch: Batch) -> Part:
        """Raises DataError for values below 0."""
        part = super().part(batch)
        check_sign(part)
        degree = np.zeros(len(part.terms))
        weigh_terms.divide_by_degree(part.terms.indptr, part.terms.indices, part.terms.values, self.total, degree)
        return part._replace(weight=(part.weight * degree).astype(np.float32))


def check_sign(part: Part) -> None:
    negative = np.flatnonzero(part.terms.values < 0)
    if len(negative):
        row = int(np.searchsorted(part.terms.indptr, negative[0], side="right")) - 1
        raise DataError(f"{part.batch.location(row)}: --cut needs values of 0 or more")


class Eigenvectors(NamedTuple):
    """Eigenvectors of L^-1/2 K L^-1/2: ``values`` float64[d], descending, and ``rows`` float64[n, d] of L^-1/2 Q
    over all examples.

    ``weight`` float64[n]: the degrees times the weights of the examples. ``slots``: those that occur.
    """

    values: np.ndarray
    rows: np.ndarray
    weight: np.ndarray
    slots: SlotRows


def eigenvectors(
    source: DegreeRows, count: int, seed: int, memory: float, threads: int, monitor: Monitor
) -> Eigenvectors:
    """The ``count`` largest. The rows, a number for each vector and example, are in memory.

    Raises DataError for values below 0, UsageError for more numbers than there is memory for, Interrupted.
    """
    check_memory(
        float(source.examples) * count * PER_NUMBER, memory, f"{source.examples:,} examples, {count} numbers each",
        "fewer examples or a smaller -k need less",
    )
    config = PcaConfig(dim=count, passes=PASSES, seed=seed)
    solution = SubspaceIteration(config, source, NO_COMPONENTS, memory, threads).run(StepsOnly(monitor))
    values = solution.values[:count]
    slots = SlotRows(source.plan.bits, solution.slots)
    vectors = np.ascontiguousarray(solution.vectors[:, :count])
    rows, weights = [np.zeros((0, count))], [np.zeros(0)]
    for part in source.parts():
        out = np.zeros((len(part.terms), count))
        spectral.products(part.terms.indptr, slots.find(part.terms.indices), part.terms.values, vectors, out)
        rows.append(out / np.where(values > 0, values, 1))
        weights.append(np.maximum(part.weight, 0).astype(np.float64))
    return Eigenvectors(values**2, np.concatenate(rows), np.concatenate(weights), slots)


def spectral_vectors(
    source: DegreeRows, clusters: int, seed: int, memory: float, threads: int, monitor: Monitor
) -> Eigenvectors:
    """As many eigenvectors as a partition needs.

    Raises as ``eigenvectors``, and UsageError where there are fewer examples than clusters.
    """
    source.count_terms()
    if source.examples < clusters:
        raise UsageError(f"{clusters} clusters are more than there are examples with features: {source.examples}")
    count = min(max(VECTORS, clusters), source.examples, int(np.count_nonzero(source.total)))
    return eigenvectors(source, count, seed, memory, threads, monitor)


def spectral_partitions(found: Eigenvectors, clusters: int, draw: Random) -> Iterator[np.ndarray]:
    """int32[n] each: clusters of all rows, 0 for those of weight 0, by k-means of the rows of as many eigenvectors as
    clusters, and of all, scaled to length 1 (Ng, Jordan, Weiss, NIPS 2001) and with the degrees as weights.

    The eigenvector of the eigenvalue 1 is left out, unless it is the only one.
    """
    there, most = found.weight > 0, len(found.values)
    for count in sorted({min(clusters, most), most}):
        points = found.rows[there, min(1, count - 1) : count]
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-300)
        for _ in range(STARTS):
            cluster = np.zeros(len(there), np.int32)
            cluster[there] = kmeans(points, found.weight[there], clusters, draw)
            yield cluster
