"""Shards: the inputs, laid end to end, cut at equal places."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from vwlite.data.input_stream import Decompressed, display_name, missing, open_input
from vwlite.errors import UsageError
from vwlite.storage.output_checks import is_url

SEARCHED = 1 << 16  # bytes looked through together for the end of a line


class Piece(NamedTuple):
    """Bytes of a file, which had ``size`` and ``mtime_ns`` when the plan was made; all of a compressed one."""

    path: str
    begin: int
    end: int
    size: int
    mtime_ns: int
    compressed: bool = False

    @property
    def name(self) -> str:
        """For messages, whose lines are counted from there."""
        return f"{self.path} from byte {self.begin}" if self.begin else self.path


class Shard(NamedTuple):
    """The part ``number``, from 1, of ``of``."""

    number: int
    of: int
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        return sum(piece.end - piece.begin for piece in self.pieces)


def plan(paths: Sequence[str], of: int) -> list[Shard]:
    """The shards of these files.

    A line belongs to the shard in which its first byte lies, a compressed file to the one in which its middle lies.
    Raises InputMissing, UsageError for standard input, pipes and URLs, InputDamaged.
    """
    found = [whole(path) for path in paths]
    total = sum(piece.end for piece in found)
    cuts = [total * number // of for number in range(of + 1)]
    shards: list[list[Piece]] = [[] for _ in range(of)]
    start = 0
    for piece in found:
        for number, part in parts(piece, [cut - start for cut in cuts]):
            shards[number].append(part)
        start += piece.end
    return [Shard(number, of, tuple(pieces)) for number, pieces in enumerate(shards, 1)]


def whole(path: str) -> Piece:
    """A file as a single piece."""
    try:
        status = None if is_url(path) else os.stat(path)
    except (OSError, ValueError) as error:
        if path != "-":
            raise missing(path, error) from None
        status = None
    if status is None or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise UsageError(f"shards are parts of files, which {display_name(path)} is not: write it to one first")
    with open_input(path) as stream:
        compressed = isinstance(stream, Decompressed)
    return Piece(path, 0, status.st_size, status.st_size, status.st_mtime_ns, compressed)


def parts(piece: Piece, cuts: list[int]) -> Iterator[tuple[int, Piece]]:
    """What of a file lies between each two of ``cuts``, which count from its first byte; empty parts are left out."""
    size = piece.size
    if piece.compressed:
        middle = size // 2
        number = next(i for i in range(len(cuts) - 1) if cuts[i] <= middle < cuts[i + 1] or i == len(cuts) - 2)
        yield number, piece
        return
    with open(piece.path, "rb") as file:
        places = [line_start(file, min(max(cut, 0), size), size) for cut in cuts]
    for number, (begin, end) in enumerate(pairwise(places)):
        if begin < end:
            yield number, piece._replace(begin=begin, end=end)


def line_start(file: object, place: int, size: int) -> int:
    """Where the first line begins that does not begin before ``place``."""
    if not 0 < place < size:
        return place
    file.seek(place - 1)  # type: ignore[attr-defined]
    place -= 1
    while text := file.read(SEARCHED):  # type: ignore[attr-defined]
        if (newline := text.find(b"\n")) >= 0:
            return place + newline + 1
        place += len(text)
    return size
