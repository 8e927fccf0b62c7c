"""Means that have few numbers other than 0 (Sculley, WWW 2010, section 4)."""

from __future__ import annotations

import numpy as np


def project(means: np.ndarray, radius: float | np.ndarray) -> None:
    """Take every column of ``means`` [slots, k] to the nearest one whose absolute values sum up to ``radius`` at most.

    ``radius``: one of all columns, or float64[k]. Duchi, Shalev-Shwartz, Singer and Chandra, ICML 2008, figure 1.
    """
    size = np.abs(means, dtype=np.float64)
    limits = np.broadcast_to(np.asarray(radius, np.float64), (means.shape[1],))
    for column in np.flatnonzero(size.sum(axis=0) > limits).tolist():
        falling = np.sort(size[:, column])[::-1]
        beyond = np.cumsum(falling) - limits[column]
        kept = int(np.flatnonzero(falling * np.arange(1, len(falling) + 1) > beyond)[-1]) + 1
        left = np.maximum(size[:, column] - beyond[kept - 1] / kept, 0)
        means[:, column] = np.copysign(left, means[:, column])
