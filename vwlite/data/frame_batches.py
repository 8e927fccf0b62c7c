"""Batches of data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vwlite._native.dict_rows import DictRows
from vwlite.data.batch import Batch, Names
from vwlite.data.frames import Group, groups_of, pyarrow
from vwlite.data.row_columns import MAX_FEATURES, MAX_ROWS, SLACK, RowColumns, batch_of, check_columns
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError


class FrameBatches:
    """The batches of a frame, read as a stream of record batches of Arrow.

    Numbers, truth values and texts are features of their column's name, as in a dict; a column of lists of texts is a
    namespace of words unless ``namespaces`` has a place for it. Null and NaN are absent. A stream that can be read
    once, a ``pyarrow.RecordBatchReader``, serves one pass.
    """

    def __init__(
        self,
        data: Any,
        given: Mapping[str, Any],
        namespaces: Mapping[str, Sequence[str]] | None,
        format: TextFormat,
    ) -> None:
        """``given``: y, weight, base and tags, each an array, a column's name or None. Raises ExtraMissing."""
        self.replayable = not isinstance(data, pyarrow().RecordBatchReader)
        self.data, self.namespaces, self.format = data, namespaces, format
        self.names = {name: value for name, value in given.items() if isinstance(value, str)}
        arrays = {name: None if isinstance(value, str) else value for name, value in given.items()}
        check_columns(format, given["weight"], given["base"])
        self.arrays, self.columns = arrays, RowColumns(format, **arrays)
        if hasattr(data, "__len__"):
            self.columns.check(len(data))

    def __iter__(self) -> Iterator[Batch]:
        """Raises DataError for numbers out of range and columns of another length, UsageError for other types."""
        stream = self.stream()
        for parameter, name in self.names.items():
            if name not in stream.schema.names:
                raise UsageError(f"{parameter}: there is no column {name!r}")
        groups = groups_of(stream.schema, self.names.values(), self.namespaces, self.format)
        step = max(1, min(MAX_ROWS, MAX_FEATURES // max(1, len(stream.schema))))
        begin = 0
        for whole in stream:
            for offset in range(0, whole.num_rows, step):
                record = whole.slice(offset, step)
                batch = self.batch(record, groups, begin)
                batch.first_line = begin
                yield batch
                begin += record.num_rows
        self.columns.check(begin)

    def stream(self) -> Any:
        """Record batches, with a ``schema``."""
        return open_stream(self.data)

    def batch(self, record: Any, groups: list[Group], begin: int) -> Batch:
        end = begin + record.num_rows
        self.columns.check_reaches(end)
        rows = self.rows(record, begin, end)
        if self.format.names:
            return self.named(record, groups, rows, begin)
        return batch_of([part for group in groups for part in group.parts(record, begin)], rows)

    def rows(self, record: Any, begin: int, end: int) -> dict[str, object]:
        """Labels, importance, initial predictions and tags, of arrays and columns."""
        if not self.names:
            return self.columns.take(begin, end)
        taken = {name: None if array is None else array[begin:end] for name, array in self.arrays.items()}
        for parameter, name in self.names.items():
            taken[parameter] = to_python(record.column(name))
        return RowColumns(self.format, **taken, first=begin).take(0, end - begin)

    def named(self, record: Any, groups: list[Group], rows: dict[str, Any], begin: int) -> Batch:
        """A batch with names of features, made by way of dicts, which takes longer."""
        reader = DictRows(self.format.hash_seed, self.format.hash_all, True, begin)
        columns = {column.name: to_python(record.column(column.name)) for group in groups for column in group.columns}
        dicts = (
            {group.space: {column.name: columns[column.name][row] for column in group.columns} for group in groups}
            for row in range(record.num_rows)
        )
        reader.read(dicts, record.num_rows, 2**32)
        return dict_batch(reader, rows)


def open_stream(data: Any) -> Any:
    """Open the stream of record batches of a frame. Raises UsageError for a stream of something else."""
    try:
        return pyarrow().RecordBatchReader.from_stream(data)
    except (pyarrow().ArrowInvalid, TypeError) as error:
        raise UsageError(f"expected a data frame, not {type(data).__name__}: {error}") from None


def type_of(data: Any, name: str) -> Any:
    """The Arrow type of a frame's column, None where there is no such column. Raises as ``open_stream``."""
    schema = data.schema if isinstance(data, pyarrow().RecordBatchReader) else open_stream(data).schema
    return schema.field(name).type if name in schema.names else None


def to_python(entries: Any) -> Any:
    """A column's entries as Python objects, numbers as an array; of lists without what is null."""
    types = pyarrow().types
    if types.is_integer(entries.type) or types.is_floating(entries.type):
        return entries.to_numpy(zero_copy_only=False)
    values = entries.to_pylist()
    if types.is_list(entries.type) or types.is_large_list(entries.type):
        return [words and [word for word in words if word is not None] for words in values]
    return values


class DictBatches:
    """The batches of dicts, read as they come: a number is ``name:value``, a text ``name:text``.

    True is 1; False, None and NaN are absent. A dict or a list of texts is a namespace of its name, of such features
    or of words; it stands behind the row's anonymous features. An iterator serves one pass.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: RowColumns, format: TextFormat) -> None:
        self.rows, self.columns, self.format = rows, columns, format
        self.replayable = not isinstance(rows, Iterator)
        if hasattr(rows, "__len__"):
            columns.check(len(rows))

    def __iter__(self) -> Iterator[Batch]:
        """Raises DataError for what is no row, no number, or not finite; for columns of another length."""
        format, rows, begin = self.format, iter(self.rows), 0
        reader = DictRows(format.hash_seed, format.hash_all, format.names)
        while count := reader.read(rows, MAX_ROWS, MAX_FEATURES):
            self.columns.check_reaches(begin + count)
            batch = dict_batch(reader, self.columns.take(begin, begin + count))
            batch.first_line = begin
            yield batch
            begin += count
        self.columns.check(begin)


def dict_batch(reader: DictRows, rows: dict[str, Any]) -> Batch:
    """The batch of what was read; ``rows`` are its other columns, and its text."""
    columns, rows_read = reader.take()
    text, names = rows.pop("text"), None
    if rows_read is not None:
        words, features, spaces = rows_read
        shift = np.uint32(len(text))
        text += words
        features[:, [0, 1, 4, 5]] += shift
        kinds = features[:, 2:4].astype(np.uint8)
        spans = (features[:, 0], features[:, 1], kinds[:, 0], kinds[:, 1], features[:, 4], features[:, 5])
        names = Names(*spans, *(spaces.T + shift))
    line = np.arange(len(rows["label"]), dtype=np.uint32)
    return Batch(**rows, **columns, text=memoryview(text + SLACK), line=line, names=names)
