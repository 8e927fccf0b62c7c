"""Examples in memory, features numbered from 0, and sums of weights over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from vwlite._native import one_vs_rest_sgd as kernel
from vwlite.data.batch import Batch
from vwlite.data.csr import Csr, offsets
from vwlite.features.vocabulary import Vocabulary
from vwlite.interrupts import STOP, raise_if_stopped

CHUNK = 4096  # rows at once, where something is made of each entry


def squares(terms: Csr) -> np.ndarray:
    """float64[n]: the sum of the squares of each row's values."""
    return np.bincount(terms.owner, terms.values.astype(np.float64) ** 2, len(terms))


@dataclass(slots=True)
class Rows:
    """``n`` examples. In a row of ``terms`` the features ascend."""

    terms: Csr
    importance: np.ndarray  # float32[n]
    extra: np.ndarray  # float32[n, h], dense features behind the sparse ones

    def __len__(self) -> int:
        return len(self.importance)

    def select(self, keep: np.ndarray) -> Rows:
        """The features of ``keep`` (bool[p]), numbered anew."""
        return self.numbered(keep, (np.cumsum(keep) - 1).astype(np.uint32))

    def numbered(self, keep: np.ndarray, number: np.ndarray) -> Rows:
        """The features of ``keep`` (bool[p]) as ``number`` (uint32[p]) has them."""
        terms = self.terms.keep(keep[self.terms.indices])
        return replace(self, terms=replace(terms, indices=number[terms.indices]))

    def take(self, rows: np.ndarray) -> Rows:
        return Rows(self.terms.take(rows), self.importance[rows], self.extra[rows])

    def lengths(self) -> np.ndarray:
        """float64[n]: Euclidean length of each row."""
        return np.sqrt(squares(self.terms))

    def unit(self) -> Rows:
        """Rows of length 1; empty ones stay empty."""
        values = np.empty_like(self.terms.values)
        for begin in range(0, len(self), CHUNK):
            end = min(begin + CHUNK, len(self))
            own = self.terms.part(begin, end)
            lengths = np.maximum(np.sqrt(squares(own)), 1e-30)
            values[self.terms.indptr[begin] : self.terms.indptr[end]] = own.values / np.repeat(lengths, own.sizes)
        return replace(self, terms=replace(self.terms, values=values))

    def presence(self, features: int) -> np.ndarray:
        """int64[p]: rows that hold each feature."""
        return np.bincount(self.terms.indices, minlength=features)


@dataclass(slots=True)
class Weights:
    """Problem l scores ``x . w[:, l] + extra . v[:, l] + bias[l]``. Features own contiguous rows."""

    w: np.ndarray  # float32[p, m]
    v: np.ndarray  # float32[h, m]
    bias: np.ndarray  # float32[m]
    stop: ClassVar[Any] = STOP

    def scores(self, rows: Rows) -> np.ndarray:
        """float32[n, m]."""
        out = np.empty((len(rows), self.w.shape[1]), np.float32)
        for begin in range(0, len(rows), CHUNK):
            order = np.arange(begin, min(begin + CHUNK, len(rows)))
            kernel.score(rows, self, order, out[begin : begin + CHUNK])
            raise_if_stopped()
        return out


def features_of(batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of these rows, int64[n], the number among them, the hash and the value of each feature, and where it stands."""
    first, last = batch.row_namespace[rows].astype(np.int64), batch.row_namespace[rows + 1].astype(np.int64)
    begin, end = batch.namespace_start[first].astype(np.int64), batch.namespace_start[last].astype(np.int64)
    owner = np.repeat(np.arange(len(rows)), end - begin)
    places = np.arange(len(owner)) + np.repeat(end - np.cumsum(end - begin), end - begin)
    return owner, batch.feature_hash[places], batch.value[places], places


def merged(owner: np.ndarray, keys: np.ndarray, values: np.ndarray, rows: int) -> tuple[np.ndarray, ...]:
    """The number of features of each row, and their hashes, ascending, and values: a word said twice counts twice."""
    order = np.lexsort((keys, owner))
    owner, keys, values = owner[order], keys[order], values[order]
    if len(owner):
        change = (owner[1:] != owner[:-1]) | (keys[1:] != keys[:-1])
        new = np.flatnonzero(np.concatenate(([True], change)))
        owner, keys, values = owner[new], keys[new], np.add.reduceat(values, new).astype(np.float32)
    return np.bincount(owner, minlength=rows), keys.copy(), values.copy()


def rows_over(
    words: Vocabulary,
    sizes: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    importance: np.ndarray,
    unit: bool,
) -> Rows:
    """Rows of what ``merged`` gives over ``words``; with ``unit`` scaled to length 1, unknown features counted."""
    index = words.find(keys)
    if words.idf is not None:
        values = values * words.idf[index]
    terms = Csr(offsets(sizes), index.astype(np.uint32), values)
    whole = Rows(terms, importance, np.zeros((len(sizes), 0), np.float32))
    if unit:
        whole = whole.unit()
    return replace(whole, terms=whole.terms.keep(index >= 0))
