"""Products of tall matrices, a few rows at a time in double precision, and orthonormal columns of them."""

from __future__ import annotations

import numpy as np

from vwlite.errors import Diverged

CHUNK = 1 << 14  # rows of a matrix that are worked on in double precision at once
TINY = 1e-12  # eigenvalues below this share of the largest one are rounding errors


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a' b, float64, of tall matrices."""
    found = np.zeros((a.shape[1], b.shape[1]))
    for begin in range(0, len(a), CHUNK):
        found += a[begin : begin + CHUNK].astype(np.float64).T @ b[begin : begin + CHUNK].astype(np.float64)
    return found


def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, with a square b, in place of ``a``, a tall matrix, and in its precision."""
    for begin in range(0, len(a), CHUNK):
        a[begin : begin + CHUNK] = a[begin : begin + CHUNK].astype(np.float64) @ b
    return a


def eigenpairs(square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix. Raises Diverged where it is not finite."""
    if not np.isfinite(square).all():
        raise Diverged("products of features are not finite numbers: features, or weights, are too large")
    values, vectors = np.linalg.eigh(square)
    return values, vectors


def inverse_root(square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R, of as many columns as the rank, with R R' the pseudo-inverse of a positive semidefinite matrix, and its
    eigenvalues, ascending.
    """
    values, vectors = eigenpairs((square + square.T) / 2)
    kept = values > TINY * max(float(values[-1]), 1e-300)
    return vectors[:, kept] / np.sqrt(values[kept]), values


def orthonormal(y: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Orthonormal columns of the range of ``y``, in its place, strongest first, 0 beyond its rank; and the smallest and
    the largest singular value of ``y``.
    """
    root, squares = inverse_root(product(y, y))
    turned = np.zeros((y.shape[1], y.shape[1]))
    turned[:, : root.shape[1]] = root[:, ::-1]
    return times(y, turned), *np.sqrt(np.maximum(squares[[0, -1]], 0)).tolist()
