"""Clusters of text by the normalised cut."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from random import Random

import numpy as np

from vwlite.solvers.clusters.train import Clusters, Lloyd
from vwlite.solvers.cut.text import DegreeRows, spectral_partitions, spectral_vectors
from vwlite.training.monitor import Monitor


class Cut(Lloyd):
    """k-means of the examples over their degrees, from partitions by eigenvectors or from the means of a model."""

    source: DegreeRows

    def run(self, monitor: Monitor) -> Clusters:
        """Raises as ``Lloyd.run`` and ``spectral_vectors``."""
        config = self.config
        if self.before:
            self.source.know(self.before.slots, self.before.total)
        else:
            self.vectors = spectral_vectors(
                self.source, config.clusters, config.seed, self.memory, self.threads, monitor
            )
            self.memory -= self.vectors.rows.nbytes
        found = super().run(monitor)
        monitor.line(f"normalised cut {found.cut:.6g}")
        return found

    def start(self, number: int) -> None:
        if self.before:
            super().start(number)
            return
        draw = Random(self.config.seed + (number << 64))
        self.means = np.zeros((len(self.rows.rows), self.config.clusters), np.float32)
        self.forget()
        self.add_all(min(spectral_partitions(self.vectors, self.config.clusters, draw), key=self.cut_of))
        self.move()

    def cut_of(self, cluster: np.ndarray) -> float:
        """k less the sum over the clusters of |the sum of the examples|^2 / volume; an empty one costs 1."""
        self.add_all(cluster)
        squares, volume = np.einsum("sk,sk->k", self.sums, self.sums), self.totals[1]
        return float(len(volume) - (squares[volume > 0] / volume[volume > 0]).sum())

    def shown(self, totals: np.ndarray) -> str:
        """Distances are from the means of the clusters before; from their own they are at most as large."""
        return f"normalised cut at most {totals[2].sum() + self.config.clusters - self.squared_lengths:.6g}"

    @cached_property
    def squared_lengths(self) -> float:
        """The sum of the rows' squares, times their weights."""
        total = 0.0
        for piece in self.rows:
            weight = np.repeat(piece.weight.astype(np.float64), piece.terms.sizes)
            total += float((weight * np.square(piece.terms.values, dtype=np.float64)).sum())
        return total

    def clusters(self, passes: int) -> Clusters:
        found = super().clusters(passes)
        return replace(found, cut=self.cut_of(self.cluster), total=self.source.total[found.slots])
