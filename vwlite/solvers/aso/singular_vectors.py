"""The leading singular vectors of weights."""

import numpy as np

from vwlite.solvers.tall_matrices import eigenpairs

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
