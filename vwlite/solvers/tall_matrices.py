"""Products of tall matrices, a few rows at a time in double precision, and orthonormal columns of them."""

from __future__ import annotations

import numpy as np

from vwlite.errors import Diverged

CHUNK = 1 << 14  # rows of a matrix that are worked on in double precision at once
TINY = 1e-12  # eigenvalues below this share of the largest one are rounding errors


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a' b, float64, of tall matrices."""
    product = np.zeros((a.shape[1], b.shape[1]))
    for begin in range(0, len(a), CHUNK):
        product += a[begin : begin + CHUNK].astype(np.float64).T @ b[begin : begin + CHUNK].astype(np.float64)
    return product


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
    positive = values > TINY * max(float(values[-1]), 1e-300)
    return vectors[:, positive] / np.sqrt(values[positive]), values


def orthonormal(y: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Orthonormal columns of the range of ``y``, in its place, strongest first, 0 beyond its rank; and the smallest and
    the largest singular value of ``y``.
    """
    root, squares = inverse_root(product(y, y))
    turned = np.zeros((y.shape[1], y.shape[1]))
    turned[:, : root.shape[1]] = root[:, ::-1]
    return times(y, turned), *np.sqrt(np.maximum(squares[[0, -1]], 0)).tolist()


BLOCK = 1 << 14  # rows of U turned into float64 at once


def leading(u: np.ndarray, h: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``h`` leading left singular vectors of ``u`` (float[p, m]) in its type, [p, h], and float64[h] values.

    By the Gram matrix of the smaller side, in float64; vectors of vanishing values are left out. Each vector's sign
    is such that its largest entry is positive.
    """
    p, m = u.shape
    gram = np.zeros((min(p, m),) * 2)
    for begin in range(0, p if p > m else m, BLOCK):
        block = (u[begin : begin + BLOCK] if p > m else u[:, begin : begin + BLOCK].T).astype(np.float64)
        gram += block.T @ block
    squares, vectors = eigenpairs(gram)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    h = min(h, int((squares > 1e-10 * max(squares[0], 1e-300)).sum())) if len(squares) else 0
    values = np.sqrt(squares[:h])
    left = u @ (vectors[:, :h] / values).astype(u.dtype) if p > m else vectors[:, :h].astype(u.dtype)
    largest = left[np.abs(left).argmax(0), np.arange(h)] if h else np.ones(0)
    return left * np.where(largest < 0, -1, 1).astype(u.dtype), values
