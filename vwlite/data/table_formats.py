"""The text formats of tables: what their inputs are looked at for before they are parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from shlex import quote
from typing import Any

from vwlite.data.blocks import Block
from vwlite.data.columns import NUMBER, TEXT, WORDS, Column, Columns, nearest, quote_name, read_columns
from vwlite.data.config import DELIMITERS, TABLES, InputConfig
from vwlite.data.csv_table import (
    DECIMAL_CELL,
    NUMBER_CELL,
    CsvTable,
    HeaderMissing,
    delimiter_of,
    detect_columns,
    header_of,
    rows_of,
    with_point,
)
from vwlite.data.json_table import JsonTable
from vwlite.data.text_format import TextFormat, parser_of
from vwlite.errors import escaped, first_words

HEAD = 1 << 16  # bytes at the start of the first file whose cells tell the types of columns


def look_at(
    kind: str, columns: Columns, source: str, head: Callable[[int, int, int], bytes]
) -> tuple[Columns, Columns]:
    """The columns detected in a table for ``columns``, and those that a model keeps.

    ``head`` gives the first lines of the inputs, as ``OpenedInputs.head``. Raises DataError.
    """
    if kind not in DELIMITERS:
        return columns, columns
    lines = 1 if columns.is_typed else 0
    text = head(HEAD, lines, least_lines(columns))
    try:
        detected = detect_columns(text, kind, columns, source)
    except HeaderMissing as error:
        perhaps = ""
        if not (columns.roles or columns.spaces or columns.ignored):
            perhaps, _ = propose(text, kind, detect_columns(text, kind, replace(columns, headed=False), source), None)
        raise HeaderMissing(f"{error}{perhaps and '; perhaps '}{perhaps}") from None
    return detected, detected.kept(columns)


def remark_on_types(kind: str, found: Columns, asked: Columns, head: Callable[[int, int, int], bytes]) -> list[str]:
    """Notes on columns that may be something else than the features they are read as; arguments as in ``look_at``."""
    if kind not in DELIMITERS or asked.is_typed:
        return []
    kinds = find_doubtful(head(HEAD, 0, least_lines(found)), kind, found, asked)
    return [
        remark.format(names=first_words(names, SHOWN), first=quote_name(names[0]))
        for remark, names in kinds.items()
        if names
    ]


def label_advice(columns: str, names: list[str]) -> str:
    """A hint for messages that no example has a label, of a table with columns of these names."""
    read = read_columns(columns)
    if "label" in read.roles:
        return ""
    like = next((f"{space}= is a namespace; " for space in read.spaces if space and nearest("label", [space])), "")
    shown = first_words(list(map(quote_name, names)), SHOWN)
    one_of = f", one of {escaped(shown)}" if shown else ""
    return f" ({like}--columns label=... names the column of labels{one_of})"


def least_lines(columns: Columns) -> int:
    """The number of lines that a table needs for its columns to be detected."""
    return 1 if columns.headed is False else 2


def layout_of(text: bytes, kind: str, columns: Columns, format: TextFormat, source: str) -> CsvTable | JsonTable:
    """Tell how a file that begins with ``text`` is read. Raises DataError, UsageError."""
    if kind not in DELIMITERS:
        return JsonTable(columns, format)
    delimiter = delimiter_of(text, kind)
    return CsvTable(header_of(text, delimiter, source, columns.headed), columns, delimiter, format, source)


def head_parser(head: bytes, config: InputConfig, format: TextFormat) -> Callable[..., Any]:
    """The parser of the first lines of the first file, for their labels; ``config`` as it is read."""
    parse = parser_of(config.kind)
    if config.kind not in TABLES:
        return parse
    columns = read_columns(config.columns)
    roles = {role: column for role, column in columns.roles.items() if role == "label"}
    layout = layout_of(head, config.kind, replace(columns, roles=roles), format, "")
    first = layout.arguments(Block(bytearray(), 0, "", 0))

    def parse_head(*arguments: Any) -> Any:
        return parse(*arguments, *first)

    return parse_head


def lay_out(source: Iterator[Block], kind: str, columns: Columns, format: TextFormat) -> Iterator[Block]:
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
MARKED_CELL = re.compile(  # thousands, all parted by one mark, a decimal part behind another one; currency or percent
    r"\s*[+-]?[$\u00a3\u00a5\u20ac]?\s?[+-]?(?:\d{1,3}(?:([,.' \u00a0\u202f])\d{3})(?:\1\d{3})*|\d+)(?:(?!\1)[,.]\d+)?"
    r"\s?[%$\u00a3\u00a5\u20ac]?\s*"
)
SHOWN = 10  # names of columns


IDENTIFIERS = (
    "columns of whole numbers: {names}; if they are identifiers, --columns with ={first}:text makes each value a "
    "feature of its own, ={first}:number ends this note"
)
TEXTS = (
    "columns of longer text: {names}; each cell is one feature: --columns with ={first}:words makes one of each word, "
    "={first}:text ends this note"
)
KEYS = (
    "columns of text that differ in nearly every row: {names}; --columns with tag={first} or ignore={first} does not "
    "learn from them, ={first}:text ends this note"
)
STAMPS = (
    "columns of time stamps: {names}; beside their size what else is in a row hardly counts: --columns with "
    "ignore={first} does not learn from them, ={first}:number ends this note"
)
MIXED = (
    "columns of text that is a number in most rows: {names}; where these measure something, leave cells without a "
    "number empty, ={first}:text ends this note"
)
MARKED = (
    "columns of numbers with other marks, as in 1,234 or $5 or 12%: {names}; each is read as a name: where these "
    "measure something, write digits and a point alone, ={first}:text ends this note"
)
DATES = (
    "columns of dates: {names}; each is a name, which rows of other days do not have: --columns with ignore={first} "
    "does not learn from them, ={first}:text ends this note"
)


def first_rows(head: bytes, kind: str, headed: bool | None) -> tuple[str, list[str], Iterator[list[str]]]:
    """Delimiter, names of columns and first rows of a table that begins with ``head``, whole lines."""
    delimiter = delimiter_of(head, kind)
    header = header_of(head, delimiter, "", headed)
    return delimiter, header, islice(rows_of(head, delimiter, len(header), headed), ROWS)


def find_doubtful(head: bytes, kind: str, found: Columns, asked: Columns) -> dict[str, list[str]]:
    """The names of columns of a table that begins with ``head``, whole lines, by the remark that they need.

    ``found``: its columns with their types. Those that were ``asked`` for with a type, or have one in a model, are
    passed over, and so are single words of a column that was asked for by name.
    """
    types = {column.name: column.type for column in asked.named}
    features = (column for column in found.features if column.type in (NUMBER, TEXT))
    features = (column for column in features if column.name not in asked.types)
    untyped = [column for column in features if not types.get(column.name, asked.rest_type)]
    delimiter, header, first = first_rows(head, kind, found.headed)
    places = {name: place for place, name in enumerate(header)}
    rows = list(first) if untyped else []
    names: dict[str, list[str]] = {
        IDENTIFIERS: [], STAMPS: [], MIXED: [], MARKED: [], DATES: [], TEXTS: [], KEYS: []
    }
    for name, type in ((column.name, column.type) for column in untyped):
        filled = [row[places[name]] for row in rows if row[places[name]]]
        cells = set(filled)
        if type == NUMBER:
            whole = cells and all(map(WHOLE.fullmatch, cells))
            if is_time(filled):
                names[STAMPS].append(name)
            elif whole and (len(cells) > VALUES or NAMES.fullmatch(name)):
                names[IDENTIFIERS].append(name)
        elif len(filled) < FEW:
            continue
        elif 2 * sum(bool(DECIMAL_CELL.fullmatch(with_point(cell, delimiter))) for cell in filled) > len(filled):
            names[MIXED].append(name)
        elif 2 * sum(bool(MARKED_CELL.fullmatch(cell)) for cell in filled) > len(filled):
            names[MARKED].append(name)
        elif all(map(DATE.fullmatch, filled)):
            names[DATES].append(name)
        elif len(cells) > SHARE_OF_KEYS * len(filled):
            if words_in(filled) >= MANY_WORDS:
                names[TEXTS].append(name)
            elif name not in types:
                names[KEYS].append(name)
    return names


def words_in(cells: Sequence[str]) -> float:
    """The number of words in a cell, on average."""
    return sum(len(cell.split()) for cell in cells) / len(cells)


LABELS = ("label", "labels", "target", "class", "y", "outcome", "response", "click")  # usual names
FEW = 20  # rows: with fewer it says little that all cells of a column differ
SHARE_OF_KEYS = 0.9  # of the filled cells of a column of keys: so many differ
SMALL = 1 << 20  # bytes of data that several passes take no time over
FAR = 5  # standard deviations from 0
MANY = 20  # features: with more only those are named that would be read otherwise without
MANY_WORDS = 3  # in a cell of text, on average
DATE = re.compile(r"\d{4}[-/.]\d\d?[-/.]\d\d?([ T].*)?|\d\d?[-/.]\d\d?[-/.]\d{4}( .*)?", re.ASCII)
SECONDS = 500_000_000, 5_000_000_000  # since 1970: from 1985 to 2128
UNITS = (1, 1000, 1_000_000)  # of time stamps in a second
MISSING = {"", "nan", "na", "n/a", "null", "none"}
TWO = ({"0", "1"}, {"-1", "1"}, {"-1", "+1"}, {"true", "false"})


def label_among(cells: Mapping[str, Sequence[str]], types: Mapping[str, str]) -> str:
    """The name of the column that is most likely the label: a usual one, else the last but for times, and text that
    differs in all rows.
    """
    usual = {name.lower(): name for name in reversed([*cells])}
    keys = {name for name, column in cells.items() if types.get(name) == TEXT and differ(column)}
    last = [name for name in cells if name not in keys and not is_time(cells[name])] or [*cells]
    return next((usual[name] for name in LABELS if name in usual), last[-1])


def is_time(cells: Sequence[str]) -> bool:
    """Whether all cells are dates, or whole seconds since 1970, thousandths or millionths of them."""
    if not cells or all(map(DATE.fullmatch, cells)):
        return bool(cells)
    times = [int(cell) for cell in cells if WHOLE.fullmatch(cell)] if WHOLE.fullmatch(cells[0]) else []
    return len(times) == len(cells) and any(
        all(SECONDS[0] <= time / unit < SECONDS[1] for time in times) for unit in UNITS
    )


def differ(cells: Sequence[str]) -> bool:
    """Whether all cells differ, and are not few."""
    return len(set(cells)) == len(cells) >= FEW


def propose(head: bytes, kind: str, found: Columns, size: int | None) -> tuple[str, str]:
    """Options for a table of cells whose label is not named, from its first lines: ``--columns``, and what labels as
    these, and tables of this ``size`` in bytes (None: unknown), are learned with. ``found``: its columns with their
    types. Both empty for a table of one column.

    Numbers of rows are left out, words that differ in all rows become the tag, and longer text is read word by word.
    One pass over few rows learns little, least of sorted ones; numbers are learned less their means, and text apart.
    """
    delimiter, header, first = first_rows(head, kind, found.headed)
    named, rows = [name for name in header if name], list(first)
    if len(named) < 2 or not rows:
        return "", ""
    cells = {name: [row[place].strip() for row in rows] for place, name in enumerate(header) if name}
    types = found.found_types
    label = label_among(cells, types)
    roles, spaces, ignored = {"label": Column(label)}, {"": [], "text": [], "words": []}, []
    for name in named:
        different, words = differ(cells[name]), words_in(cells[name])
        if name == label:
            continue
        if types.get(name) != TEXT and is_row_number(name, cells[name]):
            ignored.append(name)
        elif types.get(name) != TEXT:
            of_text = NAMES.fullmatch(name) and all(map(WHOLE.fullmatch, filter(None, cells[name])))
            spaces["text" if of_text else ""].append(Column(name, TEXT if of_text else NUMBER))
        elif words >= MANY_WORDS:
            spaces["words"].append(Column(name, WORDS))
        elif different and words == 1 and "tag" in roles:
            ignored.append(name)
        elif different and words == 1:
            roles["tag"] = Column(name)
        else:
            spaces["text"].append(Column(name, TEXT))
    if not any(spaces.values()):
        return "", ""
    how = how_to_learn(cells, {"": spaces[""]}, delimiter, size)
    if not spaces[""]:
        spaces = {"": spaces["text"], "words": spaces["words"]}
    elif len(spaces[""]) > MANY:
        spaces[""] = []
    placed = {space: tuple(columns) for space, columns in spaces.items() if columns}
    columns = Columns(roles, placed, tuple(ignored), headed=found.headed)
    loss = loss_for([with_point(cell, delimiter) for cell in cells[label]])
    return f"--columns {quote(str(columns))}", f"{loss}{how}"


def how_to_learn(
    cells: Mapping[str, Sequence[str]], spaces: Mapping[str, Sequence[Column]], delimiter: str, size: int | None
) -> str:
    """Passes, and the namespaces of numbers that are learned less their means, for a table of this size."""
    small = size is not None and size < SMALL
    centred = []
    for space, columns in spaces.items():
        far = any(is_far([with_point(cell, delimiter) for cell in cells[column.name]]) for column in columns)
        if far or (small and columns):
            centred.append(f" --centred {quote(space or '_')}")
    return " --passes 20 --shuffle-first" * small + "".join(centred)


def advise(
    head: bytes, kind: str, found: Columns, size: int | None, asked: Columns
) -> tuple[tuple[str, str], list[str]]:
    """The loss, and passes and the like, for a table whose label is named, and the columns that it is better learned
    without, of those that were not ``asked`` for: keys and numbers of rows. Other arguments as in ``propose``.
    """
    delimiter, header, first = first_rows(head, kind, found.headed)
    rows, label = list(first), found.roles["label"].name
    cells = {name: [row[place].strip() for row in rows] for place, name in enumerate(header) if name}
    keys = find_doubtful(head, kind, found, asked)[KEYS]
    unasked = {name for name, type in found.found_types.items() if type == NUMBER} - {one.name for one in asked.named}
    keys += [name for name in header if name in unasked and not asked.rest_type and is_row_number(name, cells[name])]
    numbers = {
        space: [column for column in columns if column.name not in keys]
        for space, columns in found.spaces.items()
        if all(column.type == NUMBER for column in columns)
    }
    loss = loss_for([with_point(cell, delimiter) for cell in cells[label]])
    left_out = keys if len(keys) < sum(map(len, found.spaces.values())) else []
    return (loss.strip(), how_to_learn(cells, numbers, delimiter, size).strip()), left_out


def is_row_number(name: str, cells: Sequence[str]) -> bool:
    """Whether whole numbers are those of the rows, ids of which each row has its own, or the times of rows."""
    return is_counted(cells) or is_time(cells) or bool(differ(cells) and NAMES.fullmatch(name))


def is_counted(cells: Sequence[str]) -> bool:
    """Whether these are the numbers of rows, from 0 or 1."""
    if len(cells) < 3 or (first := cells[0]) not in ("0", "1"):
        return False
    return list(cells) == [str(int(first) + n) for n in range(len(cells))]


def is_far(cells: Sequence[str]) -> bool:
    """Whether numbers are far from 0 beside their spread, such as years."""
    from statistics import fmean, pstdev  # which few runs need

    numbers = [float(cell) for cell in cells if DECIMAL_CELL.fullmatch(cell)]
    return len(numbers) >= FEW and abs(fmean(numbers)) > FAR * pstdev(numbers) > 0


def loss_for(cells: Sequence[str]) -> str:
    """The options for such labels, empty for the default: of two names, too, probabilities are wanted."""
    values = {cell.lower().removesuffix(".0") for cell in cells} - MISSING
    if values in TWO:
        return " --loss_function logistic"
    if all(map(NUMBER_CELL.fullmatch, values)):
        return ""
    return " --oaa auto --loss_function logistic" if len(values) == 2 else " --oaa auto"
