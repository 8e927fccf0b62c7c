"""A sample of a pipe that random pairs can be drawn from: some rows of each label of each query."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.shuffle import PASS_SEED, Rows

MIN_NEW_ROWS = 1 << 16  # rows collected before the sample is reduced again


class PairBuffer:
    """Keeps ``size`` rows of each (query, label), every row with the same probability.

    Every row gets a random key; the rows with the smallest keys are kept. In the end their importance is scaled so that
    it adds up to that of all rows that were read.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed, self.taken = size, seed, 0
        self.batches: list[Batch] = []
        self.columns: list[tuple[np.ndarray, ...]] = []  # query, label, random key, importance, rest
        self.rows = self.kept = 0
        self.totals: dict[tuple[int, float], float] = {}  # importance of all rows by query and label

    def add(self, batch: Batch, query: np.ndarray, usable: np.ndarray) -> None:
        """Take in the usable rows of a batch, whose arrays may change afterwards."""
        rows = np.flatnonzero(usable)
        keys = keys_of(self.taken, len(rows), self.seed)
        self.taken += len(rows)
        copied = Rows([batch]).take(rows.astype(np.int64)).copy()
        self.count(query[rows], copied.label, copied.importance.astype(np.float64))
        self.batches.append(copied)
        self.columns.append((query[rows], copied.label, keys))
        self.rows += len(rows)
        if self.rows >= 2 * self.kept + MIN_NEW_ROWS:
            self.compact()

    def count(self, query: np.ndarray, label: np.ndarray, importance: np.ndarray) -> None:
        order = np.lexsort((label, query))
        query, label, importance = query[order], label[order], importance[order]
        new = np.flatnonzero(np.concatenate(([True], (query[1:] != query[:-1]) | (label[1:] != label[:-1]))))
        if len(query):
            sums = np.add.reduceat(importance, new)
            for group in zip(query[new].tolist(), label[new].tolist(), sums.tolist(), strict=True):
                self.totals[group[:2]] = self.totals.get(group[:2], 0.0) + group[2]

    def compact(self) -> None:
        """Leave the rows of the smallest keys, in the order they came in."""
        query, label, key = (np.concatenate(column) for column in zip(*self.columns, strict=True))
        order = np.lexsort((key, label, query))
        new = np.concatenate(([True], (np.diff(query[order]) != 0) | (np.diff(label[order]) != 0)))
        rank = np.arange(len(order)) - np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
        keep = np.sort(order[rank < self.size]).astype(np.int64)
        self.batches = [Rows(self.batches).take(keep).copy()]
        self.columns = [(query[keep], label[keep], key[keep])]
        self.rows = self.kept = len(keep)

    def finish(self) -> tuple[Batch, np.ndarray, np.ndarray]:
        """The batch of the rows kept, their queries and the importance they stand for."""
        if not self.batches:
            return Rows([]).take(np.zeros(0, np.int64)), np.zeros(0, np.uint64), np.zeros(0)
        self.compact()
        batch, (query, label, _) = self.batches[0], self.columns[0]
        importance = batch.importance.astype(np.float64)
        groups = list(zip(query.tolist(), label.tolist(), strict=True))
        kept: dict[tuple[int, float], float] = {}
        for group, weight in zip(groups, importance.tolist(), strict=True):
            kept[group] = kept.get(group, 0.0) + weight
        share = np.array([self.totals[group] / kept[group] for group in groups])
        return batch, query, importance * np.where(np.isclose(share, 1), 1, share)


def keys_of(first: int, count: int, seed: int) -> np.ndarray:
    """uint64[count]: SplitMix64 of the rows' numbers from ``first`` on."""
    with np.errstate(over="ignore"):
        z = (np.arange(first + 1, first + count + 1, dtype=np.uint64) + np.uint64(seed)) * np.uint64(PASS_SEED | 1)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

