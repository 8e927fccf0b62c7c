"""The inverse Hessian's estimate from the last steps (Nocedal 1980, the recursion of section 3)."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]  # differences of weights and of gradients


class Problem(Protocol):
    """What is optimised, as steps see it: ``vwlite.learners.bfgs.Bfgs``, where its members are described."""

    config: Any
    weights: np.ndarray
    vectors: np.ndarray
    sums: np.ndarray
    gradient: bool
    first: bool
    line: str
    standstill: float

    def begin_row(self, loss: float, size: float, conditioned: float) -> None: ...
    def tell(self, text: str) -> None: ...
    def say(self, text: str) -> None: ...


def dot(one: np.ndarray, other: np.ndarray, diagonal: np.ndarray | None = None) -> float:
    """In float64, of ``one`` and ``diagonal`` times ``other``."""
    arrays = (one, other) if diagonal is None else (one, other, diagonal)
    return float(np.einsum("i,i" if diagonal is None else "i,i,i", *(array.astype(np.float64) for array in arrays)))


def two_loops(q: np.ndarray, diagonal: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """The estimate times ``q``, float64, which changes.

    ``diagonal`` is the estimate without ``pairs``, the latest of which is the first.
    """
    shares = []
    for step, change in pairs:
        share = dot(step, q) / dot(step, change)
        shares.append(share)
        q -= share * change
    q *= diagonal
    for (step, change), share in zip(pairs[::-1], shares[::-1], strict=True):
        q += (share - dot(change, q) / dot(step, change)) * step
    return q
