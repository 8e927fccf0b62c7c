"""Data frames read as the table that a model was trained on: with its columns and their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vwlite.data.arrow_files import PARAMETERS, Records, is_text_or_codes, placed_in
from vwlite.data.columns import Column, Columns
from vwlite.data.frame_batches import FrameBatches, opened
from vwlite.data.frames import pyarrow
from vwlite.data.text_format import TextFormat

FRAME = "the data frame"


class PlacedFrame(FrameBatches):
    """The batches that a file of the same table makes."""

    def __init__(self, data: Any, given: Mapping[str, Any], columns: Columns, format: TextFormat) -> None:
        """``given``: as of ``FrameBatches``; a parameter that is not there has no column, one that is None has that of
        ``columns``. Raises ExtraMissing.
        """
        super().__init__(data, {name: given.get(name) for name in PARAMETERS.values()}, None, format)
        self.asked = asked(columns, given)

    def stream(self) -> Any:
        """Raises DataError for a frame that lacks columns, or has values that are not of their type."""
        frame = Frame(opened(self.data))
        index = (frame.schema.pandas_metadata or {}).get("index_columns", ())
        named = {column.name for column in self.asked.named}
        aside = tuple(name for name in index if isinstance(name, str) and name not in named)
        columns = replace(self.asked, ignored=(*self.asked.ignored, *aside))
        placed = placed_in(frame.schema, columns, FRAME)
        self.namespaces = {space: [one.name for one in some] for space, some in placed.spaces.items()}
        self.names = {PARAMETERS[role]: one.name for role, one in placed.roles.items()}
        return Records(frame, placed, self.format)


class Frame:
    """A stream of record batches as ``Records`` reads files. Empty texts are absent, as empty cells are."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.schema = stream, stream.schema

    def record_batches(self, names: Sequence[str]) -> Iterator[Any]:
        arrow = pyarrow()
        for record in self.stream:
            columns = [without_empty(record.column(name)) for name in names]
            yield arrow.RecordBatch.from_arrays(columns, names=list(names))


def without_empty(entries: Any) -> Any:
    """Its empty texts are null."""
    arrow = pyarrow()
    if not is_text_or_codes(entries.type):
        return entries
    if arrow.types.is_dictionary(entries.type):
        kept = without_empty(entries.dictionary)
        return arrow.DictionaryArray.from_arrays(entries.indices, kept) if kept is not entries.dictionary else entries
    texts = entries.cast("large_string")
    empty = arrow.compute.equal(texts, "")
    if not arrow.compute.any(empty).as_py():
        return entries
    return arrow.compute.if_else(empty, None, texts).cast(entries.type)


def asked(columns: Columns, given: Mapping[str, Any]) -> Columns:
    """The columns with the roles that are left beside what is given; a role's column is never a feature."""
    roles = {role: one for role, one in columns.roles.items() if given.get(PARAMETERS[role], "") is None}
    roles |= {role: Column(given[of]) for role, of in PARAMETERS.items() if isinstance(given.get(of), str)}
    used = {one.name for one in roles.values()}
    aside = tuple(one.name for one in columns.roles.values() if one.name not in used)
    return replace(columns, roles=roles, ignored=(*columns.ignored, *aside))
