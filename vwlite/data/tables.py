"""Batches of tables in memory, whose numbers are never made text: matrices, a namespace each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vwlite.data.batch import Batch
from vwlite.data.matrices import is_matrix, matrix_of
from vwlite.data.name_hashes import ColumnNames, encoded
from vwlite.data.row_columns import RowColumns
from vwlite.data.segments import batch_of
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError

MOST_ROWS, MOST_FEATURES = 1 << 16, 1 << 22  # of a batch; the second is about


def is_table(data: Any) -> bool:
    """Whether ``table_batches`` takes it: a matrix, or a dict of matrices."""
    return is_matrix(data) or isinstance(data, Mapping)


def table_batches(
    data: Any,
    y: Any = None,
    *,
    weight: Any = None,
    base: Any = None,
    tags: Any = None,
    names: Any = None,
    namespaces: Any = None,
    text_format: TextFormat,
) -> Matrices:
    """The batches of a table, those that the parser makes of the same table as text.

    ``data``: a 2-D NumPy array; a sparse matrix of SciPy's kind; or a dict of namespace and one of these. Column ``j``
    is the feature ``j`` or has its name in ``names``, a sequence or, for a dict, a dict of sequences. ``y``,
    ``weight``, ``base`` and ``tags`` are arrays of an entry for each row (``RowColumns``).

    Iterate as often as wanted where the result is ``replayable``. Nothing is written to ``data``, whose memory batches
    may share. Raises DataError for values, labels and lengths that cannot be, UsageError for data of another kind.
    """
    if text_format.makes_features:
        raise UsageError("--affix and --spelling read names in text: they are not made of tables")
    if namespaces is not None:
        raise UsageError("namespaces: a dict of namespace and matrix says them")
    columns = RowColumns(text_format, y, weight, base, tags)
    if isinstance(data, Mapping) and not is_matrix(data):  # one of SciPy's is both
        if names is not None and not isinstance(names, Mapping):
            raise UsageError("names: expected a dict of namespace and names, as the data are")
        tables, names = data, names or {}
        if unknown := [repr(space) for space in names if space not in tables]:
            raise UsageError(f"names: the data have no namespace {', '.join(unknown)}")
    else:
        tables, names = {"": data}, {"": names}
    return Matrices(tables, names, columns, text_format)


class Matrices:
    """The batches of one or several matrices."""

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
        step = max(1, min(MOST_ROWS, int(MOST_FEATURES / max(per_row, 1))))
        for begin in range(0, self.rows, step):
            end = min(begin + step, self.rows)
            parts = [matrix.part(begin, end, self.format.names) for matrix in self.matrices]
            batch = batch_of(parts, self.columns.take(begin, end))
            batch.first_line = begin
            yield batch
