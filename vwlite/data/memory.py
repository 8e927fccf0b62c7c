"""Lines of text and rows of features that are held in memory, as parsed batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from vwlite.data.batch import TABLE, Batch
from vwlite.data.block_parser import Parsed, Parser, make_parser, number_lines
from vwlite.data.blocks import SLACK, Block
from vwlite.data.columns import read_columns
from vwlite.data.config import BLOCK_SIZE, COLUMNAR, DELIMITERS, TABLES, InputConfig
from vwlite.data.dataset import Inputs, first_rows
from vwlite.data.table_formats import lay_out
from vwlite.data.tables import Table
from vwlite.data.text_format import SENTENCES, TextFormat, excerpt, hint_of
from vwlite.errors import DataError, UsageError
from vwlite.storage.ordered_pool import in_order
from vwlite.storage.weight_table import PageToucher


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
            raise malformed_error(part, row)
        part.batch.first_line = row
        yield part.batch
        row += part.lines


def blocks_of(lines: Iterable[Any], block_size: int) -> Iterator[Block]:
    """Blocks of ``block_size`` bytes or one line more. Raises DataError for what is no line."""
    parts: list[bytes] = []
    size = 0
    for row, line in enumerate(lines):
        parts.append(encode_line(line, row))
        size += len(parts[-1]) + 1
        if size >= block_size:
            yield block_of(parts)
            parts, size = [], 0
    if parts:
        yield block_of(parts)


def block_of(lines: list[bytes]) -> Block:
    data = bytearray(b"\n").join([*lines, SLACK])
    return Block(data, len(data) - len(SLACK), "", 0)


def encode_line(line: Any, row: int) -> bytes:
    """A line without its newline. Raises DataError."""
    if isinstance(line, str):
        line = line.encode("utf-8", "surrogateescape")
    elif not isinstance(line, bytes):
        raise DataError(f"row {row}: expected a line of text, not {type(line).__name__}")
    line = line.removesuffix(b"\n")
    if b"\n" in line:
        raise DataError(f"row {row}: there is a line break within the line: {excerpt(line, line.index(10))}")
    return line


def malformed_error(part: Parsed, row: int) -> DataError:
    """The error for the first malformed line of a part, whose first line is ``row``."""
    issue = part.issues[0]
    data = part.block.data
    start = data.rfind(b"\n", 0, issue.at) + 1
    line, column = bytes(data[start : data.find(b"\n", issue.at)]), issue.at - start
    advice = hint_of(issue.code, line)
    return DataError(
        f"row {row + issue.line}, column {column}: {SENTENCES[issue.code]}{advice}: {excerpt(line, column)}"
    )


TEXT = "<text>"  # in messages, in place of a file
Line = str | bytes


class MemoryInputs(Inputs):
    """Batches of data in memory, for any number of passes; those after the first read a temporary cache."""

    def __init__(
        self,
        read: Callable[[InputConfig, TextFormat], Iterator[Parsed]],
        config: InputConfig,
        format: TextFormat,
        several_passes: bool = False,
        digested: bool = False,
        pages: PageToucher | None = None,
    ) -> None:
        """``read`` makes the batches of the first pass."""
        super().__init__(replace(config, paths=()), format, several_passes, pages=pages)
        self.read = read

    def look_at_columns(self) -> None:
        """Do nothing: there is no file."""

    @property
    def description(self) -> str:
        return "the data"

    def size(self) -> int | None:
        return None

    def blocks(self) -> Iterator[Parsed]:
        left = self.config.examples or None
        with closing(self.read(self.config, self.format)) as parts:  # type: ignore[type-var]
            for part in parts:
                if self.pages and not part.block.size:  # of text the parser has done so
                    self.pages(part.batch.feature_hash)
                if left is not None and len(part.batch) >= left:
                    yield first_rows(part, left)
                    return
                if left is not None:
                    left -= len(part.batch)
                yield part


class TableInputs(MemoryInputs):
    """Batches of a table, which are learned again in later passes; without names, as those of a cache are.

    Of a table that can be read but once they are read from a temporary cache.
    """

    def __init__(
        self,
        read: Callable[[InputConfig, TextFormat], Table],
        config: InputConfig,
        format: TextFormat,
        several_passes: bool = False,
        digested: bool = False,
        pages: PageToucher | None = None,
    ) -> None:
        """``read`` opens the table. Raises as ``table_batches``."""
        table = read(config, format)
        self.keeps = several_passes and table.replayable
        self.again: list[Batch] | None = None  # None: not all of them were read
        several_passes = several_passes and not self.keeps
        super().__init__(lambda *how: parsed_rows(table), config, format, several_passes, digested, pages)

    @property
    def ready(self) -> bool:
        return self.again is not None or super().ready

    def texts(self) -> Iterator[Parsed]:
        lines_read = []
        for part in super().texts():
            if self.keeps:
                lines_read.append(copy_writable(replace(part.batch, names=None, path=TABLE)))
            yield part
        self.again = lines_read if self.keeps else None

    def cached(self) -> Iterator[Batch]:
        return super().cached() if self.again is None else map(copy_writable, self.again)

    def kept(self) -> list[Batch]:
        return super().kept() if self.again is None else self.again

    def close(self) -> None:
        super().close()
        self.again = None


def copy_writable(batch: Batch) -> Batch:
    """A copy of what learners and policies write to; the features are the same arrays."""
    changed = {name: getattr(batch, name).copy() for name in ("label", "importance", "initial_prediction", "flags")}
    return replace(batch, **changed)


def parsed_text(text: str | bytes | Iterable[Line], config: InputConfig, format: TextFormat) -> Iterator[Parsed]:
    """The batches of lines, which are one text or one line each. Raises DataError for what is no line, UsageError."""
    columns = read_columns(config.columns)
    if config.kind in COLUMNAR or (config.kind in DELIMITERS and not columns.is_typed):
        raise UsageError(f"{config.kind} is read from files: name a Path")
    blocks = text_blocks(text, config.block_size)
    if config.kind in TABLES:
        blocks = lay_out(blocks, config.kind, columns, format)
    threads = 0 if isinstance(text, str | bytes) and len(text) <= config.block_size else config.threads - 1
    return number_lines(in_order(blocks, make_parser(format, config.kind), threads))


def no_batches(config: InputConfig, *args: Any) -> MemoryInputs:
    """Inputs of a run that is given its batches otherwise."""
    return MemoryInputs(lambda config, format: iter(()), config, *args)


def parsed_rows(table: Table) -> Iterator[Parsed]:
    for batch in table:
        yield Parsed(batch, Block(bytearray(), 0, TABLE, batch.first_line), batch.first_line, len(batch), [])


def text_blocks(text: str | bytes | Iterable[Line], size: int) -> Iterator[Block]:
    """Blocks of whole lines, about ``size`` bytes each. Raises DataError for what is no line."""
    offset = 0
    whole = isinstance(text, str | bytes)
    for block in map(block_of, pieces_of(text, size)) if whole else blocks_of(text, size):
        yield replace(block, path=TEXT, offset=offset)
        offset += block.size


def pieces_of(text: str | bytes, size: int) -> Iterator[list[bytes]]:
    """The text cut at newlines, each piece without its last one."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    begin, end = 0, len(data)
    while begin < end:
        cut = data.rfind(b"\n", begin, begin + size) if end - begin > size else end
        cut = data.find(b"\n", begin) if cut < 0 else cut
        cut = end if cut < 0 else cut
        yield [data[begin:cut].removesuffix(b"\n") if cut == end else data[begin:cut]]
        begin = cut + 1
