"""Examples in memory, features numbered from 0 by a vocabulary, and sums of weights over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from vwlite._native import one_vs_rest_sgd as kernel
from vwlite.data.batch import Batch, Csr, offsets
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.storage.model_file import numbers


@dataclass(slots=True)
class Vocabulary:
    """The features: full 32-bit hashes, ascending, with name and namespace of each.

    With ``idf`` rows of these features have their values times these weights.
    """

    key: np.ndarray  # uint32[p]
    space: np.ndarray  # int32[p], place in spaces
    names: list[str]
    spaces: list[str]
    idf: np.ndarray | None = None  # float32[p + 1], last that of unknown features, where ``find`` gives -1
    rare: int = 0  # further features of the text that it is of, which too few rows hold

    def __len__(self) -> int:
        return len(self.key)

    def find(self, keys: np.ndarray) -> np.ndarray:
        """int64: the features' numbers, -1 where unknown."""
        if not len(self.key):
            return np.full(len(keys), -1)
        place = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[place] == keys, place, -1)


def inverse_frequencies(held: np.ndarray, rows: int) -> np.ndarray:
    """float32[p + 1]: ln((rows + 1) / (held + 1)), of features that ``held`` of the rows have, and one that none has.

    Sparck Jones, Journal of Documentation 28 (1972), smoothed.
    """
    return np.log((rows + 1) / (np.append(held, 0) + 1.0)).astype(np.float32)


def word_arrays(prefix: str, words: Vocabulary) -> dict[str, np.ndarray]:
    """``key`` uint32[p], ``space`` int32[p]; names as the bytes of ``text``, name i ending before ``end[i]``.

    ``idf`` float32[p + 1] where there are weights.
    """
    names = [name.encode("utf-8", "surrogateescape") for name in words.names]
    arrays = {
        "key": words.key,
        "space": words.space,
        "end": np.cumsum([len(name) for name in names], dtype=np.int64),
        "text": np.frombuffer(b"".join(names), np.uint8),
    }
    if words.idf is not None:
        arrays["idf"] = words.idf
    return {f"{prefix}_{name}": array for name, array in arrays.items()}


def words_from(prefix: str, arrays: dict[str, Any], spaces: list[str]) -> Vocabulary:
    key = numbers(arrays, f"{prefix}_key", np.uint32, (-1,))
    count = len(key)
    space = numbers(arrays, f"{prefix}_space", np.int32, (count,))
    ends = numbers(arrays, f"{prefix}_end", np.int64, (count,))
    raw = numbers(arrays, f"{prefix}_text", np.uint8, (-1,)).tobytes()
    edges = np.concatenate(([0], ends))
    if (np.diff(edges) < 0).any() or edges[-1] != len(raw) or (key[1:] <= key[:-1]).any():
        raise ValueError("the names of its features")
    if count and not 0 <= int(space.min()) <= int(space.max()) < len(spaces):
        raise ValueError("the namespaces of its features")
    names = [raw[a:b].decode("utf-8", "surrogateescape") for a, b in pairwise(edges.tolist())]
    weights = f"{prefix}_idf"
    return Vocabulary(key, space, names, spaces, weights_from(arrays, weights, count) if weights in arrays else None)


def weights_from(arrays: dict[str, Any], name: str, count: int) -> np.ndarray:
    found = numbers(arrays, name, np.float32, (count + 1,))
    if (found < 0).any():
        raise ValueError("the weights of its features")
    return found


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
