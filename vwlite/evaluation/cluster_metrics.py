"""How well clusters agree with labels that were not used to make them."""

from __future__ import annotations

import numpy as np


class Agreement:
    """Weights by label and by cluster, of numbers[n] of labels and clusters and float64[n] weights.

    Only the pairs that occur are kept, so that there may be many labels and many clusters.
    """

    def __init__(self, label: np.ndarray, cluster: np.ndarray, weight: np.ndarray) -> None:
        labels, row = np.unique(label, return_inverse=True)
        clusters, column = np.unique(cluster, return_inverse=True)
        pairs, pair = np.unique(row.astype(np.int64) * len(clusters) + column, return_inverse=True)
        self.row, self.column = np.divmod(pairs, max(len(clusters), 1))
        self.both = np.bincount(pair, weight, len(pairs))
        self.labels = np.bincount(row, weight, len(labels))
        self.clusters = np.bincount(column, weight, len(clusters))
        self.total = float(np.sum(weight))

    def report(self) -> dict[str, float]:
        return {"nmi": self.nmi(), "purity": self.purity(), "adjusted_rand": self.adjusted_rand()}

    def nmi(self) -> float:
        """Mutual information over the mean of both entropies (Strehl and Ghosh, JMLR 3, 2002); NaN of nothing.

        1 where there is one label and one cluster, as in scikit-learn.
        """
        if not self.total:
            return float("nan")
        mean = (entropy(self.labels) + entropy(self.clusters)) / 2
        if mean == 0:
            return 1.0
        there = self.both > 0
        share = self.both[there] / self.total
        apart = self.labels[self.row[there]] * self.clusters[self.column[there]] / self.total**2
        return max(float(share @ np.log(share / apart)), 0.0) / mean

    def purity(self) -> float:
        """The share of the weight that has the most frequent label of its cluster; NaN of nothing."""
        most = np.zeros(len(self.clusters))
        np.maximum.at(most, self.column, self.both)
        return float(most.sum()) / self.total if self.total else float("nan")

    def adjusted_rand(self) -> float:
        """Pairs that both put together, less what chance gives (Hubert and Arabie, Journal of Classification 2, 1985).

        A weight counts as that many equal examples. NaN of nothing; 1 where no pair can be put differently.
        """
        if not self.total:
            return float("nan")
        both, labels, clusters = (pairs(part) for part in (self.both, self.labels, self.clusters))
        every = pairs(np.array([self.total]))
        expected = labels * clusters / every if every else 0.0
        most = (labels + clusters) / 2
        return (both - expected) / (most - expected) if most != expected else 1.0


def entropy(weight: np.ndarray) -> float:
    """Compute the entropy in nats, of the shares of a sum above 0."""
    share = weight[weight > 0] / weight.sum()
    return max(-float(share @ np.log(share)), 0.0)


def pairs(weight: np.ndarray) -> float:
    """The number of pairs within groups of these sizes."""
    return float((weight * (weight - 1)).sum()) / 2
