"""Soft k-means: every example belongs to all clusters, by shares that fall with the squared distance.

Its steps are those of expectation and maximisation for a mixture of round normal distributions of equal weights and
variance T / 2; none of them raises the free energy (Rose, Gurewitz and Fox, Pattern Recognition Letters 11, 1990).
"""

from __future__ import annotations

import numpy as np

from vwlite._native import nearest_means
from vwlite.solvers.clusters.train import Clusters, Lloyd
from vwlite.training.monitor import Monitor

ENOUGH = 1e-6  # a pass that lowers the free energy by less, as a share of the squared distances, is the last


def shares(distances: np.ndarray, softness: float) -> tuple[np.ndarray, np.ndarray]:
    """float64[rows, k], float64[rows]: exp(-d / softness) over their sum, and -softness ln of that sum."""
    least = distances.min(axis=1, keepdims=True)
    weights = np.exp((least - distances) / softness)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, (least - softness * np.log(total))[:, 0]


class Soft(Lloyd):
    """``totals``: examples by their nearest means, sums of shares, and of these times squared distances."""

    def alternate(self, monitor: Monitor) -> Clusters:
        """Share and move until the free energy hardly falls."""
        while self.passes < self.config.passes:
            number = self.passes + 1
            changed = self.assign_all(monitor)
            self.check(self.energy)
            share = 100 * changed / self.examples
            text = f"{self.shown(self.totals)}, free energy {self.energy:.6g}, {share:.3g}% changed cluster"
            self.tell(monitor, number, text, free_energy=self.energy, changed=share)
            if self.cost - self.energy <= ENOUGH * float(self.totals[2].sum() / self.totals[1].sum()):
                return self.clusters(number)
            with monitor.update():
                self.passes, self.cost, self.assigned = number, self.energy, self.cluster
                self.move()
        return self.clusters(self.passes)

    def assign_all(self, monitor: Monitor) -> int:
        """As Lloyd's, and the ``energy``, an example's average free energy."""
        self.cluster = self.cluster.copy()
        self.sums[:] = 0
        self.totals[:] = 0
        begin, changed, energy = 0, 0, np.empty(len(self.cluster))
        monitor.step(begin, len(self.cluster))
        for piece in self.rows:
            end = begin + len(piece.weight)
            arrays = piece.terms.indptr, piece.terms.indices, piece.terms.values
            distances = np.empty((end - begin, self.config.clusters))
            nearest_means.distances(*arrays, self.means, self.squares, distances)
            share, free = shares(distances, self.config.soft)
            share *= piece.weight[:, None]
            nearest_means.add_shares(*arrays, share, distances, self.sums, self.totals)
            cluster = distances.argmin(axis=1).astype(np.int32)
            self.totals[0] += np.bincount(cluster[piece.weight > 0], minlength=self.config.clusters)
            energy[begin:end] = piece.weight * free
            changed += int(((self.cluster[begin:end] != cluster) & (piece.weight > 0)).sum())
            self.cluster[begin:end] = cluster
            begin = end
            monitor.step(begin, len(self.cluster))
        self.energy = float(energy.sum() / self.totals[1].sum())
        return changed

    def move(self) -> None:
        """A mean without any share stays."""
        there = self.totals[1] > 0
        examples, self.totals[0] = self.totals[0].copy(), there
        super().move()
        self.totals[0] = examples
