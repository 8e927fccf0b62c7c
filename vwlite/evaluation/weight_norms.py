"""Norms of a matrix of weights, a row for each feature and a column for each class."""

from __future__ import annotations

import numpy as np

MOST_COLUMNS = 2048  # of which the trace norm is computed
CHUNK = 4096  # rows


def norms(row: np.ndarray, column: np.ndarray, weight: np.ndarray, columns: int) -> dict[str, float]:
    """Of the matrix that has float64[n] ``weight`` at these places, int64[n] each, and 0 at all others.

    ``2,1`` is the sum of the lengths of the rows; ``trace`` that of the singular values, left out where there are more
    than MOST_COLUMNS columns; ``frobenius`` the root of the sum of squares.
    """
    order = np.argsort(row, kind="stable")
    row, column, weight = np.unique(row[order], return_inverse=True)[1], column[order], weight[order]
    lengths = np.sqrt(np.bincount(row, weight * weight))
    found = {"2,1": float(lengths.sum())}
    if columns <= MOST_COLUMNS:
        found["trace"] = float(singular_values(row, column, weight, columns).sum())
    return {**found, "frobenius": float(np.sqrt(weight @ weight))}


def singular_values(row: np.ndarray, column: np.ndarray, weight: np.ndarray, columns: int) -> np.ndarray:
    """float64[columns], descending; below a 10^-8 of the largest they are rounding errors. ``row`` ascends from 0.

    They are NaN where a weight is not a finite number.
    """
    if not np.isfinite(weight).all():
        return np.full(columns, np.nan)
    made = np.zeros((columns, columns))
    for first in range(0, int(row[-1]) + 1 if len(row) else 0, CHUNK):
        begin, end = np.searchsorted(row, (first, first + CHUNK))
        part = np.zeros((CHUNK, columns))
        part[row[begin:end] - first, column[begin:end]] = weight[begin:end]
        made += part.T @ part
    return np.sqrt(np.maximum(np.linalg.eigvalsh(made)[::-1], 0))
