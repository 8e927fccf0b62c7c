"""The text formats of tables: what their inputs are looked at for before they are parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from vwlite.data.blocks import Block
from vwlite.data.columns import Columns, read_columns
from vwlite.data.config import InputConfig
from vwlite.data.csv_table import DELIMITERS, CsvTable, first_look, header_of
from vwlite.data.text_format import TextFormat, parser_of

TABLES = DELIMITERS
HEAD = 1 << 16  # bytes at the start of the first file whose cells tell the types of columns


def looked_at(head: bytes, kind: str, columns: Columns, source: str) -> Columns:
    """What the columns are, all of them typed, of a table that begins with ``head``. Raises DataError."""
    return first_look(head, DELIMITERS[kind], columns, source)


def head_parser(head: bytes, config: InputConfig, format: TextFormat) -> Callable[..., Any]:
    """What parses the first lines of the first file for their labels; ``config`` as it is read."""
    parse = parser_of(config.kind)
    if config.kind not in TABLES:
        return parse
    columns = read_columns(config.columns)
    roles = {role: one for role, one in columns.roles.items() if role == "label"}
    columns = replace(columns, roles=roles)
    header = header_of(head, DELIMITERS[config.kind], "")
    layout = CsvTable(header, columns, DELIMITERS[config.kind], format, "")
    return partial(parse, layout=layout, header=True)


def laid_out(source: Iterator[Block], kind: str, columns: Columns, format: TextFormat) -> Iterator[Block]:
    """The blocks with the layout of their files. Raises DataError for a file whose columns are others."""
    layout: CsvTable | None = None
    for block in source:
        if block.offset == 0:
            header = header_of(bytes(block.data[: block.size]), DELIMITERS[kind], block.path)
            layout = CsvTable(header, columns, DELIMITERS[kind], format, block.path)
        block.layout = layout
        yield block
