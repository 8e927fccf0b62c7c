"""Lines of text that are held in memory, as parsed batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from vwlite.data.batch import Batch
from vwlite.data.block_parser import Parsed, Parser
from vwlite.data.blocks import SLACK, Block
from vwlite.data.config import BLOCK_SIZE
from vwlite.data.parse_errors import SENTENCES, excerpt, hint
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError
from vwlite.storage.ordered_pool import in_order


def line_batches(
    lines: Iterable[Any], format: TextFormat, kind: str = "vw", *, threads: int = 1, block_size: int = BLOCK_SIZE
) -> Iterator[Batch]:
    """The rows of ``lines``, texts or bytes with or without a newline at the end; blank ones are rows too.

    Call ``release`` of each batch when it is no longer used. Raises DataError, which names row and column from 0, for
    what is no line and for a malformed one.
    """
    row = 0
    for part in in_order(blocks_of(lines, block_size), Parser(format, kind), threads - 1):
        if part.issues:
            raise malformed(part, row)
        part.batch.first_line = row
        yield part.batch
        row += part.lines


def blocks_of(lines: Iterable[Any], block_size: int) -> Iterator[Block]:
    """Blocks of ``block_size`` bytes or one line more. Raises DataError for what is no line."""
    parts: list[bytes] = []
    size = 0
    for row, line in enumerate(lines):
        parts.append(encoded(line, row))
        size += len(parts[-1]) + 1
        if size >= block_size:
            yield block_of(parts)
            parts, size = [], 0
    if parts:
        yield block_of(parts)


def block_of(lines: list[bytes]) -> Block:
    data = bytearray(b"\n").join([*lines, SLACK])
    return Block(data, len(data) - len(SLACK), "", 0)


def encoded(line: Any, row: int) -> bytes:
    """A line without its newline. Raises DataError."""
    if isinstance(line, str):
        line = line.encode("utf-8", "surrogateescape")
    elif not isinstance(line, bytes):
        raise DataError(f"row {row}: expected a line of text, not {type(line).__name__}")
    line = line.removesuffix(b"\n")
    if b"\n" in line:
        raise DataError(f"row {row}: there is a line break within the line: {excerpt(line, line.index(10))}")
    return line


def malformed(part: Parsed, row: int) -> DataError:
    """The error for the first malformed line of a part, whose first line is ``row``."""
    issue = part.issues[0]
    data = part.block.data
    start = data.rfind(b"\n", 0, issue.at) + 1
    line, column = bytes(data[start : data.find(b"\n", issue.at)]), issue.at - start
    advice = hint(issue.code, line)
    return DataError(
        f"row {row + issue.line}, column {column}: {SENTENCES[issue.code]}{advice}: {excerpt(line, column)}"
    )
