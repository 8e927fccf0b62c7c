"""Comma- and tab-separated values, by Python's own reader, as what a line of text would have to say."""

import csv
import re
from dataclasses import dataclass, field

import numpy as np

from oracle.lower_words import lower_words, split_words

PARTED = {"words": split_words, "tokens": lower_words}
DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
INFINITE = re.compile(r"[+-]?(?:inf|infinity)", re.IGNORECASE | re.ASCII)
WORDS_OF_NUMBERS = {"true": 1.0, "false": 0.0}
NOT_THERE = ("", "nan", "na", "n/a", "null", "none")
RETURN = "\ue000"  # stands for a carriage return, which the reader takes for a line's end


@dataclass
class Row:
    """``blocks`` are pairs of namespace and pairs of name and number, text or None."""

    label: float | str | None = None
    importance: float = 1.0
    base: float = 0.0
    tag: str = ""
    blank: bool = False
    blocks: list = field(default_factory=list)


class Malformed(Exception):
    pass


def number(cell: str) -> np.float32 | None:
    """None where a cell of a number is absent. Raises Malformed."""
    cell = cell.strip(" \t")
    lower = cell.lower() if cell.isascii() else cell
    if lower in NOT_THERE:
        return None
    if lower in WORDS_OF_NUMBERS:
        return np.float32(WORDS_OF_NUMBERS[lower])
    if not DECIMAL.fullmatch(cell):
        raise Malformed("infinite" if INFINITE.fullmatch(cell) else "number")
    with np.errstate(over="ignore", under="ignore"):
        value = np.float32(float(cell))
    if not np.isfinite(value):
        raise Malformed("infinite")
    return value


def word(cell: str, kind: str) -> str:
    """A label or a tag. Raises Malformed for what text could not have there."""
    if kind == "label":
        cell = re.sub(r"[\t\n\r |]", "_", cell.strip(" \t\n\r"))
    if re.search(r"[\t\n\r |\"]" if '"' in cell else r"[\t\n\r |]", cell) or (kind == "label" and cell[:1] == "'"):
        raise Malformed(kind)
    return cell


def cells_of(line: str, delimiter: str) -> list[str]:
    """Raises csv.Error."""
    (cells,) = csv.reader([line.replace("\r", RETURN)], delimiter=delimiter, strict=True)
    return [cell.replace(RETURN, "\r") for cell in cells]


def features(cells: dict[str, str], columns, number) -> list:
    result = []
    for column in columns:
        cell = cells[column.name]
        if column.type in PARTED:
            result += [(one, None) for one in PARTED[column.type](cell)]
        elif column.type == "text":
            result += [(column.name, cell)] if cell else []
        elif value := number(cell):
            result.append((column.name, float(value)))
    return result


def number_with_comma(cell: str) -> np.float32 | None:
    """As ``number``; a comma is a decimal one."""
    return number(cell.replace(",", "."))


def row_of(line: str, header: list[str], delimiter: str, columns, names: bool) -> Row:
    """The row of a line; ``columns`` are placed and typed, ``names``: labels are names. Raises Malformed."""
    line = line.removesuffix("\r").removeprefix("\ufeff")
    if not line:
        return Row(blank=True)
    try:
        cells = cells_of(line, delimiter)
    except csv.Error:
        raise Malformed("quotes") from None
    if len(cells) != len(header):
        raise Malformed("fields")
    named = dict(zip(header, cells, strict=True))
    given = {role: named[column.name] for role, column in columns.roles.items()}
    row = Row()
    number_of = number_with_comma if delimiter == ";" else number
    if label := given.get("label", ""):
        row.label = (word(label, "label") or None) if names else number_of(label)
    for role in ("weight", "base"):
        value = number_of(given.get(role, ""))
        if value is not None and role == "weight":
            if value < 0:
                raise Malformed("weight")
            row.importance = value
        elif value is not None:
            row.base = value
    row.tag = word(given.get("tag", ""), "tag")
    row.blocks = [(space, features(named, some, number_of)) for space, some in columns.spaces.items()]
    return row
