"""Batches as bytes for the cache: ``COLUMNS``, each as ``cython_ext/packing.pyx`` packs it, and the tags."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite._native.packing import pack, unpack, unpack_bytes, unpack_offsets
from vwlite.batch import Batch

# what a batch of so many rows, segments and features has; of offsets the lengths are packed
WORDS, BYTES, OFFSETS = unpack, unpack_bytes, unpack_offsets
COLUMNS = (
    ("label", np.float32, "rows", WORDS),
    ("importance", np.float32, "rows", WORDS),
    ("base", np.float32, "rows", WORDS),
    ("row_seg", np.uint32, "rows", OFFSETS),
    ("seg_hash", np.uint32, "segments", WORDS),
    ("seg_start", np.uint32, "segments", OFFSETS),
    ("feature_hash", np.uint32, "features", WORDS),
    ("value", np.float32, "features", WORDS),
    ("tags", np.uint32, "rows", OFFSETS),
    ("flags", np.uint8, "rows", BYTES),
    ("seg_char", np.uint8, "segments", BYTES),
)
TOTALS = {"row_seg": "segments", "seg_start": "features", "tags": "text"}  # what the lengths sum to
COUNTS = ("rows", "segments", "features", "text")


@dataclass(slots=True)
class Packed:
    """A batch as bytes; ``counts`` has how many of ``COUNTS`` are in it, ``crc`` is the CRC-32 of ``data``."""

    counts: dict[str, int]
    data: bytes
    crc: int


def pack_batch(batch: Batch) -> Packed:
    """A batch without its names and line numbers."""
    rows = len(batch)
    tags, text = _gather_tags(batch, rows)
    segments = int(batch.row_seg[rows])
    counts = {"rows": rows, "segments": segments, "features": int(batch.seg_start[segments]), "text": len(text)}
    parts = []
    for name, _, count, kind in COLUMNS:
        array = tags if name == "tags" else getattr(batch, name)
        n = counts[count]
        if kind is OFFSETS:
            array = np.diff(array[: n + 1])
        elif kind is BYTES:
            array = array[:n].astype(np.uint32)
        parts.append(pack(np.ascontiguousarray(array[:n]).view(np.uint32)))
    data = b"".join([*parts, text.tobytes()])
    return Packed(counts, data, zlib.crc32(data))


def room_for(counts: dict[str, int]) -> int:
    """Bytes that an unpacked batch takes, a multiple of 8."""
    sizes = (_length(counts[count], kind) * np.dtype(dtype).itemsize for _, dtype, count, kind in COLUMNS)
    return (sum(sizes) + 4 * counts["rows"] + 7) // 8 * 8


def unpack_batch(data: bytes, counts: dict[str, int], room: np.ndarray) -> Batch:
    """A batch from its bytes, its arrays in ``room``, uint8[room_for(counts) or more]. Raises ValueError for damage."""
    arrays: dict[str, np.ndarray] = {}
    place = offset = 0
    for name, dtype, count, kind in COLUMNS:
        length = _length(counts[count], kind)
        array = np.frombuffer(room, dtype, length, place)
        place += array.nbytes
        words = array if dtype is np.uint8 else array.view(np.uint32)
        offset = kind(data, offset, words, *((counts[TOTALS[name]],) if kind is OFFSETS else ()))
        arrays[name] = array
        if name == "tags":  # the last of the larger numbers
            arrays["line"] = np.frombuffer(room, np.uint32, counts["rows"], place)
            arrays["line"][:] = np.arange(counts["rows"])
            place += arrays["line"].nbytes
    if len(data) - offset != counts["text"]:
        raise ValueError("a batch has another length")
    tags = arrays.pop("tags")
    return Batch(**arrays, tag_start=tags[:-1], tag_end=tags[1:], text=memoryview(data)[offset:])


def _length(n: int, kind: Any) -> int:
    return n + (kind is OFFSETS)


def _gather_tags(batch: Batch, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """``(uint32[rows + 1], uint8[bytes])`` of the tags in a row."""
    start, end = batch.tag_start[:rows].astype(np.int64), batch.tag_end[:rows].astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(end - start)))
    if not offsets[-1]:
        return offsets.astype(np.uint32), np.zeros(0, np.uint8)
    where = np.repeat(start - offsets[:-1], end - start) + np.arange(offsets[-1])
    return offsets.astype(np.uint32), np.frombuffer(batch.text, np.uint8)[where]
