"""Lines of JSON, each an object: where its members go."""

from __future__ import annotations

import numpy as np

from vwlite.data.blocks import Block
from vwlite.data.columns import IGNORE, ROLES, TOKENS, TYPES, Column, Columns
from vwlite.data.lower_case import NONE, lower_table
from vwlite.data.name_hashes import encoded, namespace_hash
from vwlite.data.row_columns import check_columns
from vwlite.data.segments import ANONYMOUS_CHAR
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
        spaces = [one for one in dict.fromkeys(("", *columns.spaces, columns.rest)) if one != IGNORE]
        places = {space: IGNORED + 1 + number for number, space in enumerate(spaces)} | {IGNORE: IGNORED}
        members = [(column, ROLES.index(role)) for role, column in columns.roles.items()]
        members += [(column, places[space]) for space, some in columns.spaces.items() for column in some]
        members += [(Column(name), IGNORED) for name in columns.ignored]
        members.sort(key=lambda one: (len(utf8(one[0])), utf8(one[0])))  # as the kernel looks them up
        names, self.read = [utf8(column) for column, _ in members], [column.name for column, _ in members]
        members.append((Column("", columns.rest_type), places[columns.rest]))
        self.names, self.spaces = len(names), len(spaces)
        self.name_text = np.frombuffer(b"".join(names) + b"\0", np.uint8)
        self.start = np.cumsum([0, *map(len, names)]).astype(np.int32)
        self.place = np.array([place for _, place in members], np.int32)
        self.type = np.array([TYPES.index(one.type) if one.type else AS_IT_IS for one, _ in members], np.uint8)
        self.lower = lower_table() if TYPES.index(TOKENS) in self.type else NONE
        written = [encoded(space) if space else b"" for space in spaces]
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
