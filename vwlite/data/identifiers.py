"""Columns of tables that are read as numbers and may be identifiers, such as the ids of users."""

from __future__ import annotations

import re
from itertools import islice

from vwlite.data.columns import NUMBER, Columns, quoted
from vwlite.data.csv_table import header_of, rows_of

ROWS = 1000  # that are looked at
VALUES = 20  # different ones: with more, whole numbers may be identifiers whatever the column is called
NAMES = re.compile(r"(?:.*[_\W])?(?i:id|ip|zip|user|item|channel)|.*[a-z](?:Id|ID)")
WHOLE = re.compile(r"[ \t]*\d+[ \t]*", re.ASCII)
SHOWN = 10  # names of columns


def identifiers(head: bytes, delimiter: str, found: Columns, asked: Columns) -> list[str]:
    """The names of such columns of a table that begins with ``head``, whole lines.

    ``found``: its columns with their types. Those that were ``asked`` for with a type, or have one in a model, are
    passed over.
    """
    said = {one.name: one.type for one in asked.named}
    features = (one.name for some in found.spaces.values() for one in some if one.type == NUMBER)
    numbers = [name for name in features if not (said.get(name, asked.rest_type) or name in asked.types)]
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


def remark_on(names: list[str]) -> str:
    """What is to be said of identifiers, if any."""
    if not names:
        return ""
    first = quoted(names[0])
    some = ", ".join(names[:SHOWN]) + ", ..." * (len(names) > SHOWN)
    remedy = f"--columns with {first}:text makes each value a feature of its own, {first}:number ends this note"
    return f"columns of whole numbers: {some}; if they are identifiers, {remedy}"
