"""Which columns the lines of JSON have, of those that are named: none is told by a first line, as a table's are."""

from __future__ import annotations

import json
from functools import cached_property

from vwlite.data.blocks import Block
from vwlite.data.columns import Column, Columns, nearest, quoted
from vwlite.data.json_table import JsonTable

HEAD = 1 << 16  # bytes of the first lines, whose other members may be what was meant
SHOWN = 10  # columns that a message names


class ColumnsMet:
    """What is told of columns that no line of the inputs has. Nothing is, where no line has any member."""

    def __init__(self, columns: Columns, source: str) -> None:
        """``columns``: those of a model, or asked for; ``source`` names the inputs."""
        self.columns, self.source = columns, source
        self.met: set[str] = set()
        self.any = False
        self.first = b""

    def add(self, block: Block) -> None:
        """Of a block that was parsed."""
        if isinstance(block.layout, JsonTable) and block.met:
            self.first = self.first or bytes(memoryview(block.data)[: min(block.size, HEAD)])
            self.met.update(block.layout.columns_of(block))
            self.any = self.any or any(block.met)

    def missing(self, *roles: str) -> list[Column]:
        """Columns of features that no line has, and those of these roles."""
        wanted = [self.columns.roles[role] for role in roles if role in self.columns.roles]
        wanted += [one for some in self.columns.spaces.values() for one in some]
        return [one for one in wanted if self.any and not one.optional and one.name not in self.met]

    def note(self, *roles: str) -> str:
        """A sentence of these; empty where none is missing."""
        missing = self.missing(*roles)
        return f"no line has the column{'s' * (len(missing) > 1)} {self.listed(missing)}" if missing else ""

    def without_features(self) -> str:
        """The error where no line has any of the columns of features that are named; else empty."""
        named = [one for some in self.columns.spaces.values() for one in some]
        missing = self.missing()
        if not missing or not self.met.isdisjoint(one.name for one in named):
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
        return quoted(column.name) + (f" (did you mean {quoted(near)}?)" if near else "")

    @cached_property
    def others(self) -> list[str]:
        """The members of the first lines that no column names."""
        known = {*(one.name for one in self.columns.named), *self.columns.ignored}
        found: dict[str, None] = {}
        for line in self.first.split(b"\n"):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            found.update(dict.fromkeys(row if isinstance(row, dict) else ()))
        return [name for name in found if name not in known]
