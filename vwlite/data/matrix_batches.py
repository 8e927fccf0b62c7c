"""Batches of several matrices, a namespace each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vwlite.data.batch import Batch
from vwlite.data.matrices import matrix_of
from vwlite.data.name_hashes import ColumnNames, encoded
from vwlite.data.row_columns import RowColumns
from vwlite.data.segments import MAX_FEATURES, MAX_ROWS, batch_of
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError


class MatrixBatches:
    """The batches of one or several matrices, in as many passes as wanted."""

    replayable = True

    def __init__(
        self, tables: Mapping[str, Any], names: Mapping[str, Sequence[str]], columns: RowColumns, format: TextFormat
    ) -> None:
        if not tables:
            raise DataError("the data have no namespace")
        self.matrices = [
            matrix_of(table, ColumnNames(encoded(space) if space else b"", names.get(space), format))
            for space, table in tables.items()
        ]
        self.columns, self.format = columns, format
        self.rows = self.matrices[0].rows
        for space, matrix in zip(tables, self.matrices, strict=True):
            if matrix.rows != self.rows:
                raise DataError(f"namespace {space!r} has {matrix.rows} rows, {next(iter(tables))!r} has {self.rows}")
        columns.check(self.rows)

    def __iter__(self) -> Iterator[Batch]:
        per_row = sum(matrix.per_row for matrix in self.matrices)
        step = max(1, min(MAX_ROWS, int(MAX_FEATURES / max(per_row, 1))))
        for begin in range(0, self.rows, step):
            end = min(begin + step, self.rows)
            parts = [matrix.part(begin, end, self.format.names) for matrix in self.matrices]
            batch = batch_of(parts, self.columns.take(begin, end))
            batch.first_line = begin
            yield batch
