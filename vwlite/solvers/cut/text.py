"""Normalised cuts of text: the graph whose weights are dot products of examples, K = X X', which is never formed.

With l = X (X'1), the degrees, kernel k-means of the cut is k-means of x_i / l_i with the weights l_i, and the
eigenvectors of L^-1/2 K L^-1/2 are the left singular vectors of L^-1/2 X (Dhillon, Guan, Kulis, KDD 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import numpy as np

from vwlite._native import spectral, weigh_terms
from vwlite.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.features.gamma import settle_gamma
from vwlite.options import check_memory
from vwlite.solvers.cut.graph import kmeans
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.pca.train import NO_COMPONENTS, SubspaceIteration
from vwlite.solvers.rows import Part, RowSource, SlotRows
from vwlite.training.listener import Monitor, StepsOnly

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
    """Of L^-1/2 K L^-1/2: ``values`` float64[d], descending, and ``rows`` float64[n, d] of L^-1/2 Q over all examples.

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
    found = SubspaceIteration(config, source, NO_COMPONENTS, memory, threads).run(StepsOnly(monitor))
    values = found.values[:count]
    slots = SlotRows(source.plan.bits, found.slots)
    vectors = np.ascontiguousarray(found.vectors[:, :count])
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
    """As many as a partition takes.

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
