"""Batches as bytes for the cache: ``COLUMNS``, each as ``cython_ext/storage/cache_codec.pyx`` packs it, and the tags.

Segments are packed by shape: each kind of row once, see ``cython_ext/storage/row_shapes.pyx``.
"""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np

from vwlite._native.cache_codec import join_pieces, pack, pack_bytes, pack_offsets, unpack, unpack_bytes, unpack_offsets
from vwlite._native.row_shapes import find_shapes, number_rows, place_parts, spread_shapes, take_parts
from vwlite.data.batch import Batch

# what a batch of so many rows, shapes, their segments ("parts") and features has; of offsets the lengths are packed
WORDS, BYTES, OFFSETS = unpack, unpack_bytes, unpack_offsets
COLUMNS = (
    ("label", np.float32, "rows", WORDS),
    ("importance", np.float32, "rows", WORDS),
    ("base", np.float32, "rows", WORDS),
    ("shape", np.uint32, "rows", WORDS),
    ("part_start", np.uint32, "shapes", OFFSETS),
    ("part_hash", np.uint32, "parts", WORDS),
    ("part_size", np.uint32, "parts", WORDS),
    ("feature_hash", np.uint32, "features", WORDS),
    ("value", np.float32, "features", WORDS),
    ("tags", np.uint32, "rows", OFFSETS),
    ("flags", np.uint8, "rows", BYTES),
    ("part_char", np.uint8, "parts", BYTES),
)
TOTALS = {"part_start": "parts", "tags": "text"}  # what the lengths sum to
COUNTS = ("rows", "segments", "features", "text", "shapes", "parts")
# the arrays of uint32 made of these columns, how many numbers they have, and how many more; beside them namespace_char
MADE = (
    ("line", "rows", 0),
    ("row_namespace", "rows", 1),
    ("namespace_hash", "segments", 0),
    ("namespace_start", "segments", 1),
)


class Packed(NamedTuple):
    """A batch as bytes; ``counts`` has how many of ``COUNTS`` are in it, ``crc`` is the CRC-32 of ``data``."""

    counts: dict[str, int]
    data: bytes
    crc: int


def pack_batch(batch: Batch) -> Packed:
    """A batch without its names and line numbers; once it is well below the size of its text, time goes before room."""
    rows = len(batch)
    segments, tags = int(batch.row_namespace[rows]), np.zeros(rows + 1, np.uint32)
    text = join_pieces(batch.text, batch.tag_start, batch.tag_end, tags)
    arrays = {name: getattr(batch, name) for name in ("label", "importance", "base", "feature_hash", "value", "flags")}
    arrays |= {"tags": tags, **_shapes(batch, rows)}
    counts = {"rows": rows, "segments": segments, "features": int(batch.namespace_start[segments]), "text": len(text)}
    counts |= {"shapes": len(arrays["part_start"]) - 1, "parts": len(arrays["part_hash"])}
    parts: list[bytes] = []
    left = max(0, len(batch.text) - len(text)) * 7 // 8  # tags stay as they are
    for name, _, count, kind in COLUMNS:
        array = arrays[name][: _length(counts[count], kind)]
        if kind is WORDS:
            parts.append(pack(array.view(np.uint32), True, left))
        else:
            parts.append((pack_offsets if kind is OFFSETS else pack_bytes)(array, left))
        left = max(0, left - len(parts[-1]))
    data = b"".join([*parts, text])
    return Packed(counts, data, zlib.crc32(data))


def room_for(counts: dict[str, int]) -> int:
    """Bytes that an unpacked batch takes, a multiple of 8."""
    sizes = [_length(counts[count], kind) * np.dtype(dtype).itemsize for _, dtype, count, kind in COLUMNS]
    sizes += [(counts[count] + more) * 4 for _, count, more in MADE]
    return (sum(sizes) + counts["segments"] + 7) // 8 * 8


def unpack_batch(data: bytes, counts: dict[str, int], room: np.ndarray) -> Batch:
    """A batch from its bytes, its arrays in ``room``, uint8[room_for(counts) or more]. Raises ValueError for damage."""
    arrays: dict[str, np.ndarray] = {}
    place = offset = 0
    for name, count, more in MADE:
        arrays[name] = np.frombuffer(room, np.uint32, counts[count] + more, place)
        place += arrays[name].nbytes
    for name, dtype, count, kind in COLUMNS:
        arrays[name] = array = np.frombuffer(room, dtype, _length(counts[count], kind), place)
        place += array.nbytes
        words = array.view(np.uint32) if kind is WORDS else array
        offset = kind(data, offset, words, *((counts[TOTALS[name]],) if kind is OFFSETS else ()))
    if len(data) - offset != counts["text"]:
        raise ValueError("a batch has another length")
    number_rows(arrays["line"])
    arrays["namespace_char"] = room[place : place + counts["segments"]]
    parts = [arrays.pop(name) for name in ("part_start", "part_hash", "part_size", "part_char")]
    made = [arrays[name] for name in ("row_namespace", "namespace_hash", "namespace_start", "namespace_char")]
    spread_shapes(parts, arrays.pop("shape"), made, counts["features"])
    tags = arrays.pop("tags")
    return Batch(**arrays, tag_start=tags[:-1], tag_end=tags[1:], text=memoryview(data)[offset:])


def _shapes(batch: Batch, rows: int) -> dict[str, np.ndarray]:
    """Each row's shape, and the segments of the first row of each."""
    shape, first = np.zeros((2, rows), np.uint32)
    first = first[: find_shapes(batch, shape, first)]
    start = np.zeros(len(first) + 1, np.uint32)
    parts = place_parts(batch.row_namespace, first, start)
    columns = {"part_start": start, "part_hash": np.zeros(parts, np.uint32), "part_size": np.zeros(parts, np.uint32)}
    columns["part_char"] = np.zeros(parts, np.uint8)
    take_parts(batch, first, list(columns.values()))
    return {"shape": shape, **columns}


def _length(n: int, kind: Any) -> int:
    return n + (kind is OFFSETS)
