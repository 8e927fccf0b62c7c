"""Lines of JSON, each an object: where its members go, and which columns the lines have."""

from __future__ import annotations

import json
from functools import cached_property

import numpy as np

from vwlite.data.blocks import Block
from vwlite.data.columns import (
    IGNORE,
    NONE,
    ROLES,
    TOKENS,
    TYPES,
    Column,
    Columns,
    encode_name,
    lower_table,
    namespace_hash,
    nearest,
    quote_name,
)
from vwlite.data.row_columns import ANONYMOUS_CHAR, check_columns
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError

IGNORED = len(ROLES)  # places: the roles, nowhere, then the namespaces
AS_IT_IS = len(TYPES)  # the type of a member of which nothing is said


class JsonTable:
    """How the members of objects are read: the arrays that ``vwlite._native.json_parser`` takes."""

    def __init__(self, columns: Columns, format: TextFormat) -> None:
        """Raises UsageError for roles that the format's labels do not have."""
        if format.makes_features:
            raise UsageError("--affix and --spelling read names in text: they are not made of tables")
        check_columns(format, columns.roles.get("weight"), columns.roles.get("base"))
        spaces = [name for name in dict.fromkeys(("", *columns.spaces, columns.rest)) if name != IGNORE]
        places = {space: IGNORED + 1 + number for number, space in enumerate(spaces)} | {IGNORE: IGNORED}
        members = [(column, ROLES.index(role)) for role, column in columns.roles.items()]
        members += [(column, places[space]) for space, features in columns.spaces.items() for column in features]
        members += [(Column(name), IGNORED) for name in columns.ignored]
        members.sort(key=lambda member: (len(utf8(member[0])), utf8(member[0])))  # as the kernel looks them up
        names, self.read = [utf8(column) for column, _ in members], [column.name for column, _ in members]
        members.append((Column("", columns.rest_type), places[columns.rest]))
        self.names, self.spaces = len(names), len(spaces)
        self.name_text = np.frombuffer(b"".join(names) + b"\0", np.uint8)
        self.start = np.cumsum([0, *map(len, names)]).astype(np.int32)
        self.place = np.array([place for _, place in members], np.int32)
        self.type = np.array([TYPES.index(column.type) if column.type else AS_IT_IS for column, _ in members], np.uint8)
        self.lower = lower_table() if TYPES.index(TOKENS) in self.type else NONE
        written = [encode_name(space) if space else b"" for space in spaces]
        self.space_char = np.array([space[0] if space else ANONYMOUS_CHAR for space in written] + [0], np.uint8)
        self.space_hash = np.array([*(namespace_hash(space, format) for space in written), 0], np.uint32)
        ends = np.cumsum([0, *map(len, written)])
        self.space_name = np.stack([ends, [*ends[1:], ends[-1]]], axis=1).astype(np.uint32)
        self.text = b"".join(written) if format.names else b""

    def arguments(self, block: Block) -> tuple[JsonTable, bytearray]:
        block.met = bytearray(self.names + 1)
        return self, block.met

    def columns_of(self, block: Block) -> list[str]:
        """The columns that any line of a parsed block has, in no order."""
        return [name for name, met in zip(self.read, block.met or b"", strict=False) if met]

    def advice(self, code: int, line: bytes, column: int) -> str:
        return ""


def utf8(column: Column) -> bytes:
    return column.name.encode("utf-8", "surrogateescape")


HEAD = 1 << 16  # bytes of the first lines, whose other members may be what was meant
SHOWN = 10  # columns that a message names


class ColumnsMet:
    """A remark on columns that no line of the inputs has; none where no line has any member."""

    def __init__(self, columns: Columns, source: str) -> None:
        """``columns``: those of a model, or asked for; ``source`` names the inputs."""
        self.columns, self.source = columns, source
        self.met: set[str] = set()
        self.any = False
        self.first = b""

    def add(self, block: Block) -> None:
        """Add the columns of a parsed block."""
        if isinstance(block.layout, JsonTable) and block.met:
            self.first = self.first or bytes(memoryview(block.data)[: min(block.size, HEAD)])
            self.met.update(block.layout.columns_of(block))
            self.any = self.any or any(block.met)

    def missing(self, *roles: str) -> list[Column]:
        """Columns of features that no line has, and those of these roles."""
        columns = [self.columns.roles[role] for role in roles if role in self.columns.roles]
        columns += self.columns.features
        return [column for column in columns if self.any and not column.optional and column.name not in self.met]

    def note(self, *roles: str) -> str:
        """A sentence of these; empty where none is missing."""
        missing = self.missing(*roles)
        return f"no line has the column{'s' * (len(missing) > 1)} {self.listed(missing)}" if missing else ""

    def without_features(self) -> str:
        """The error where no line has any of the columns of features that are named; else empty."""
        missing = self.missing()
        if not missing or not self.met.isdisjoint(column.name for column in self.columns.features):
            return ""
        named_by = f"{self.source}: no line has a column of features that --columns or the model names"
        return f"{named_by}: {self.listed(missing)}"

    def without_label(self) -> str:
        """The error where no line has the column of labels; else empty."""
        label = self.columns.roles.get("label")
        if label is None or not self.any or label.name in self.met:
            return ""
        return f"{self.source}: no line has the column of labels, {self.listed([label])}"

    def listed(self, columns: list[Column]) -> str:
        more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
        return ", ".join(map(self.meant, columns[:SHOWN])) + more

    def meant(self, column: Column) -> str:
        near = nearest(column.name, self.others)
        return quote_name(column.name) + (f" (did you mean {quote_name(near)}?)" if near else "")

    @cached_property
    def others(self) -> list[str]:
        """The members of the first lines that no column names."""
        known = {*(column.name for column in self.columns.named), *self.columns.ignored}
        members: dict[str, None] = {}
        for line in self.first.split(b"\n"):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            members.update(dict.fromkeys(row if isinstance(row, dict) else ()))
        return [name for name in members if name not in known]
