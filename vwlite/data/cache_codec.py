"""Batches as bytes for the cache: the arrays ``STORED``, each compressed by a codec, and tags.

Rows with the same namespaces and numbers of features have the same shape. Each shape is stored once as its list of
parts (a part is a segment without its features); see ``cython_ext/storage/row_shapes.pyx``. The codecs are in
``cython_ext/storage/cache_codec.pyx``.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

from vwlite._native.cache_codec import join_pieces, pack, pack_bytes, pack_offsets, unpack, unpack_bytes, unpack_offsets
from vwlite._native.row_shapes import copy_segments, expand_shapes, find_shapes, segment_offsets
from vwlite.data.batch import COLUMNS, ROWS, STARTS, Batch, Column

WORDS, BYTES, OFFSETS = unpack, unpack_bytes, unpack_offsets  # codecs; of offsets the differences are stored
STORED = (
    (COLUMNS["label"], WORDS),
    (COLUMNS["importance"], WORDS),
    (COLUMNS["initial_prediction"], WORDS),
    (Column("shape", np.uint32, ROWS), WORDS),
    (Column("part_start", np.uint32, "shapes", STARTS), OFFSETS),
    (Column("part_hash", np.uint32, "parts"), WORDS),
    (Column("part_size", np.uint32, "parts"), WORDS),
    (COLUMNS["feature_hash"], WORDS),
    (COLUMNS["value"], WORDS),
    (Column("tags", np.uint32, ROWS, STARTS), OFFSETS),
    (COLUMNS["flags"], BYTES),
    (Column("part_char", np.uint8, "parts"), BYTES),
)
COUNTS = ("rows", "segments", "features", "text", "shapes", "parts")
TOTALS = {"part_start": "parts", "tags": "text"}  # the count that is the last of these offsets
# Columns that are computed from those stored. In memory the one of single bytes comes last: the others are aligned.
COMPUTED = [COLUMNS[name] for name in ("line", "row_namespace", "namespace_hash", "namespace_start", "namespace_char")]


class Packed(NamedTuple):
    """A batch as bytes; ``counts`` has how many of ``COUNTS`` are in it, ``crc`` is the CRC-32 of ``data``."""

    counts: dict[str, int]
    data: bytes
    crc: int


def pack_batch(batch: Batch) -> Packed:
    """A batch without its names and line numbers.

    Once the compressed size is well below that of the text, faster codecs are preferred to smaller results.
    """
    rows = len(batch)
    segments, tags = int(batch.row_namespace[rows]), np.zeros(rows + 1, np.uint32)
    text = join_pieces(batch.text, batch.tag_start, batch.tag_end, tags)
    arrays = {column.name: getattr(batch, column.name) for column, _ in STORED if column.name in COLUMNS}
    arrays |= {"tags": tags, **_shapes(batch, rows)}
    counts = {"rows": rows, "segments": segments, "features": int(batch.namespace_start[segments]), "text": len(text)}
    counts |= {"shapes": len(arrays["part_start"]) - 1, "parts": len(arrays["part_hash"])}
    parts: list[bytes] = []
    budget = max(0, len(batch.text) - len(text)) * 7 // 8  # bytes that may still be used; tags are not compressed
    for column, codec in STORED:
        array = arrays[column.name][: column.length(counts)]
        if codec is WORDS:
            parts.append(pack(array.view(np.uint32), True, budget))
        else:
            parts.append((pack_offsets if codec is OFFSETS else pack_bytes)(array, budget))
        budget = max(0, budget - len(parts[-1]))
    data = b"".join([*parts, text])
    return Packed(counts, data, zlib.crc32(data))


def unpacked_size(counts: dict[str, int]) -> int:
    """Bytes that the arrays of an unpacked batch take, rounded up to a multiple of 8."""
    columns = [*COMPUTED, *(column for column, _ in STORED)]
    size = sum(column.length(counts) * np.dtype(column.dtype).itemsize for column in columns)
    return (size + 7) // 8 * 8


def unpack_batch(data: bytes, counts: dict[str, int], buffer: np.ndarray) -> Batch:
    """A batch from its bytes. Its arrays are views of ``buffer``, uint8[unpacked_size(counts) or more].

    Raises ValueError for damaged data.
    """
    arrays: dict[str, np.ndarray] = {}
    position = offset = 0  # in the buffer; in the data
    for column in COMPUTED[:-1]:
        arrays[column.name] = np.frombuffer(buffer, column.dtype, column.length(counts), position)
        position += arrays[column.name].nbytes
    for column, codec in STORED:
        array = np.frombuffer(buffer, column.dtype, column.length(counts), position)
        arrays[column.name] = array
        position += array.nbytes
        words = array.view(np.uint32) if codec is WORDS else array
        offset = codec(data, offset, words, *((counts[TOTALS[column.name]],) if codec is OFFSETS else ()))
    if len(data) - offset != counts["text"]:
        raise ValueError("a batch has another length")
    arrays["line"][:] = np.arange(counts["rows"])
    arrays["namespace_char"] = buffer[position : position + counts["segments"]]
    parts = [arrays.pop(name) for name in ("part_start", "part_hash", "part_size", "part_char")]
    segments = [arrays[column.name] for column in COMPUTED[1:]]
    expand_shapes(parts, arrays.pop("shape"), segments, counts["features"])
    tags = arrays.pop("tags")
    return Batch(**arrays, tag_start=tags[:-1], tag_end=tags[1:], text=memoryview(data)[offset:])


def _shapes(batch: Batch, rows: int) -> dict[str, np.ndarray]:
    """The number of each row's shape, and each shape's parts: the segments of the first row that has it."""
    shape, first = np.zeros((2, rows), np.uint32)
    first = first[: find_shapes(batch, shape, first)]
    start = np.zeros(len(first) + 1, np.uint32)
    parts = segment_offsets(batch.row_namespace, first, start)
    columns = {"part_start": start, "part_hash": np.zeros(parts, np.uint32), "part_size": np.zeros(parts, np.uint32)}
    columns["part_char"] = np.zeros(parts, np.uint8)
    copy_segments(batch, first, list(columns.values()))
    return {"shape": shape, **columns}
