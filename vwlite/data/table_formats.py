"""The text formats of tables: what their inputs are looked at for before they are parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from vwlite.data.blocks import Block
from vwlite.data.columns import NUMBER, Columns, quoted, read_columns
from vwlite.data.config import DELIMITERS, TABLES, InputConfig
from vwlite.data.csv_table import CsvTable, delimiter_of, first_look, header_of, rows_of
from vwlite.data.json_table import JsonTable
from vwlite.data.text_format import TextFormat, parser_of
from vwlite.escapes import escaped

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
    found = first_look(head(HEAD, lines, least_lines(columns)), kind, columns, source)
    return found, found.kept(columns)


def remark_on_identifiers(kind: str, found: Columns, asked: Columns, head: Callable[[int, int, int], bytes]) -> str:
    """What is to be said of columns taken for numbers that may be identifiers; arguments as in ``looked_at``."""
    if kind not in DELIMITERS or asked.is_typed:
        return ""
    names = identifiers(head(HEAD, 0, least_lines(found)), kind, found, asked)
    if not names:
        return ""
    first = quoted(names[0])
    some = ", ".join(names[:SHOWN]) + ", ..." * (len(names) > SHOWN)
    remedy = f"--columns with {first}:text makes each value a feature of its own, {first}:number ends this note"
    return f"columns of whole numbers: {some}; if they are identifiers, {remedy}"


def label_advice(columns: str, names: list[str]) -> str:
    """What a message adds where no example has a label, of a table with columns of these names."""
    if "label" in read_columns(columns).roles:
        return ""
    some = ", ".join(map(quoted, names[:SHOWN])) + ", ..." * (len(names) > SHOWN)
    one_of = f", one of {escaped(some)}" if some else ""
    return f" (--columns label=... names the column of labels{one_of})"


def least_lines(columns: Columns) -> int:
    """How many lines a table of cells must have to tell something of its columns."""
    return 1 if columns.headed is False else 2


def layout_of(text: bytes, kind: str, columns: Columns, format: TextFormat, source: str) -> CsvTable | JsonTable:
    """How a file that begins with ``text`` is read. Raises DataError, UsageError."""
    if kind not in DELIMITERS:
        return JsonTable(columns, format)
    delimiter = delimiter_of(text, kind)
    return CsvTable(header_of(text, delimiter, source, columns.headed), columns, delimiter, format, source)


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


ROWS = 1000  # that are looked at
VALUES = 20  # different ones: with more, whole numbers may be identifiers whatever the column is called
NAMES = re.compile(r"(?:.*[_\W])?(?i:id|ip|zip|user|item|channel)|.*[a-z](?:Id|ID)")
WHOLE = re.compile(r"[ \t]*\d+[ \t]*", re.ASCII)
SHOWN = 10  # names of columns


def identifiers(head: bytes, kind: str, found: Columns, asked: Columns) -> list[str]:
    """The names of such columns of a table that begins with ``head``, whole lines.

    ``found``: its columns with their types. Those that were ``asked`` for with a type, or have one in a model, are
    passed over.
    """
    said = {one.name: one.type for one in asked.named}
    features = (one.name for some in found.spaces.values() for one in some if one.type == NUMBER)
    numbers = [name for name in features if not (said.get(name, asked.rest_type) or name in asked.types)]
    delimiter = delimiter_of(head, kind)
    header = header_of(head, delimiter, "", found.headed)
    places = {name: place for place, name in enumerate(header)}
    rows = list(islice(rows_of(head, delimiter, len(header), found.headed), ROWS)) if numbers else []
    told = []
    for name in numbers:
        cells = {row[places[name]] for row in rows} - {""}
        whole = cells and all(map(WHOLE.fullmatch, cells))
        if whole and (len(cells) > VALUES or NAMES.fullmatch(name)):
            told.append(name)
    return told
