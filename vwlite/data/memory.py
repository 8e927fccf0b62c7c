"""Lines of text in memory, as blocks to be parsed: the same batches as those of a file with this text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace

from vwlite.data.block_parser import Parsed, Parser, number_lines
from vwlite.data.blocks import SLACK, Block
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs, head
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError
from vwlite.storage.ordered_pool import in_order
from vwlite.storage.weight_table import PageToucher

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

    @property
    def described(self) -> str:
        return "the data"

    def size(self) -> int | None:
        return None

    def blocks(self) -> Iterator[Parsed]:
        left = self.config.examples or None
        with closing(self.read(self.config, self.format)) as parts:  # type: ignore[type-var]
            for part in parts:
                if self.pages and not part.block.size:  # a parser has told them of text
                    self.pages(part.batch.feature_hash)
                if left is not None and len(part.batch) >= left:
                    yield head(part, left)
                    return
                if left is not None:
                    left -= len(part.batch)
                yield part


def parsed_text(text: str | bytes | Iterable[Line], config: InputConfig, format: TextFormat) -> Iterator[Parsed]:
    """The batches of lines, which are one text or one line each. Raises UsageError for what is no text."""
    blocks = text_blocks(text, config.block_size)
    threads = 0 if isinstance(text, str | bytes) and len(text) <= config.block_size else config.threads - 1
    return number_lines(in_order(blocks, Parser(format, config.kind), threads))


def text_blocks(text: str | bytes | Iterable[Line], size: int) -> Iterator[Block]:
    """Blocks of whole lines, about ``size`` bytes each."""
    offset = 0
    for lines in pieces_of(text, size) if isinstance(text, str | bytes) else joined(text, size):
        data = bytearray(lines)
        if not data.endswith(b"\n"):
            data += b"\n"
        length = len(data)
        data += SLACK
        yield Block(data, length, TEXT, offset)
        offset += length


def pieces_of(text: str | bytes, size: int) -> Iterator[bytes]:
    data, begin = encoded(text), 0
    while begin < len(data):
        end = len(data) if len(data) - begin <= size else (data.rfind(b"\n", begin, begin + size) + 1)
        if end == 0:  # a line longer than a block
            end = data.find(b"\n", begin) + 1 or len(data)
        yield data[begin:end]
        begin = end


def joined(lines: Iterable[Line], size: int) -> Iterator[bytes]:
    """Lines put together, each with a newline."""
    waiting: list[bytes] = []
    length = 0
    for line in lines:
        data = encoded(line)
        waiting.append(data if data.endswith(b"\n") else data + b"\n")
        length += len(waiting[-1])
        if length >= size:
            yield b"".join(waiting)
            waiting, length = [], 0
    if waiting:
        yield b"".join(waiting)


def encoded(line: Line) -> bytes:
    if isinstance(line, str):
        return line.encode("utf-8", "surrogateescape")
    if isinstance(line, bytes):
        return line
    raise UsageError(f"a line of text is str or bytes, not {type(line).__name__}")
