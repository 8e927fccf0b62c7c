"""k-means of a few numbers for each node, in memory."""

from __future__ import annotations

from random import Random

import numpy as np

MOST = 100  # rounds


def kmeans(x: np.ndarray, weight: np.ndarray, clusters: int, draw: Random) -> np.ndarray:
    """int32[n]: the nearest of ``clusters`` means of each row of ``x``, float64[n, d]; every cluster has rows.

    Rows count ``weight``, float64[n], above 0. The means begin at rows that are drawn by their distances from those
    before (k-means++; Arthur and Vassilvitskii, SODA 2007); then rows and means change in turn (Lloyd).
    """
    squares = np.einsum("ij,ij->i", x, x)
    means, cluster = started(x, squares, weight, clusters, draw), np.full(len(x), -1)
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


def started(x: np.ndarray, squares: np.ndarray, weight: np.ndarray, clusters: int, draw: Random) -> np.ndarray:
    chosen, nearest = [drawn(weight, draw)], np.full(len(x), np.inf)
    for _ in range(clusters - 1):
        nearest = np.minimum(nearest, np.maximum(distances(x, squares, x[chosen[-1:]])[:, 0], 0))
        chosen.append(drawn(weight * nearest, draw))
    return x[chosen]


def drawn(chances: np.ndarray, draw: Random) -> int:
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
