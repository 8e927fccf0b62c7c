"""Examples in memory, features numbered from 0, and the problems each is positive for."""

from dataclasses import dataclass, replace

import numpy as np

from vwlite.data.csr import Csr, offsets


@dataclass(slots=True)
class Rows:
    """``n`` examples. In a row of ``terms`` the features ascend."""

    terms: Csr
    importance: np.ndarray  # float32[n]
    extra: np.ndarray  # float32[n, h], dense features behind the sparse ones

    def __len__(self) -> int:
        return len(self.importance)

    def select(self, keep: np.ndarray) -> "Rows":
        """The features of ``keep`` (bool[p]), numbered anew."""
        terms, number = self.terms.keep(keep[self.terms.indices]), (np.cumsum(keep) - 1).astype(np.uint32)
        return replace(self, terms=replace(terms, indices=number[terms.indices]))

    def take(self, rows: np.ndarray) -> "Rows":
        return Rows(self.terms.take(rows), self.importance[rows], self.extra[rows])

    def lengths(self) -> np.ndarray:
        """float64[n]: Euclidean length of each row."""
        return np.sqrt(np.bincount(self.terms.owner, self.terms.values.astype(np.float64) ** 2, len(self)))

    def unit(self) -> "Rows":
        """Rows of length 1; empty ones stay empty."""
        lengths = np.maximum(self.lengths(), 1e-30)
        values = (self.terms.values / np.repeat(lengths, self.terms.sizes)).astype(np.float32)
        return replace(self, terms=replace(self.terms, values=values))

    def presence(self, features: int) -> np.ndarray:
        """int64[p]: rows that hold each feature."""
        return np.bincount(self.terms.indices, minlength=features)


@dataclass(slots=True)
class Targets:
    """Row ``i`` of ``positive`` has the problems that example ``i`` is positive for, ascending."""

    positive: Csr
    names: list[str]


def targets(owner: np.ndarray, problem: np.ndarray, rows: int, names: list[str]) -> Targets:
    """From pairs of row and problem, in any order; a pair given twice counts once."""
    pairs = np.unique(owner.astype(np.int64) * max(len(names), 1) + problem)
    owner, problem = np.divmod(pairs, max(len(names), 1))
    indptr = offsets(np.bincount(owner, minlength=rows))
    return Targets(Csr(indptr, problem.astype(np.uint32), np.ones(len(problem), np.float32)), names)


def side_by_side(several: list[Targets]) -> Targets:
    """One set of problems out of several over the same rows."""
    names, owners, problems = [], [], []
    for one in several:
        owners.append(one.positive.owner)
        problems.append(one.positive.indices.astype(np.int64) + len(names))
        names += one.names
    return targets(np.concatenate(owners), np.concatenate(problems), len(several[0].positive), names)
