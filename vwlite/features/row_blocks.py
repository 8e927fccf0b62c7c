"""The namespace blocks of rows alone, which are taken, joined and put together to other rows."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vwlite.data.batch import COLUMNS as BATCH_COLUMNS
from vwlite.data.batch import ROWS, STARTS, Batch
from vwlite.data.csr import ranges
from vwlite.features.group_columns import sums
from vwlite.features.hashing import mix64

COLUMNS = {  # name in models -> type of numbers
    "row_namespace": np.int64,
    "namespace_char": np.uint8,
    "namespace_hash": np.uint32,
    "namespace_start": np.int64,
    "feature_hash": np.uint32,
    "value": np.float32,
}


class RowBlocks(NamedTuple):
    """The columns of a ``Batch`` that hold its features, of ``len(row_namespace) - 1`` rows."""

    row_namespace: np.ndarray  # int64[rows + 1]
    namespace_char: np.ndarray  # uint8[blocks]
    namespace_hash: np.ndarray  # uint32[blocks]
    namespace_start: np.ndarray  # int64[blocks + 1]
    feature_hash: np.ndarray  # uint32[features]
    value: np.ndarray  # float32[features]

    @property
    def rows(self) -> int:
        return len(self.row_namespace) - 1

    def take(self, rows: np.ndarray, kept: np.ndarray | None = None) -> RowBlocks:
        """These rows, in this order, each as often as it is named; ``kept``, bool[blocks]: only these blocks."""
        blocks = ranges(self.row_namespace, rows)
        sizes = np.diff(self.row_namespace)[rows]
        if kept is not None:
            sizes = np.diff(sums(kept[blocks])[sums(sizes)])
            blocks = blocks[kept[blocks]]
        features = ranges(self.namespace_start, blocks)
        return RowBlocks(
            sums(sizes),
            self.namespace_char[blocks],
            self.namespace_hash[blocks],
            sums(np.diff(self.namespace_start)[blocks]),
            self.feature_hash[features],
            self.value[features],
        )

    def merged(self, rows: np.ndarray) -> RowBlocks:
        """One row of all from ``rows[i]`` to ``rows[i + 1]``."""
        return self._replace(row_namespace=self.row_namespace[rows])

    def keys(self) -> np.ndarray:
        """uint64[rows]: a hash of namespaces, features and values, in whatever order."""
        parts = mix64(paired(self.feature_hash, self.value.view(np.uint32)))
        spaces = mix64(paired(self.namespace_hash, self.namespace_char))
        sizes = np.diff(self.namespace_start)
        parts = mix64(parts + mix64(np.repeat(spaces, sizes)))
        reached = np.concatenate([np.zeros(1, np.uint64), np.cumsum(parts, dtype=np.uint64)])
        return np.diff(reached[self.namespace_start[self.row_namespace]])


def paired(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """uint64[n] of two arrays of 32 bits."""
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def blocks_of(batch: Batch) -> RowBlocks:
    """Of all rows of a batch."""
    blocks = int(batch.row_namespace[-1])
    features = int(batch.namespace_start[blocks])
    columns = (
        batch.row_namespace,
        batch.namespace_char[:blocks],
        batch.namespace_hash[:blocks],
        batch.namespace_start[: blocks + 1],
        batch.feature_hash[:features],
        batch.value[:features],
    )
    return RowBlocks(*(np.asarray(one, kind) for one, kind in zip(columns, COLUMNS.values(), strict=True)))


def rows_with(blocks: RowBlocks, batch: Batch, source: np.ndarray) -> Batch:
    """Rows with these blocks, which are the rows ``source``, int64[rows], of the batch in all else; without names."""
    single = [name for name, one in BATCH_COLUMNS.items() if one.per == ROWS and one.entries is not STARTS]
    held = batch.holdout_mask
    return replace(
        batch,
        **{name: getattr(batch, name)[source] for name in single},
        **{name: getattr(blocks, name).astype(BATCH_COLUMNS[name].dtype) for name in COLUMNS},
        names=None,
        lists=None,
        gaps=(),
        numbers=batch.first_line + source if batch.numbers is None else batch.numbers[source],
        holdout_mask=None if held is None else held[source],
    )


def joined(*parts: RowBlocks) -> RowBlocks:
    """The rows of all, one after the other."""
    ends = ("row_namespace", "namespace_start")
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS if name not in ends}
    for name in ends:
        columns[name] = sums(np.concatenate([np.diff(getattr(part, name)) for part in parts]))
    return RowBlocks(**columns)


def no_blocks() -> RowBlocks:
    """Of no row."""
    ends = ("row_namespace", "namespace_start")
    return RowBlocks(**{name: np.zeros(int(name in ends), kind) for name, kind in COLUMNS.items()})
