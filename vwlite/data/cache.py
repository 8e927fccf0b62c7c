"""The cache: parsed batches in one file, hashes unmasked, so that one serves every ``-b``, ``-q`` and learner.

Layout, little-endian: ``MAGIC``; the batches as ``vwlite/data/block_parser.py`` packs them; a JSON footer that lists
the batches and says what the cache was made from; ``TAIL``: offset, size and CRC of the footer, and ``END``.
"""

from __future__ import annotations

import json
import mmap
import os
import queue
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import accumulate
from typing import Any, BinaryIO

import numpy as np

from vwlite.config_check import JsonObject, fits
from vwlite.data.batch import Batch
from vwlite.data.block_parser import COUNTS, Packed, unpack_batch, unpacked_size
from vwlite.data.blocks import TextDigest, fingerprint, is_unchanged_text, same_file
from vwlite.data.config import InputConfig
from vwlite.data.input_stream import missing_message
from vwlite.data.text_format import TextFormat
from vwlite.errors import ModelError, OutputError
from vwlite.storage.atomic_file import Flusher, atomic_output
from vwlite.storage.ordered_pool import in_order
from vwlite.version import __version__

FORMAT = 3
# Batches unpacked ahead, beside one for each thread. Their slots are prefetched; with more batches ahead these would be
# evicted from the processor's caches before they are learned.
AHEAD = 1
MAGIC = b"vwlite cache\n\0\0\0"
TAIL = struct.Struct("<QQI4s")
END = b"vwlc"
ENTRY = (*COUNTS, "offset", "size", "crc")  # of a batch in the footer


def description(input: InputConfig, format: TextFormat) -> JsonObject:
    """The inputs and the options of parsing that decide a cache's contents, as JSON data. Raises InputMissing."""
    makes = format.makes_features
    return {
        "source": fingerprint(input.paths),
        "kind": input.kind,
        "hash_all": format.hash_all,
        "hash_seed": format.hash_seed,
        "strict": format.skip_malformed,
        "affix": [int(x) for x in format.affix] if makes else [],
        "spelling": format.spelling.tolist() if makes else [],
        "redefine": format.redefine.tolist() if makes else [],
        **({"columns": input.columns} if input.columns else {}),
        **({"words": 2} if format.words else {}),  # 1: files are not marked
        **({"lists": True} if format.lists else {}),
        **({"groups": True} if format.groups else {}),
        **({"bare": True} if format.bare else {}),
    }


class CacheWriter:
    """Writes batches beside ``path``; the file gets its name when all of them are there.

    With ``file``, open and without a name, they go there; ``path`` is for messages.
    """

    def __init__(self, path: str, made_from: JsonObject, limit: int = 0, file: BinaryIO | None = None) -> None:
        self.path = path
        self.lines = self.bad = 0  # lines of the text and malformed ones; the caller counts them
        self.header = {"format": FORMAT, "writer": __version__, "made_from": made_from, "examples": limit}
        self.batches: list[list[int]] = []
        self.closing = ExitStack()
        self.file = file or self.closing.enter_context(atomic_output(path))
        self.flusher = None if file else Flusher(self.file)  # a file without a name need not reach the disk
        self.write(MAGIC)
        self.offset = len(MAGIC)

    def add(self, packed: Packed) -> None:
        """Write a batch. Raises OutputError when the disk is full."""
        self.write(packed.data)
        self.batches.append([*packed.counts.values(), self.offset, len(packed.data), packed.crc])
        self.offset += len(packed.data)

    def close(self, contents: JsonObject | None = None) -> None:
        """Write the footer. ``contents``: digests of the files that were read, by path, from ``Mark.as_json``."""
        counts = {"lines": self.lines, "bad": self.bad, "contents": contents or {}}
        footer = json.dumps({**self.header, **counts, "batches": self.batches}, separators=(",", ":")).encode()
        self.write(footer + TAIL.pack(self.offset, len(footer), zlib.crc32(footer), END))
        with self.explained():
            self.file.flush()
            if self.flusher:
                self.flusher.finish()
        self.closing.close()

    def write(self, data: bytes) -> None:
        with self.explained():
            self.file.write(data)
            if self.flusher:
                self.flusher.wrote(len(data))

    @contextmanager
    def explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(f"cannot write the cache {self.path}: {error.strerror or error}") from error

    def abort(self, error: BaseException) -> None:
        """Leave no file behind."""
        with suppress(OSError):
            if self.flusher:
                self.flusher.finish()
        with suppress(type(error), OSError, OutputError):
            self.closing.__exit__(type(error), error, error.__traceback__)


class Cache:
    """A cache opened for reading. Every batch's checksum is verified when it is first read.

    Raises ModelError when the file is damaged, foreign or of another format, InputMissing when it is not there.
    """

    def __init__(self, path: str, file: BinaryIO | None = None) -> None:
        """``file``: an open file to read instead of ``path``, which is then for messages; it is closed with this."""
        self.path = path
        with ExitStack() as closing:  # if anything fails
            try:
                self.file = closing.enter_context(open(path, "rb")) if file is None else closing.enter_context(file)
                self.size = os.fstat(self.file.fileno()).st_size
            except OSError as error:
                raise missing_message(path, error) from None
            if self.size < len(MAGIC) + TAIL.size or self.bytes_at(0, len(MAGIC)) != MAGIC:
                raise self.damaged("it is not one of vwlite's")
            self.footer = self._read_footer()
            self.batches = self._check_batches()
            self.lines, self.bad = self.footer["lines"], self.footer["bad"]  # of the text it was made from
            self.contents: dict[str, TextDigest] = self.footer.get("contents", {})
            if not fits(self.contents, dict[str, TextDigest]):
                raise self.damaged("what it says of its texts is damaged")
            closing.pop_all()
        self.firsts = list(accumulate((batch["rows"] for batch in self.batches), initial=0))  # row of each batch
        self.verified = [False] * len(self.batches)
        self.free: queue.SimpleQueue[np.ndarray] = queue.SimpleQueue()

    def close(self) -> None:
        self.file.close()

    def bytes_at(self, offset: int, size: int) -> bytes:
        try:
            data = os.pread(self.file.fileno(), size, offset)
        except OSError as error:
            raise self.damaged(f"reading failed: {error.strerror}") from None
        if len(data) != size:
            raise self.damaged("it is cut short")
        return data

    def damaged(self, why: str) -> ModelError:
        return ModelError(f"the cache {self.path} cannot be used: {why}; -k writes it again")

    def _read_footer(self) -> JsonObject:
        offset, length, crc, end = TAIL.unpack(self.bytes_at(self.size - TAIL.size, TAIL.size))
        if end != END or offset + length + TAIL.size != self.size or offset < len(MAGIC):
            raise self.damaged("it is truncated or damaged")
        data = self.bytes_at(offset, length)
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
            batch = dict(zip(ENTRY, entry, strict=True))
            # Each number takes a bit or more: a damaged count cannot make a reader allocate far too much.
            if batch["offset"] != offset or max(batch[name] for name in COUNTS) > 8 * batch["size"]:
                raise self.damaged("its list of batches is damaged")
            offset += batch["size"]
            batches.append(batch)
        if offset != self.end:
            raise self.damaged("its list of batches is damaged")
        return batches

    def serves(self, made_from: JsonObject, limit: int = 0) -> bool:
        """Whether the cache was made from these inputs, parsed so, and they are unchanged. Raises as reading them."""
        then, now = dict(self.footer["made_from"]), dict(made_from)
        before, after = then.pop("source", []) or [], now.pop("source")
        if then != now or self.footer.get("examples") != limit or len(before) != len(after):
            return False
        return all(map(self.is_unchanged, before, after))

    def is_unchanged(self, then: JsonObject | None, now: JsonObject | None) -> bool:
        if not isinstance(then, dict) or now is None or not same_file(then, now):
            return False
        path = now["path"]
        return then.get("settled") is True or (path in self.contents and is_unchanged_text(path, self.contents[path]))

    def read(self, threads: int = 1, prefetch: Callable[[np.ndarray], None] | None = None) -> Iterator[Batch]:
        """The batches in order, with ``threads`` > 1 unpacked by another thread while earlier ones are in use.

        That thread calls ``prefetch`` with the hashes of each batch, uint32[features].

        Call ``release`` of each batch when it is no longer used: its arrays are filled again.
        """
        unpackers = min(threads, 2) - 1
        function = partial(self.read_one, prefetch=prefetch if unpackers else None)
        return in_order(iter(range(len(self.batches))), function, unpackers, AHEAD)

    def read_one(self, number: int, prefetch: Callable[[np.ndarray], None] | None = None) -> Batch:
        """A batch in a buffer that was released, if there is one."""
        size = unpacked_size(self.batches[number])
        try:
            buffer = self.free.get_nowait()
        except queue.Empty:
            buffer = np.empty(0, np.uint8)
        if len(buffer) < size:
            buffer = np.empty(size + size // 8, np.uint8)
        batch = self.unpacked(number, buffer)
        batch.release = lambda: self.free.put(buffer)
        if prefetch:
            prefetch(batch.feature_hash)
        return batch

    def whole(self) -> list[Batch]:
        """Read all batches at once, in memory of their own."""
        sizes = [unpacked_size(counts) for counts in self.batches]
        buffer, starts = allocate_spillable(sum(sizes)), accumulate(sizes, initial=0)
        return [self.unpacked(number, buffer[start:]) for number, start in zip(range(len(sizes)), starts, strict=False)]

    def unpacked(self, number: int, buffer: np.ndarray) -> Batch:
        counts = self.batches[number]
        data = self.bytes_at(counts["offset"], counts["size"])
        try:
            if not self.verified[number] and zlib.crc32(data) != counts["crc"]:
                raise ValueError("wrong checksum")
            batch = unpack_batch(data, counts, buffer)
        except ValueError:
            raise self.damaged("a batch in it is damaged") from None
        self.verified[number] = True
        batch.first_line = self.firsts[number]
        return batch

    def trust(self) -> None:
        """Skip verification: this process has just written the file."""
        self.verified = [True] * len(self.batches)

    @property
    def rows(self) -> int:
        return sum(batch["rows"] for batch in self.batches)


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, list) and len(entry) == len(ENTRY) and all(type(n) is int and n >= 0 for n in entry)


MAX_MEMORY_BYTES = 1 << 26  # smaller buffers are ordinary memory


def allocate_spillable(size: int) -> np.ndarray:
    """uint8[size]; a large one is a mapped temporary file without a name.

    Raises OutputError when neither disk nor memory has so much space.
    """
    import tempfile

    try:
        if size <= MAX_MEMORY_BYTES or not hasattr(os, "posix_fallocate"):
            return np.zeros(size, np.uint8)
        with tempfile.TemporaryFile(prefix="vwlite-") as file:
            # Reserve the space now: on a full disk a later write to the mapped memory would kill the process.
            os.posix_fallocate(file.fileno(), 0, size)
            return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)
    except (OSError, MemoryError) as error:
        why = getattr(error, "strerror", None) or "not enough memory"
        raise OutputError(
            f"no room for {size} bytes of examples in random order: {why}; TMPDIR=FOLDER takes another disk"
        ) from error
