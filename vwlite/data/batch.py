"""Batch, the currency of the house: a few thousand parsed examples as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vwlite.data.csr import Csr

BLANK, TAGGED, SAVE = 1, 2, 4  # bits of Batch.flags
# Of rows of groups: its features are those of every line of the group; it is not the last one, which counts for all.
SHARED, INNER = 8, 16


@dataclass(slots=True, eq=False, repr=False)
class Names:
    """Where the names of a batch's features stand in its text; kept only on request.

    ``kind`` is 0 for a named feature, 1 for an anonymous one, 2 for one with a text value, 3 for an affix and 4 for a
    spelling feature. ``detail`` of an affix packs its length and side (``2 * length + is_prefix``).
    """

    start: np.ndarray  # uint32[nnz] first byte of the feature's name in Batch.text
    end: np.ndarray  # uint32[nnz] one past its last byte
    kind: np.ndarray  # uint8[nnz]
    detail: np.ndarray  # uint8[nnz]
    value_start: np.ndarray  # uint32[nnz] text value (kind 2)
    value_end: np.ndarray  # uint32[nnz]
    namespace_start: np.ndarray  # uint32[nseg] namespace name of each segment (the source's, for affixes)
    namespace_end: np.ndarray  # uint32[nseg]


@dataclass(slots=True, eq=False, repr=False)
class Batch:
    """``n`` examples in compressed sparse rows. The constant feature is not stored; the expander adds it.

    Row ``i`` owns the segments ``row_namespace[i]:row_namespace[i + 1]``, one per non-empty namespace block, in
    order of appearance; segment ``j`` owns the features ``namespace_start[j]:namespace_start[j + 1]``.
    """

    label: np.ndarray  # float32[n], NaN where unlabelled
    importance: np.ndarray  # float32[n]
    base: np.ndarray  # float32[n], initial prediction
    flags: np.ndarray  # uint8[n], BLANK | TAGGED | SAVE | SHARED | INNER
    line: np.ndarray  # uint32[n], line number within the block, from 0
    tag_start: np.ndarray  # uint32[n], byte offsets into text
    tag_end: np.ndarray  # uint32[n]
    row_namespace: np.ndarray  # uint32[n + 1]
    namespace_char: np.ndarray  # uint8[nseg], first byte of the namespace's name, 32 when anonymous
    namespace_hash: np.ndarray  # uint32[nseg], hash of the whole name
    namespace_start: np.ndarray  # uint32[nseg + 1]
    feature_hash: np.ndarray  # uint32[nnz], unmasked
    value: np.ndarray  # float32[nnz], already times the namespace's value
    text: Any = b""  # the bytes tags and names point into
    names: Names | None = None
    numbers: np.ndarray | None = None  # int64[n], which lines these are (from 0) when they are not in order
    gaps: tuple[int, ...] = ()  # rows in front of which a malformed line was left out, ascending
    path: str = ""  # where the rows come from; empty for a cache
    first_line: int = 0  # number of the block's first line within its file, from 0; of the first row in a cache
    lists: Csr | None = None  # classes and their costs, infinite where unknown, where labels are lists of classes
    holdout_mask: np.ndarray | None = None  # uint8[n], 1 where a row is held out; None: none is
    release: Any = None  # called when the arrays may be reused

    def __len__(self) -> int:
        return len(self.label)

    @property
    def marks(self) -> int:
        """The flags that any row has."""
        return int(np.bitwise_or.reduce(self.flags))

    def head(self, rows: int) -> Batch:
        """The first ``rows`` rows; features of later ones stay in the arrays, unreferenced."""
        if rows == len(self):
            return self
        columns = ("label", "importance", "base", "flags", "line", "tag_start", "tag_end")
        cut = {name: getattr(self, name)[:rows] for name in columns}
        return replace(self, **cut, row_namespace=self.row_namespace[: rows + 1])

    def place(self, row: int) -> str:
        """Where ``row`` came from, for messages."""
        if self.path:
            return f"{self.path}:{self.first_line + int(self.line[row]) + 1}"
        number = self.first_line + row if self.numbers is None else int(self.numbers[row])
        return f"example {number + 1}"

    def weigh(self, class_weights: Iterable[tuple[float, float]]) -> None:
        """Multiply the importance of examples by what their label's class weighs."""
        if class_weights:
            factor = np.ones(len(self), np.float32)
            for label, weight in class_weights:
                factor[self.label == np.float32(label)] = weight
            self.importance = self.importance * factor

    def tag(self, row: int) -> bytes:
        """The tag of ``row``, empty when it has none."""
        return bytes(self.text[self.tag_start[row] : self.tag_end[row]])


def first_of_group(batch: Batch, row: int) -> int:
    """The first row of a row's group of lines; the row itself where it is in none."""
    ends = np.flatnonzero(batch.flags[:row] & INNER == 0)
    return int(ends[-1]) + 1 if len(ends) else 0
