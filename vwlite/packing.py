"""Batches as bytes for the cache: ``COLUMNS``, each as ``cython_ext/packing.pyx`` packs it, and the tags.

Segments are packed by shape: each kind of row once, see ``cython_ext/shapes.pyx``.
"""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite._native.packing import pack, unpack, unpack_bytes, unpack_offsets
from vwlite._native.shapes import find_shapes, spread_shapes
from vwlite.batch import Batch

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
# the arrays of uint32 made of these columns, how many numbers they have, and how many more; beside them seg_char
MADE = (("line", "rows", 0), ("row_seg", "rows", 1), ("seg_hash", "segments", 0), ("seg_start", "segments", 1))


@dataclass(slots=True)
class Packed:
    """A batch as bytes; ``counts`` has how many of ``COUNTS`` are in it, ``crc`` is the CRC-32 of ``data``."""

    counts: dict[str, int]
    data: bytes
    crc: int


def pack_batch(batch: Batch) -> Packed:
    """A batch without its names and line numbers; once it is well below the size of its text, time goes before room."""
    rows = len(batch)
    tags, text = _gather_tags(batch, rows)
    segments = int(batch.row_seg[rows])
    arrays = {name: getattr(batch, name) for name in ("label", "importance", "base", "feature_hash", "value", "flags")}
    arrays |= _shapes(batch, rows)
    counts = {"rows": rows, "segments": segments, "features": int(batch.seg_start[segments]), "text": len(text)}
    counts |= {"shapes": len(arrays["part_start"]) - 1, "parts": len(arrays["part_hash"])}
    parts: list[bytes] = []
    left = max(0, len(batch.text) - len(text)) * 7 // 8  # tags stay as they are
    for name, _, count, kind in COLUMNS:
        array = tags if name == "tags" else arrays[name]
        n = counts[count]
        if kind is OFFSETS:
            array = np.diff(array[: n + 1])
        elif kind is BYTES:
            array = array[:n].astype(np.uint32)
        parts.append(pack(np.ascontiguousarray(array[:n]).view(np.uint32), kind is WORDS, left))
        left = max(0, left - len(parts[-1]))
    data = b"".join([*parts, text.tobytes()])
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
        words = array if dtype is np.uint8 else array.view(np.uint32)
        offset = kind(data, offset, words, *((counts[TOTALS[name]],) if kind is OFFSETS else ()))
    if len(data) - offset != counts["text"]:
        raise ValueError("a batch has another length")
    arrays["line"][:] = np.arange(counts["rows"])
    arrays["seg_char"] = np.frombuffer(room, np.uint8, counts["segments"], place)
    parts = [arrays.pop(name) for name in ("part_start", "part_hash", "part_size", "part_char")]
    made = [arrays[name] for name in ("row_seg", "seg_hash", "seg_start", "seg_char")]
    spread_shapes(parts, arrays.pop("shape"), made, counts["features"])
    tags = arrays.pop("tags")
    return Batch(**arrays, tag_start=tags[:-1], tag_end=tags[1:], text=memoryview(data)[offset:])


def _shapes(batch: Batch, rows: int) -> dict[str, np.ndarray]:
    """Each row's shape, and the segments of the first row of each."""
    shape, first = np.empty(rows, np.uint32), np.empty(rows, np.uint32)
    first = first[: find_shapes(batch, shape, first)]
    begin, end = batch.row_seg[first].astype(np.int64), batch.row_seg[first + np.uint32(1)].astype(np.int64)
    starts, chosen = _ranges(begin, end)
    return {
        "shape": shape,
        "part_start": starts.astype(np.uint32),
        "part_hash": batch.seg_hash[chosen],
        "part_size": batch.seg_start[chosen + 1] - batch.seg_start[chosen],
        "part_char": batch.seg_char[chosen],
    }


def _ranges(begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``(int64[n + 1], int64[total])``: where each range begins among the numbers of all of them, and these."""
    starts = np.concatenate(([0], np.cumsum(end - begin)))
    return starts, np.repeat(begin - starts[:-1], end - begin) + np.arange(starts[-1])


def _length(n: int, kind: Any) -> int:
    return n + (kind is OFFSETS)


def _gather_tags(batch: Batch, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """``(uint32[rows + 1], uint8[bytes])`` of the tags in a row."""
    start, end = batch.tag_start[:rows].astype(np.int64), batch.tag_end[:rows].astype(np.int64)
    if not (end > start).any():
        return np.zeros(rows + 1, np.uint32), np.zeros(0, np.uint8)
    offsets, where = _ranges(start, end)
    return offsets.astype(np.uint32), np.frombuffer(batch.text, np.uint8)[where]
