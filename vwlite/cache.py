"""The cache: parsed batches in one file, hashes unmasked, so that one serves every ``-b``, ``-q`` and learner.

Layout, little-endian: ``MAGIC``; the batches, each the arrays of ``COLUMNS`` in turn, every array on a multiple of 8
bytes; a JSON footer that lists the batches and says what the cache was made from; ``TAIL``: place, size and CRC of the
footer.
"""

import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import accumulate
from typing import Any, BinaryIO

import numpy as np

from vwlite.atomic import atomic_output
from vwlite.batch import Batch
from vwlite.errors import ModelError, OutputError
from vwlite.parsing import TextFormat
from vwlite.source import fingerprint, unchanged
from vwlite.stream import missing
from vwlite.version import __version__

FORMAT = 1
MAGIC = b"vwlite cache\n\0\0\0"
TAIL = struct.Struct("<QQI4s")
END = b"vwlc"
# name, dtype, and which count of the batch, plus how many, its length is
COLUMNS = (
    ("label", "<f4", "rows", 0),
    ("importance", "<f4", "rows", 0),
    ("base", "<f4", "rows", 0),
    ("row_seg", "<u4", "rows", 1),
    ("seg_hash", "<u4", "segments", 0),
    ("seg_start", "<u4", "segments", 1),
    ("feature_hash", "<u4", "features", 0),
    ("value", "<f4", "values", 0),
    ("tag_start", "<u4", "tagged", 1),
    ("flags", "u1", "rows", 0),
    ("seg_char", "u1", "segments", 0),
    ("text", "u1", "bytes", 0),
)
COUNTS = ("offset", "rows", "segments", "features", "values", "tagged", "bytes", "crc")


def description(paths: list[str], format: TextFormat, kind: str) -> dict[str, Any]:
    """What a cache of these inputs, read this way, is made from. Raises InputMissing."""
    makes = format.makes_features
    return {
        "source": fingerprint(paths),
        "kind": kind,
        "hash_all": format.hash_all,
        "hash_seed": format.hash_seed,
        "strict": format.strict,
        "affix": [int(x) for x in format.affix] if makes else [],
        "spelling": format.spelling.tolist() if makes else [],
        "redefine": format.redefine.tolist() if makes else [],
        **({"words": True} if format.words else {}),
        **({"lists": True} if format.lists else {}),
        **({"groups": True} if format.groups else {}),
    }


class CacheWriter:
    """Writes batches beside ``path``; the file gets its name when all of them are there.

    With ``file``, open and without a name, they go there; ``path`` is for messages.
    """

    def __init__(self, path: str, made_from: dict[str, Any], limit: int = 0, file: BinaryIO | None = None) -> None:
        self.path = path
        self.lines = self.bad = 0  # of the text, to be counted by whoever adds the batches
        self.header = {"format": FORMAT, "writer": __version__, "made_from": made_from, "examples": limit}
        self.batches: list[list[int]] = []
        self.closing = ExitStack()
        self.file = file or self.closing.enter_context(atomic_output(path))
        self.write(MAGIC)
        self.offset = len(MAGIC)

    def add(self, batch: Batch, rows: int) -> None:
        """Write the first ``rows`` rows of a batch. Raises OutputError when the disk is full."""
        segments = int(batch.row_seg[rows])
        features = int(batch.seg_start[segments])
        tag_start, text = _gather_tags(batch, rows)
        plain = bool((batch.value[:features] == 1).all())
        counts = {
            "rows": rows,
            "segments": segments,
            "features": features,
            "values": 0 if plain else features,
            "tagged": len(tag_start) - 1,
            "bytes": len(text),
        }
        start, crc = self.offset, 0
        for name, dtype, count, more in COLUMNS:
            array = tag_start if name == "tag_start" else text if name == "text" else getattr(batch, name)
            data = np.ascontiguousarray(array[: counts[count] + more], dtype).tobytes()
            data += bytes(-len(data) % 8)
            crc = zlib.crc32(data, crc)
            self.write(data)
            self.offset += len(data)
        self.batches.append([start, *counts.values(), crc])

    def close(self) -> None:
        counts = {"lines": self.lines, "bad": self.bad}
        footer = json.dumps({**self.header, **counts, "batches": self.batches}, separators=(",", ":")).encode()
        self.write(footer + TAIL.pack(self.offset, len(footer), zlib.crc32(footer), END))
        self.file.flush()
        self.closing.close()

    def write(self, data: bytes) -> None:
        try:
            self.file.write(data)
        except OSError as error:
            raise OutputError(f"cannot write the cache {self.path}: {error.strerror or error}") from error

    def abort(self, error: BaseException) -> None:
        """Leave no file behind."""
        with suppress(type(error)):
            self.closing.__exit__(type(error), error, error.__traceback__)


def _gather_tags(batch: Batch, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """``(uint32[rows + 1], uint8[bytes])`` of the tags in a row; one offset only when there is no tag."""
    start, end = batch.tag_start[:rows].astype(np.int64), batch.tag_end[:rows].astype(np.int64)
    sizes = end - start
    if not sizes.any():
        return np.zeros(1, np.uint32), np.zeros(0, np.uint8)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    where = np.repeat(start - offsets[:-1], sizes) + np.arange(offsets[-1])
    return offsets.astype(np.uint32), np.frombuffer(batch.text, np.uint8)[where]


class Cache:
    """A cache opened for reading, memory-mapped. Every batch is verified when it is first read.

    Raises ModelError when the file is damaged, foreign or of another format, InputMissing when it is not there.
    """

    def __init__(self, path: str, file: BinaryIO | None = None) -> None:
        """``file``: an open file to map instead of ``path``, which is then for messages; it is closed."""
        self.path = path
        try:
            with file or open(path, "rb") as file:
                file.seek(0)
                size = os.fstat(file.fileno()).st_size
                if size < len(MAGIC) + TAIL.size or file.read(len(MAGIC)) != MAGIC:
                    raise self.damaged("it is not one of vwlite's")
                self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise missing(path, error) from None
        self.size = size
        self.footer = self._read_footer()
        self.batches = self._check_batches()
        self.lines, self.bad = self.footer["lines"], self.footer["bad"]  # of the text it was made from
        self.firsts = list(accumulate((batch["rows"] for batch in self.batches), initial=0))  # row of each batch
        self.verified = [False] * len(self.batches)
        self.ones = np.ones(max((batch["features"] for batch in self.batches), default=0), np.float32)

    def damaged(self, why: str) -> ModelError:
        return ModelError(f"the cache {self.path} cannot be used: {why}; -k makes it anew")

    def _read_footer(self) -> dict[str, Any]:
        offset, length, crc, end = TAIL.unpack_from(self.map, self.size - TAIL.size)
        if end != END or offset + length + TAIL.size != self.size or offset < len(MAGIC):
            raise self.damaged("it is truncated or damaged")
        data = self.map[offset : offset + length]
        if zlib.crc32(data) != crc:
            raise self.damaged("its list of batches is damaged")
        try:
            footer = json.loads(data)
            number = footer["format"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self.damaged("its list of batches is damaged") from None
        if number != FORMAT:
            raise self.damaged(f"it has format {number!r}, this version reads {FORMAT}")
        self.end = offset
        return footer

    def _check_batches(self) -> list[dict[str, int]]:
        """The counts of every batch, which together must fill the file exactly."""
        entries, offset = self.footer.get("batches"), len(MAGIC)
        counted = all(type(self.footer.get(name)) is int for name in ("lines", "bad"))
        if not isinstance(entries, list) or not isinstance(self.footer.get("made_from"), dict) or not counted:
            raise self.damaged("its list of batches is damaged")
        batches = []
        for entry in entries:
            if not _is_entry(entry):
                raise self.damaged("its list of batches is damaged")
            batch = dict(zip(COUNTS, entry, strict=True))
            partial = (("values", "features"), ("tagged", "rows"))  # none or all
            if batch["offset"] != offset or any(batch[part] not in (0, batch[all_]) for part, all_ in partial):
                raise self.damaged("its list of batches is damaged")
            offset += sum(_padded(dtype, batch[count] + more) for _, dtype, count, more in COLUMNS)
            batches.append(batch)
        if offset != self.end:
            raise self.damaged("its list of batches is damaged")
        return batches

    def serves(self, made_from: dict[str, Any], limit: int = 0) -> bool:
        """Whether this is the cache of these inputs, unchanged since, read in this way."""
        then, now = dict(self.footer["made_from"]), dict(made_from)
        same_source = unchanged(then.pop("source", []) or [], now.pop("source"))
        return same_source and then == now and self.footer.get("examples") == limit

    def __iter__(self) -> Iterator[Batch]:
        return (self._batch(number) for number in range(len(self.batches)))

    def _batch(self, number: int) -> Batch:
        counts = self.batches[number]
        offset, arrays = counts["offset"], {}
        for name, dtype, count, more in COLUMNS:
            length = counts[count] + more
            arrays[name] = np.frombuffer(self.map, dtype, length, offset)
            offset += _padded(dtype, length)
        if not self.verified[number]:
            self._verify(counts, arrays, memoryview(self.map)[counts["offset"] : offset])
            self.verified[number] = True
        offsets, rows = arrays.pop("tag_start"), counts["rows"]
        if not counts["values"]:
            arrays["value"] = self.ones[: counts["features"]]
        none = np.zeros(rows, np.uint32)
        starts, ends = (offsets[:-1], offsets[1:]) if counts["tagged"] else (none, none)
        tags = {"tag_start": starts, "tag_end": ends}
        return Batch(**arrays, **tags, first_line=self.firsts[number], line=np.arange(rows, dtype=np.uint32))

    def _verify(self, counts: dict[str, int], arrays: dict[str, np.ndarray], data: memoryview) -> None:
        """The checksum, and that every offset a kernel will follow stays within the batch."""
        limits = (("row_seg", "segments"), ("seg_start", "features"), ("tag_start", "bytes"))
        good = zlib.crc32(data) == counts["crc"]
        for name, limit in limits:
            steps = arrays[name]
            last = counts[limit] if name != "tag_start" or counts["tagged"] else 0
            good = good and steps[0] == 0 and steps[-1] == last and bool((steps[1:] >= steps[:-1]).all())
        if not good:
            raise self.damaged("a batch in it is damaged")

    def trust(self) -> None:
        """Skip verification: this process has just written the file."""
        self.verified = [True] * len(self.batches)

    @property
    def rows(self) -> int:
        return sum(batch["rows"] for batch in self.batches)


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, list) and len(entry) == len(COUNTS) and all(type(n) is int and n >= 0 for n in entry)


def _padded(dtype: str, length: int) -> int:
    return math.ceil(length * np.dtype(dtype).itemsize / 8) * 8
