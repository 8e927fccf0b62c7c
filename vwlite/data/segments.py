"""Features of several namespaces, each in rows of its own, put together to the arrays of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite.data.batch import Batch, Names
from vwlite.data.csr import offsets
from vwlite.errors import DataError

MAX_ROWS, MAX_FEATURES = 1 << 16, 1 << 22  # of a batch; the second is about
ANONYMOUS_CHAR = 32
SLACK = bytes(64)  # that kernels may read behind a batch's text


@dataclass(slots=True)
class Part:
    """The features of one namespace: row ``i`` has those of ``indptr[i]:indptr[i + 1]``."""

    namespace: bytes  # its name, empty where it is anonymous
    namespace_hash: int
    indptr: np.ndarray  # int32 or int64[rows + 1], from 0
    hashes: np.ndarray  # uint32[features]
    values: np.ndarray  # float32[features], none of them 0
    names: tuple[bytes, np.ndarray, np.ndarray] | None = None  # text, and int64[features]: begin and end of each name
    joins: bool = False  # its features are of the same namespace as those of the part before, and follow them

    @property
    def char(self) -> int:
        return self.namespace[0] if self.namespace else ANONYMOUS_CHAR


def batch_of(parts: Sequence[Part], rows: Mapping[str, Any]) -> Batch:
    """The batch of these namespaces, a row's in this order; ``rows`` are its other columns, and its text.

    Raises DataError for more features than a batch can have.
    """
    size = sum(len(part.hashes) for part in parts)
    if size >= 2**32:
        raise DataError(f"{len(rows['label'])} rows have {size} features: too many")
    text = bytearray(rows["text"])
    names = [name_offsets(part, text) for part in parts]
    columns, order = single(parts[0]) if len(parts) == 1 else interleaved(parts)
    numbers = columns.pop("numbers")
    chars = np.array([part.char for part in parts], np.uint8)
    hashes = np.array([part.namespace_hash for part in parts], np.uint32)
    return Batch(
        **{**rows, "text": memoryview(text + SLACK)},
        **columns,
        namespace_char=chars[numbers],
        namespace_hash=hashes[numbers],
        line=np.arange(len(rows["label"]), dtype=np.uint32),
        names=None if parts[0].names is None else joined_names(names, numbers, order),
    )


def single(part: Part) -> tuple[dict[str, np.ndarray], None]:
    """The arrays of one namespace, without copying features."""
    filled = part.indptr[1:] != part.indptr[:-1]
    start = part.indptr if filled.all() else np.append(part.indptr[:-1][filled], part.indptr[-1])
    columns = {
        "row_namespace": offsets(filled).astype(np.uint32),
        "namespace_start": start.view(np.uint32) if start.dtype == np.int32 else start.astype(np.uint32),
        "feature_hash": part.hashes,
        "value": part.values,
        "numbers": np.zeros(len(start) - 1, np.intp),
    }
    return columns, None


def interleaved(parts: Sequence[Part]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays of several namespaces; and where each feature of the parts, one behind the other, stands in them."""
    sizes = np.stack([np.diff(part.indptr.astype(np.int64)) for part in parts], axis=1)
    starts = offsets(sizes.ravel())
    begins = starts[:-1].reshape(sizes.shape)
    order = np.concatenate([
        np.arange(len(part.hashes)) + np.repeat(begins[:, number] - part.indptr[:-1], sizes[:, number])
        for number, part in enumerate(parts)
    ])
    heads = [number for number, part in enumerate(parts) if not part.joins]
    filled = np.add.reduceat(sizes, heads, axis=1) > 0
    columns = {
        "row_namespace": offsets(filled.sum(axis=1)).astype(np.uint32),
        "namespace_start": np.append(begins[:, heads][filled], starts[-1]).astype(np.uint32),
        "feature_hash": moved([part.hashes for part in parts], order),
        "value": moved([part.values for part in parts], order),
        "numbers": np.array(heads)[np.nonzero(filled)[1]],
    }
    return columns, order


def moved(arrays: Sequence[np.ndarray], order: np.ndarray | None) -> np.ndarray:
    """The arrays' entries, one behind the other, at their places; all where they are without ``order``."""
    together = np.concatenate(arrays)
    if order is None:
        return together
    out = np.empty_like(together)
    out[order] = together
    return out


def name_offsets(part: Part, text: bytearray) -> tuple[int, int, np.ndarray, np.ndarray] | None:
    """Append the names to the text; where in it the namespace's name is, and where each feature's, uint32[features]."""
    if part.names is None:
        return None
    at = len(text)
    text += part.namespace
    begin = len(text)
    words, starts, ends = part.names
    text += words
    return at, begin, (starts + begin).astype(np.uint32), (ends + begin).astype(np.uint32)


def joined_names(names: Sequence[Any], numbers: np.ndarray, order: np.ndarray | None) -> Names:
    begin, end = (np.array([one[place] for one in names], np.uint32)[numbers] for place in (0, 1))
    start = moved([one[2] for one in names], order)
    empty = np.zeros(len(start), np.uint32)
    kind = np.zeros(len(start), np.uint8)
    return Names(start, moved([one[3] for one in names], order), kind, kind, empty, empty, begin, end)
