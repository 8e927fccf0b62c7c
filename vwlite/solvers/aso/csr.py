"""Sparse rows in memory, features numbered from 0, and the problems each row is positive for."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(slots=True)
class Rows:
    """``n`` rows; row ``i`` owns ``index[start[i]:start[i + 1]]``, ascending, and the values there."""

    start: np.ndarray  # int64[n + 1]
    index: np.ndarray  # int32[nnz]
    value: np.ndarray  # float32[nnz]
    importance: np.ndarray  # float32[n]
    extra: np.ndarray  # float32[n, h], dense features behind the sparse ones

    def __len__(self) -> int:
        return len(self.importance)

    @property
    def owner(self) -> np.ndarray:
        """int64[nnz]: the row of each value."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def select(self, keep: np.ndarray) -> "Rows":
        """The features of ``keep`` (bool[p]), numbered anew."""
        taken = keep[self.index]
        start = np.concatenate(([0], np.cumsum(taken)))[self.start]
        number = (np.cumsum(keep) - 1).astype(np.int32)
        return replace(self, start=start, index=number[self.index[taken]], value=self.value[taken])

    def take(self, rows: np.ndarray) -> "Rows":
        sizes = np.diff(self.start)[rows]
        start = np.concatenate(([0], np.cumsum(sizes)))
        places = np.arange(start[-1]) + np.repeat(self.start[:-1][rows] - start[:-1], sizes)
        columns = {"index": self.index[places], "value": self.value[places]}
        return Rows(start, **columns, importance=self.importance[rows], extra=self.extra[rows])

    def lengths(self) -> np.ndarray:
        """float64[n]: Euclidean length of each row."""
        return np.sqrt(np.bincount(self.owner, self.value.astype(np.float64) ** 2, len(self)))

    def unit(self) -> "Rows":
        """Rows of length 1; empty ones stay empty."""
        lengths = np.maximum(self.lengths(), 1e-30)
        return replace(self, value=(self.value / np.repeat(lengths, np.diff(self.start))).astype(np.float32))

    def presence(self, features: int) -> np.ndarray:
        """int64[p]: rows that hold each feature."""
        return np.bincount(self.index, minlength=features)


@dataclass(slots=True)
class Targets:
    """Row ``i`` is positive for the problems ``problem[start[i]:start[i + 1]]``, ascending."""

    start: np.ndarray  # int64[n + 1]
    problem: np.ndarray  # int32[]
    names: list[str]

    @property
    def owner(self) -> np.ndarray:
        """int64[]: the row of each positive."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def targets(owner: np.ndarray, problem: np.ndarray, rows: int, names: list[str]) -> Targets:
    """From pairs of row and problem, in any order; a pair given twice counts once."""
    pairs = np.unique(owner.astype(np.int64) * max(len(names), 1) + problem)
    owner, problem = np.divmod(pairs, max(len(names), 1))
    start = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=rows))))
    return Targets(start.astype(np.int64), problem.astype(np.int32), names)


def side_by_side(several: list[Targets]) -> Targets:
    """One set of problems out of several over the same rows."""
    names, owners, problems = [], [], []
    for one in several:
        owners.append(one.owner)
        problems.append(one.problem.astype(np.int64) + len(names))
        names += one.names
    return targets(np.concatenate(owners), np.concatenate(problems), len(several[0].start) - 1, names)
