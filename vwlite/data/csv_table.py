"""Comma- and tab-separated values: the first line names the columns, the first look at the others tells their types.

The first line of a file of comma-separated values also tells its delimiter. Where that is a semicolon, as spreadsheets
of countries with decimal commas have it, ``1,5`` is the number 1.5.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

import numpy as np

from vwlite.data.blocks import Block
from vwlite.data.columns import (
    NONE,
    NUMBER,
    ROLES,
    TEXT,
    TOKENS,
    TYPES,
    Columns,
    encode_name,
    hashes_of,
    lower_table,
    namespace_hash,
)
from vwlite.data.config import DELIMITERS
from vwlite.data.input_stream import check_encoding
from vwlite.data.plain_text import BOM
from vwlite.data.row_columns import ANONYMOUS_CHAR, check_columns
from vwlite.data.text_format import Code, TextFormat
from vwlite.errors import DataError, UsageError, first_words
from vwlite.options import DECIMAL, is_count

MARKS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
BREAKS = "line breaks within a field are not read: write JSON lines"
TEXT_LINE = re.compile(r"(?:^|\s)\|")  # with a bar before its features
# A cell of a column of numbers, empty or not; as ``cython_ext/text/cell_numbers.pxd`` reads it.
NUMBER_CELL = re.compile(
    rf"[ \t]*(?:(?:{DECIMAL}|[+-]?(?:inf|infinity)|true|false|nan|na|n/a|null|none)[ \t]*)?",
    re.IGNORECASE | re.ASCII,
)
DECIMAL_CELL = re.compile(rf"[ \t]*{DECIMAL}[ \t]*")
COMMA_CELL = re.compile(r"[ \t]*[+-]?\d*,\d+[ \t]*")
SHOWN = 10  # cells in a message
ENOUGH = 100  # lines


class HeaderMissing(DataError):
    """The first line of a table looks like data."""


def cells_of(line: bytes, delimiter: str) -> list[str]:
    """The cells of a line. Raises csv.Error where its quotes are no good."""
    text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
    rows = list(csv.reader([text], delimiter=delimiter, strict=True))
    return rows[0] if rows else []


def first_line(text: bytes) -> bytes:
    return text[: text.find(b"\n") + 1].removeprefix(BOM)


def delimiter_of(text: bytes, kind: str) -> str:
    """The delimiter of a file that begins with ``text``: of comma-separated values what its first line has.

    Commas come first, unless all of them are decimal commas of cells between semicolons.
    """
    counts = {}
    for delimiter in (*MARKS,) if kind == "csv" else ():
        try:
            counts[delimiter] = cells_of(first_line(text), delimiter)
        except csv.Error:
            continue
    if len(counts.get("|", ())) > 1 and TEXT_LINE.search(first_line(text).decode("utf-8", "surrogateescape")):
        del counts["|"]
    parted = counts.get(";", ())
    if len(parted) > 1 and all(COMMA_CELL.fullmatch(cell) for cell in parted if "," in cell):
        return ";"
    return next((delimiter for delimiter, cells in counts.items() if len(cells) > 1), DELIMITERS[kind])


def with_point(cell: str, delimiter: str) -> str:
    """The cell with a point in place of a decimal comma."""
    return cell.replace(",", ".") if delimiter == ";" else cell


def header_of(text: bytes, delimiter: str, source: str, headed: bool | None = None) -> list[str]:
    """The names of the columns, which a file's first line has; their numbers if not ``headed``. Raises DataError."""
    check_encoding(source, text)
    try:
        header = cells_of(first_line(text), delimiter)
    except csv.Error as error:
        raise DataError(f"{source}:1: the names of the columns cannot be read: {reason_of(str(error))}") from None
    if not header:
        raise DataError(f"{source}: there is no first line with the names of the columns")
    if len(header) == 1 and TEXT_LINE.search(header[0]):
        raise DataError(f"{source}:1: a line of Vowpal Wabbit text, not the names of columns: --format vw reads it")
    if len(header) == 1 and delimiter == "\t" and (marks := [mark for mark in MARKS if mark in header[0]]):
        raise DataError(f"{source}:1: fields are parted by {MARKS[marks[0]]}, not tabs: --format csv")
    return header if headed is not False else [str(number + 1) for number in range(len(header))]


def reason_of(error: str) -> str:
    """The reason why ``csv`` has refused a line."""
    if "limit" in error:
        return f"one is longer than {csv.field_size_limit()} characters"
    if "new-line" in error:
        return "there is a carriage return among them; lines end with a newline"
    if "end of data" in error:
        return f"a quote is not closed; {BREAKS}"
    return 'a quote is not closed, or text follows it: quoted names are "a, b", and quotes in them ""'


def line_with_open_quote(head: bytes, delimiter: str) -> int:
    """The number, from 1, of the first line of a text with a quoted field that is not closed there; 0 without any."""
    for number, line in enumerate(head.split(b"\n"), 1):
        try:
            cells_of(line, delimiter)
        except csv.Error as error:
            if "end of data" in str(error):
                return number
    return 0


def detect_columns(head: bytes, kind: str, columns: Columns, source: str) -> Columns:
    """The columns of a table that begins with ``head``, whole lines, and their types: numbers where all cells are some.

    Raises DataError.
    """
    delimiter = delimiter_of(head, kind)
    header = header_of(head, delimiter, source, columns.headed)
    if columns.is_typed:
        return columns.placed(header, source)
    check_sizes(head, delimiter, len(header), source)
    left, numbers = set(range(len(header))), set[int]()
    for row in rows_of(head, delimiter, len(header), columns.headed):
        cells = [with_point(cell, delimiter) for cell in row]
        left.difference_update([place for place in left if not NUMBER_CELL.fullmatch(cells[place])])
        numbers.update([place for place in left - numbers if DECIMAL_CELL.fullmatch(cells[place])])
    if columns.headed is None and looks_like_data([with_point(name, delimiter) for name in header], left & numbers):
        raise HeaderMissing(
            f"{source}:1: the first line looks like data, not like names of columns ({first_words(header, SHOWN)}): "
            "in --columns, no-header calls the columns 1, 2 and so on, and header takes the line for names"
        )
    types = {name: NUMBER if place in left else TEXT for place, name in enumerate(header)}
    return columns.placed(header, source).typed(types)


def check_sizes(head: bytes, delimiter: str, size: int, source: str) -> None:
    """Raises DataError where all lines behind the first one, more than one, have as many cells as each other, and
    others than the first one, which is then no part of the table.
    """
    sizes: set[int] = set()
    lines = [line for line in head.removeprefix(BOM).split(b"\n")[1:ENOUGH] if line.strip()]
    for line in lines:
        try:
            sizes.add(len(cells_of(line, delimiter)))
        except csv.Error:
            return
    if len(lines) > 1 and len(sizes) == 1 and size not in sizes:
        raise DataError(
            f"{source}:1: the first line has {size} fields, and all lines after it {sizes.pop()}: leave it out, as "
            "'tail -n +2' does, where it is no part of the table"
        )


def looks_like_data(header: Sequence[str], numbers: Collection[int]) -> bool:
    """Whether a first line has numbers over columns of ``numbers``, and no name over any.

    Numbers one after the other are names, such as years.
    """
    over = [header[place] for place in sorted(numbers)]
    numbers_in_header = [name for name in over if DECIMAL_CELL.fullmatch(name)]
    if not numbers_in_header or not all(map(NUMBER_CELL.fullmatch, over)):
        return False
    if len(numbers_in_header) == 1 or not all(map(is_count, numbers_in_header)):
        return True
    return list(map(int, numbers_in_header)) != list(
        range(int(numbers_in_header[0]), int(numbers_in_header[0]) + len(numbers_in_header))
    )



def rows_of(head: bytes, delimiter: str, size: int, headed: bool | None = None) -> Iterator[list[str]]:
    """The rows that have this number of cells, behind the first line unless it is one of them."""
    for line in head.removeprefix(BOM).split(b"\n")[headed is not False :]:
        try:
            cells = cells_of(line, delimiter)
        except csv.Error:
            continue
        if len(cells) == size:
            yield cells


class CsvTable:
    """How the columns of a file are read: the arrays that ``vwlite._native.csv_parser`` takes."""

    def __init__(
        self, header: Sequence[str], columns: Columns, delimiter: str, format: TextFormat, source: str
    ) -> None:
        """``columns``: with types. Raises DataError, which names ``source``, for columns that are not there; UsageError
        for roles that such labels do not have.
        """
        if format.makes_features:
            raise UsageError("--affix and --spelling read names in text: they are not made of tables")
        placed = columns.placed(header, source)
        check_columns(format, placed.roles.get("weight"), placed.roles.get("base"))
        self.headed = columns.headed is not False
        self.header, self.delimiter_text, self.delimiter = header, delimiter, ord(delimiter)
        self.types = {column.name: column.type for column in placed.features}
        place = {name: number for number, name in enumerate(header)}
        roles = [placed.roles.get(role) for role in ROLES]
        members = list(placed.features)
        sizes = [len(columns) for columns in placed.spaces.values()]
        self.columns, self.features, self.spaces = len(header), len(members), len(sizes)
        self.keeps_text = format.names or (format.words and "label" in placed.roles)
        self.role = np.array([-1 if column is None else place[column.name] for column in roles], np.int32)
        self.column = np.array([place[column.name] for column in members] + [0], np.int32)
        self.type = np.array([TYPES.index(column.type) for column in members] + [0], np.uint8)
        self.lower = lower_table() if TOKENS in self.types.values() else NONE
        self.first = np.cumsum([0, *sizes, 0]).astype(np.int32)
        spaces = [encode_name(space) if space else b"" for space in placed.spaces]
        seeds = [namespace_hash(space, format) for space in spaces]
        self.space_char = np.array([space[0] if space else ANONYMOUS_CHAR for space in spaces] + [0], np.uint8)
        self.space_hash = np.array([*seeds, 0], np.uint32)
        names = [encode_name(column.name) for column in members]
        of_names = [
            hashes_of(names[begin:end], seed, format)
            for seed, (begin, end) in zip(seeds, pairwise(self.first.tolist()), strict=False)
        ]
        of_words = np.array([column.is_of_words() for column in members] + [False])
        of_spaces = np.repeat(np.array([*seeds, 0], np.uint32), [*sizes, 1])
        self.hash = np.where(of_words, of_spaces, np.concatenate([*of_names, np.zeros(1, np.uint32)]))
        self.text = b"".join([*names, *spaces]) if format.names else b""
        ends = np.cumsum([len(name) for name in [*names, *spaces, b""]])
        starts = ends - [len(name) for name in [*names, *spaces, b""]]
        spans = np.stack([starts, ends], axis=1).astype(np.uint32)
        self.name, self.space_name = spans[: len(members) + 1].copy(), spans[len(members) :].copy()

    def arguments(self, block: Block) -> tuple[CsvTable, bool]:
        return self, self.headed and block.offset == 0

    def advice(self, code: int, line: bytes, column: int) -> str:
        if code == Code.OPEN_QUOTE:
            return f" ({BREAKS})"
        try:
            before = cells_of(line[:column], self.delimiter_text)
            whole = cells_of(line, self.delimiter_text)
        except csv.Error:
            return ""
        if code == Code.BAD_FIELDS:
            return f" ({len(whole)} of {self.columns})"
        number = max(0, len(before) - 1)
        name = self.header[number] if number < self.columns else ""
        typed = f"; {name}:text takes any" if code in (Code.BAD_CELL, Code.NOT_FINITE) and name in self.types else ""
        return f" (column {name!r}{typed})"
