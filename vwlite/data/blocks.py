"""Inputs cut into blocks of whole lines; digests and fingerprints that tell whether a file has changed."""

from __future__ import annotations

import os
import queue
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict

import numpy as np
from mmh3 import mmh3_x64_128

from vwlite._native.digest import WORDS, add, begin
from vwlite.config_check import JsonObject
from vwlite.data.config import BLOCK_SIZE
from vwlite.data.input_stream import display_name, missing_message, open_input
from vwlite.errors import DataError, UsageError
from vwlite.storage.output_checks import is_url

if TYPE_CHECKING:
    from vwlite.data.remote_input import RemoteStatus

HEAD = 1 << 16  # bytes at the start of a text; their digest alone tells most files apart
PIECE = 1 << 19  # bytes read together


class TextDigest(TypedDict):
    """A ``Mark`` as JSON data. ``whole``: there is no more of the text."""

    size: int
    digest: str
    head: str
    whole: bool


class Mark(NamedTuple):
    """The length of text read so far, and its digest."""

    size: int
    state: bytes
    head: str  # the digest of the first HEAD bytes; empty for less

    def as_json(self, whole: bool) -> TextDigest:
        return {"size": self.size, "digest": mmh3_x64_128(self.state).digest().hex(), "head": self.head, "whole": whole}


class Digest:
    """The running digest of a text."""

    def __init__(self) -> None:
        self.state, self.size, self.head = np.zeros(WORDS, np.uint64), 0, ""
        begin(self.state)

    def add(self, data: bytearray, size: int) -> None:
        """Go on with ``data[:size]``."""
        start = 0
        if self.size < HEAD <= self.size + size:
            start = HEAD - self.size
            add(self.state, data, 0, start)
            self.head = self.hex()
        add(self.state, data, start, size)
        self.size += size

    def mark(self) -> Mark:
        return Mark(self.size, self.state.tobytes(), self.head)

    def hex(self) -> str:
        return mmh3_x64_128(self.state).digest().hex()


NOTHING = Digest().mark()


def prefixes(path: str, sizes: set[int]) -> Iterator[tuple[int, str]]:
    """Size and digest of the text of ``path`` up to each of ``sizes``, from the smallest on, and at last of all of it.

    Raises as ``vwlite.data.input_stream.open_input`` and its reads do.
    """
    digest, buffer, left = Digest(), bytearray(PIECE), sorted(sizes, reverse=True)
    with open_input(path) as stream, memoryview(buffer) as view:
        while True:
            while left and left[-1] <= digest.size:
                yield left.pop(), digest.hex()
            size = min(left[-1] - digest.size, PIECE) if left else PIECE
            got = stream.readinto(view[:size])
            if not got:
                break
            digest.add(view, got)
    yield digest.size, digest.hex()


def is_unchanged_text(path: str, then: TextDigest) -> bool:
    """Whether the text of ``path`` begins with the text digested then, and if that was whole, has nothing after it."""
    for size, digest in prefixes(path, {then["size"]}):
        if size < then["size"] or (size == then["size"] and digest != then["digest"]):
            return False
        if size == then["size"] and not then["whole"]:
            return True
    return size == then["size"]


__all__ = ["Block", "Buffers", "blocks", "check_inputs", "file_size", "fingerprint", "open_input", "same_file"]

SLACK = bytes(64)  # after the last newline: the parser reads whole vectors and may read beyond it
NEWLINE = 10
# Resolution of a file system's times of change, ns: two changes within it may have the same time.
FINE, COARSE = 20_000_000, 3_000_000_000


class Layout(Protocol):
    """How the columns of a file are read, such as ``vwlite.data.csv_table.CsvTable``."""

    def arguments(self, block: Block) -> tuple[Any, ...]:
        """The arguments of the native parser beside the block."""

    def advice(self, code: int, line: bytes, column: int) -> str:
        """Advice on an issue at this byte of a line."""


@dataclass(slots=True, eq=False, repr=False)
class Block:
    """Whole lines of one file: ``data[:size]`` ends with a newline, 64 zero bytes follow it."""

    data: bytearray  # uint8[size + 64 or more]
    size: int
    path: str  # for messages, "<stdin>" for standard input
    offset: int  # of data[0] in the (decompressed) file; 0 marks the first block of a file
    mark: Mark | None = None  # of the text up to the block's end, where that is digested
    layout: Layout | None = None  # of a table: how its columns are read
    unended: bool = False  # whether the file ends without a newline, which was added
    met: bytearray | None = None  # of lines of JSON: which columns of the layout they have, once they are parsed


def _stat(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except (OSError, ValueError) as error:
        raise missing_message(path, error) from None


def check_inputs(paths: Sequence[str]) -> None:
    """Open the regular files among ``paths`` and close them, and look for URLs, so that errors are raised before a long
    run.
    """
    if paths.count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    for path in paths:
        if path == "-":
            continue
        if is_url(path):
            _remote_status(path)
            continue
        mode = _stat(path).st_mode
        # A pipe must not be opened twice; nor /dev/stdin, whose position BSD shares.
        if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and not path.startswith("/dev/")):
            open_input(path).close()


def file_size(path: str) -> int | None:
    """Bytes of a regular file or a URL; None when that is unknown."""
    if is_url(path):
        return _remote_status(path).size
    return os.path.getsize(path) if path != "-" and os.path.isfile(path) else None


class Buffers:
    """Reusable buffers for blocks of ``size`` bytes: allocating new memory takes as long as reading the block."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.free: queue.SimpleQueue[bytearray] = queue.SimpleQueue()

    def take(self) -> bytearray:
        try:
            return self.free.get_nowait()
        except queue.Empty:
            return bytearray(self.size + len(SLACK))

    def give(self, data: bytearray) -> None:
        """Return a block's ``data`` for reuse, unless it was enlarged for a long line."""
        if len(data) == self.size + len(SLACK):
            self.free.put(data)


def blocks(
    paths: Sequence[str],
    size: int = BLOCK_SIZE,
    max_line: int | None = None,
    buffers: Buffers | None = None,
    marks: bool = False,
    groups: bool = False,
) -> Iterator[Block]:
    """Blocks of about ``size`` bytes of whole lines, file after file, in order.

    A last line without newline gets one. A line longer than a block makes the block grow; with
    ``max_line`` one of more than ``max(max_line, size - 1)`` bytes raises DataError. Lines that have
    arrived on a pipe are yielded as soon as reading more would wait. All inputs are checked at the
    call, before the first is read. The caller returns the data of used blocks to ``buffers``, which are of the same
    ``size``. With ``marks`` the texts are digested. With ``groups``, full blocks end at a blank line if they have one.
    """
    check_inputs(paths)
    buffers = buffers or Buffers(size)
    opened = ((display_name(path), partial(open_input, path)) for path in paths)
    streams = (stream_blocks(*stream, buffers, max_line, Digest() if marks else None, groups) for stream in opened)
    return (block for stream in streams for block in stream)


def stream_blocks(
    name: str,
    opens: Callable[[], Any],
    buffers: Buffers,
    max_line: int | None = None,
    digest: Digest | None = None,
    groups: bool = False,
) -> Iterator[Block]:
    """The blocks of one input, as ``blocks`` has them; ``name`` is its name in messages."""
    max_bytes = None if max_line is None else max(max_line + 1, buffers.size)
    offset = 0
    rest = bytearray()  # the unfinished line, or group of lines, behind the last block
    with opens() as stream:
        while True:
            capacity = max(buffers.size, len(rest))
            buffer = buffers.take() if capacity == buffers.size else bytearray(capacity + len(SLACK))
            buffer[: len(rest)] = rest
            cut, end = _fill(stream, buffer, len(rest), capacity, max_bytes, groups)
            if cut < 0:
                raise DataError(f"{name}: the line at byte {offset} has more than {max_bytes - 1} bytes")
            if not cut:
                break
            rest = buffer[cut:end]
            mark = _marked(digest, buffer, cut)
            yield _block(buffer, cut, name, offset, mark)
            offset += cut
    if end:
        mark = _marked(digest, buffer, end)
        if unended := buffer[end - 1] != NEWLINE:
            buffer[end] = NEWLINE
            end += 1
        last = _block(buffer, end, name, offset, mark)
        last.unended = unended
        yield last


def _marked(digest: Digest | None, buffer: bytearray, size: int) -> Mark | None:
    """Digest ``buffer[:size]`` now, while it is in the processor's caches."""
    if digest is None:
        return None
    digest.add(buffer, size)
    return digest.mark()


def _block(buffer: bytearray, size: int, name: str, offset: int, mark: Mark | None) -> Block:
    buffer[size : size + len(SLACK)] = SLACK
    return Block(buffer, size, name, offset, mark)


def _fill(
    stream: Any, buffer: bytearray, end: int, capacity: int, max_bytes: int | None, groups: bool = False
) -> tuple[int, int]:
    """Read more after ``buffer[:end]``, an unfinished line, until ``capacity`` bytes are there or reading would wait.

    Returns the end of the last whole line, 0 at the end of the input, -1 when the line is too long;
    and the end of the bytes read. With ``groups``, ``buffer[:end]`` may be an unfinished group, and a full buffer is
    cut at its last blank line.
    """
    start = 0 if groups else end  # no newline before
    while True:
        if end == capacity or not stream.ready():
            if groups and end == capacity and (cut := buffer.rfind(b"\n\n", start, end) + 2) > 1:
                return cut, end
            if cut := buffer.rfind(b"\n", start, end) + 1:
                return cut, end
            start = end
        if end == capacity:
            if max_bytes is not None and end >= max_bytes:
                return -1, end
            capacity = 2 * end if max_bytes is None else min(2 * end, max_bytes)
            buffer += bytes(capacity + len(SLACK) - len(buffer))
        with memoryview(buffer) as whole, whole[end:capacity] as free:
            got = stream.readinto(free)
        end += got
        if not got:
            return 0, end


def fingerprint(paths: Sequence[str]) -> list[JsonObject | None]:
    """Status of files by which a later call can tell, without reading them, that they are unchanged.

    None for a path that is not a regular file. A URL has a size and, of object stores, an ``etag``; without one it is
    not ``settled``. A rewrite changes the change time, which cannot be set, or the inode,
    even if size and modification time are restored. Only a rewrite within the resolution of the file system's clock
    leaves the change time as it was: a file changed so shortly before is not ``settled``, and its content has to be
    compared. Take the fingerprint before reading, so that a change while reading is noticed too. Raises InputMissing.
    """
    return [_fingerprint_of(path) for path in paths]


def same_file(then: JsonObject, now: JsonObject | None) -> bool:
    """Whether two fingerprints are of the same file, unchanged where the earlier one is settled."""
    return now is not None and all(then.get(name) == value for name, value in now.items() if name != "settled")


def _remote_status(path: str) -> RemoteStatus:
    from vwlite.data.remote_input import remote_status  # which files need not

    return remote_status(path)


def _fingerprint_of(path: str) -> JsonObject | None:
    if is_url(path):
        size, etag = _remote_status(path)
        return {"path": path, "size": size, **({"etag": etag} if etag else {}), "settled": etag is not None}
    if path == "-" or not stat.S_ISREG((status := _stat(path)).st_mode):
        return None
    changed = max(status.st_ctime_ns, status.st_mtime_ns)
    # A whole number of milliseconds: the file system's clock seems to count seconds.
    resolution = FINE if status.st_ctime_ns % 1_000_000 else COARSE
    return {
        "path": path,
        "size": status.st_size,
        "mtime_ns": status.st_mtime_ns,
        "ctime_ns": status.st_ctime_ns,
        "inode": status.st_ino,
        "settled": time.time_ns() - changed > resolution,
    }
