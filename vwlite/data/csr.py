"""Compressed sparse rows: the terms, or the classes and costs, of many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(slots=True)
class Csr:
    """Row ``i`` has the values ``values[indptr[i]:indptr[i + 1]]`` in the columns ``indices[indptr[i]:indptr[i + 1]]``.

    As in ``scipy.sparse.csr_matrix``, whose ``data`` is ``values`` here.
    """

    indptr: np.ndarray  # int64[rows + 1]
    indices: np.ndarray  # uint32[entries]
    values: np.ndarray  # float32[entries]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def sizes(self) -> np.ndarray:
        """int64[rows]: how many entries each row has."""
        return np.diff(self.indptr)

    @property
    def owner(self) -> np.ndarray:
        """int64[entries]: the row of each entry."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def row(self, row: int) -> slice:
        """Where the entries of a row stand."""
        return slice(int(self.indptr[row]), int(self.indptr[row + 1]))

    def part(self, first: int, last: int) -> Csr:
        """The rows from ``first`` to ``last``, excluded, whose entries are not copied."""
        own = slice(int(self.indptr[first]), int(self.indptr[last]))
        return Csr(self.indptr[first : last + 1] - own.start, self.indices[own], self.values[own])

    def take(self, rows: np.ndarray) -> Csr:
        """The rows ``rows``, int64[n], in this order."""
        sizes = self.sizes[rows]
        indptr = offsets(sizes)
        places = np.arange(indptr[-1]) + np.repeat(self.indptr[:-1][rows] - indptr[:-1], sizes)
        return Csr(indptr, self.indices[places], self.values[places])

    def keep(self, kept: np.ndarray) -> Csr:
        """The entries where ``kept``, bool[entries], is true; there are as many rows as before."""
        if kept.all():
            return self
        return Csr(np.searchsorted(np.flatnonzero(kept), self.indptr), self.indices[kept], self.values[kept])


def offsets(sizes: Any) -> np.ndarray:
    """int64[n + 1]: where ``n`` parts of these sizes begin that stand one behind the other, and where the last ends."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def join_rows(parts: Sequence[Csr]) -> Csr:
    """The rows of all parts in order."""
    return Csr(
        offsets(np.concatenate([np.zeros(0, np.int64), *(part.sizes for part in parts)])),
        np.concatenate([np.zeros(0, np.uint32), *(part.indices for part in parts)]),
        np.concatenate([np.zeros(0, np.float32), *(part.values for part in parts)]),
    )


def ranges(starts: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """int64[n]: ``starts[i]`` to ``starts[i + 1]`` of each ``i`` chosen, one after another."""
    low = starts[chosen].astype(np.int64)
    sizes = starts[chosen + 1].astype(np.int64) - low
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(low - (ends - sizes), sizes)
