"""Batches of tables in memory, whose numbers are never made text: matrices, a namespace each, dicts and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from vwlite.data.batch import Batch
from vwlite.data.frame_batches import DictBatches, FrameBatches
from vwlite.data.frames import is_frame
from vwlite.data.matrices import is_matrix, matrix_of
from vwlite.data.name_hashes import ColumnNames, encoded
from vwlite.data.row_columns import RowColumns
from vwlite.data.segments import MAX_FEATURES, MAX_ROWS, batch_of
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError


def is_table(data: Any) -> bool:
    """Whether ``table_batches`` takes it: a matrix, a dict of matrices, a list of dicts, a data frame.

    Other iterables of dicts it takes as well; ``of_dicts`` tells them from those of lines.
    """
    if is_matrix(data) or is_frame(data) or isinstance(data, Mapping):
        return True
    return isinstance(data, list | tuple) and bool(data) and isinstance(data[0], Mapping)


def of_dicts(data: Iterable[Any]) -> tuple[bool, Iterable[Any]]:
    """Whether the first item is a dict; and the items, in place of ``data`` where that is an iterator."""
    items = iter(data)
    first = next(items, None)
    if isinstance(data, Iterator) and first is not None:
        data = iter(chain((first,), items))
    return isinstance(first, Mapping), data


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
) -> Table:
    """The batches of a table, those that the parser makes of the same table as text.

    ``data``: a 2-D NumPy array; a sparse matrix of SciPy's kind; a dict of namespace and one of these; an iterable of
    dicts of name and value (``DictBatches``); or a data frame that hands out a stream of Arrow (``FrameBatches``).
    Column ``j`` of a matrix is the feature ``j`` or has its name in ``names``, a sequence or, for a dict of matrices, a
    dict of sequences. ``namespaces``: a dict of namespace and the names of a frame's columns; the others are anonymous.
    ``y``, ``weight``, ``base`` and ``tags`` are arrays of an entry for each row (``RowColumns``) or, of a frame, the
    name of a column, which then is no feature.

    Iterate as often as wanted where the result is ``replayable``. Nothing is written to ``data``, whose memory batches
    may share. Raises DataError for values, labels and lengths that cannot be, UsageError for data of another kind,
    ExtraMissing where pyarrow is needed and absent.
    """
    if text_format.makes_features:
        raise UsageError("--affix and --spelling read names in text, not in tables: learn what write_text writes")
    if is_frame(data):
        if names is not None:
            raise UsageError("names: a frame's columns have their own")
        return FrameBatches(data, {"y": y, "weight": weight, "base": base, "tags": tags}, namespaces, text_format)
    if namespaces is not None:
        raise UsageError("namespaces: of a frame's columns only; matrices stand in a dict by namespace")
    columns = RowColumns(text_format, y, weight, base, tags)
    if is_matrix(data):  # one of SciPy's is a dict, too
        return MatrixBatches({"": data}, {"": names}, columns, text_format)
    if isinstance(data, Mapping):
        return MatrixBatches(data, space_names(data, names), columns, text_format)
    if not isinstance(data, Iterable) or isinstance(data, str | bytes) or hasattr(data, "shape"):
        shape = f" of shape {data.shape}" if hasattr(data, "shape") else ""
        raise UsageError(f"expected a 2-D array, a sparse matrix or rows of dicts, not {type(data).__name__}{shape}")
    if names is not None:
        raise UsageError("names: dicts have their own")
    return DictBatches(data, columns, text_format)


def space_names(data: Mapping[str, Any], names: Any) -> Mapping[str, Any]:
    """The names of each namespace's columns. Raises UsageError for those of no namespace."""
    if names is None:
        return {}
    if not isinstance(names, Mapping):
        raise UsageError("names: expected a dict of namespace and names, as the data are")
    if unknown := [repr(space) for space in names if space not in data]:
        raise UsageError(f"names: the data have no namespace {', '.join(unknown)}")
    return names


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


Table = MatrixBatches | DictBatches | FrameBatches
