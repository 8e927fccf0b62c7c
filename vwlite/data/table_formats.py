"""The text formats of tables: what their inputs are looked at for before they are parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from vwlite.data.blocks import Block
from vwlite.data.columns import Columns, read_columns
from vwlite.data.config import InputConfig
from vwlite.data.csv_table import DELIMITERS, CsvTable, first_look, header_of
from vwlite.data.identifiers import identifiers
from vwlite.data.json_table import JsonTable
from vwlite.data.text_format import TextFormat, parser_of

COLUMNAR = ("arrow", "parquet")  # files that are no text
TABLES = (*DELIMITERS, "jsonl", *COLUMNAR)
HEAD = 1 << 16  # bytes at the start of the first file whose cells tell the types of columns


def looked_at(
    kind: str, columns: Columns, source: str, head: Callable[[int, int, int], bytes]
) -> tuple[Columns, Columns]:
    """What is found out of the columns ``columns``, and what a model keeps of that.

    ``head`` gives the first lines of the inputs, as ``OpenedInputs.head``. Raises DataError.
    """
    if kind not in DELIMITERS:
        return columns, columns
    lines = 1 if columns.is_typed else 0
    found = first_look(head(HEAD, lines, least_lines(columns)), DELIMITERS[kind], columns, source)
    return found, found.kept(columns)


def possible_identifiers(
    kind: str, found: Columns, asked: Columns, head: Callable[[int, int, int], bytes]
) -> list[str]:
    """Columns that were taken for numbers; ``found`` and ``head`` as in ``looked_at``."""
    if kind not in DELIMITERS or asked.is_typed:
        return []
    return identifiers(head(HEAD, 0, least_lines(found)), DELIMITERS[kind], found, asked)


def least_lines(columns: Columns) -> int:
    """How many lines a table of cells must have to tell something of its columns."""
    return 1 if columns.headed is False else 2


def layout_of(text: bytes, kind: str, columns: Columns, format: TextFormat, source: str) -> CsvTable | JsonTable:
    """How a file that begins with ``text`` is read. Raises DataError, UsageError."""
    if kind not in DELIMITERS:
        return JsonTable(columns, format)
    header = header_of(text, DELIMITERS[kind], source, columns.headed)
    return CsvTable(header, columns, DELIMITERS[kind], format, source)


def head_parser(head: bytes, config: InputConfig, format: TextFormat) -> Callable[..., Any]:
    """What parses the first lines of the first file for their labels; ``config`` as it is read."""
    parse = parser_of(config.kind)
    if config.kind not in TABLES:
        return parse
    columns = read_columns(config.columns)
    roles = {role: one for role, one in columns.roles.items() if role == "label"}
    layout = layout_of(head, config.kind, replace(columns, roles=roles), format, "")
    first = layout.arguments(Block(bytearray(), 0, "", 0))

    def parse_head(*arguments: Any) -> Any:
        return parse(*arguments, *first)

    return parse_head


def laid_out(source: Iterator[Block], kind: str, columns: Columns, format: TextFormat) -> Iterator[Block]:
    """The blocks with the layout of their files. Raises DataError for a file whose columns are others."""
    layout: CsvTable | JsonTable | None = None
    for block in source:
        if block.offset == 0:
            layout = layout_of(bytes(block.data[: block.size]), kind, columns, format, block.path)
        block.layout = layout
        yield block
