"""The rows of batches over a vocabulary."""

from dataclasses import replace

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.csr import Csr, offsets
from vwlite.features.sparse_rows import Rows
from vwlite.features.vocabulary import Vocabulary


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
