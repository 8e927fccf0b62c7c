"""Batches of tables in memory, whose numbers are never made text: matrices, a namespace each, dicts and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from vwlite.data.batch import Batch, offsets
from vwlite.data.columns import ColumnNames, encode_name
from vwlite.data.frame_batches import DictBatches, FrameBatches
from vwlite.data.frames import is_frame
from vwlite.data.row_columns import MAX_FEATURES, MAX_ROWS, Part, RowColumns, batch_of
from vwlite.data.text_format import SENTENCES, Code, TextFormat
from vwlite.errors import DataError, UsageError

CSR_PARTS = ("indptr", "indices", "data", "shape")


def is_matrix(data: Any) -> bool:
    """Whether it is a 2-D NumPy array or a sparse matrix of SciPy's kind."""
    return (isinstance(data, np.ndarray) and data.ndim == 2) or is_sparse(data)


def is_sparse(data: Any) -> bool:
    return all(hasattr(data, name) for name in CSR_PARTS) or hasattr(data, "tocsr")


class Matrix:
    """The rows of a matrix, one namespace.

    Zeros are no features. Raises DataError for a value that is NaN or beyond single precision, with its row and column.
    """

    def __init__(self, data: Any, names: ColumnNames) -> None:
        """Raises UsageError where there are not as many names as columns."""
        self.names = names
        self.rows, self.width = map(int, data.shape)
        if names.names is not None and len(names.names) != self.width:
            raise UsageError(f"names has {len(names.names)} entries, the data have {self.width} columns")

    def part(self, begin: int, end: int, named: bool) -> Part:
        """The features of these rows, with names if they are ``named``."""
        indptr, columns, values = self.entries(begin, end)
        values = single_precision(values)
        if not np.isfinite(values).all():
            raise self.refusal(begin, indptr, columns, values)
        nonzero = values != 0
        if not nonzero.all():
            indptr, columns, values = offsets(nonzero)[indptr], columns[nonzero], values[nonzero]
        names = self.names
        texts = names.texts(columns) if named else None
        return Part(names.namespace, names.seed, indptr, names.hashes(columns), values, texts)

    def refusal(self, begin: int, indptr: np.ndarray, columns: np.ndarray, values: np.ndarray) -> DataError:
        at = int(np.argmin(np.isfinite(values)))
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        code = Code.NAN_FEATURE_VALUE if np.isnan(values[at]) else Code.NOT_FINITE
        return DataError(f"row {begin + row}, column {self.names.shown(int(columns[at]))}: {SENTENCES[code]}")

    def entries(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where the rows' entries begin, from 0; their columns, int32 or int64; their values."""
        raise NotImplementedError


class Dense(Matrix):
    def __init__(self, data: np.ndarray, names: ColumnNames) -> None:
        super().__init__(data, names)
        check_numbers(data)
        self.data = data

    @property
    def per_row(self) -> float:
        return self.width

    def entries(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values = single_precision(self.data[begin:end])
        nonzero = values != 0
        if nonzero.all():
            columns = np.tile(np.arange(self.width, dtype=np.int32), end - begin)
            return np.arange(end - begin + 1) * self.width, columns, values.reshape(-1)
        return offsets(nonzero.sum(axis=1)), np.nonzero(nonzero)[1].astype(np.int32), values[nonzero]


class Sparse(Matrix):
    """Compressed sparse rows; other sparse matrices of SciPy are turned into them by their own ``tocsr``."""

    def __init__(self, data: Any, names: ColumnNames) -> None:
        """Raises DataError for offsets or columns outside the matrix, UsageError for other matrices."""
        if getattr(data, "format", "csr") != "csr" or not hasattr(data, "indptr"):
            if not hasattr(data, "tocsr"):
                raise UsageError(f"expected a sparse matrix in rows (CSR), not {data.format!r}")
            data = data.tocsr()
        super().__init__(data, names)
        self.indptr, self.indices = as_integers(data.indptr), as_integers(data.indices)
        self.data = np.asarray(data.data)
        check_numbers(self.data)
        self.check()

    def check(self) -> None:
        indptr, indices = self.indptr, self.indices
        if len(indptr) != self.rows + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
            raise DataError("indptr: expected an offset for each row and the end, from 0, ascending")
        if indptr[-1] > len(indices) or indptr[-1] > len(self.data):
            raise DataError(f"indptr ends at {indptr[-1]}, there are {min(len(indices), len(self.data))} entries")
        used = indices[: indptr[-1]]
        if len(used) and (used.min() < 0 or used.max() >= self.width):
            at = int(np.argmax((used < 0) | (used >= self.width)))
            row = int(np.searchsorted(indptr, at, side="right")) - 1
            raise DataError(f"row {row}: there is no column {used[at]}, but 0 to {self.width - 1}")

    @property
    def per_row(self) -> float:
        return float(self.indptr[-1]) / max(self.rows, 1)

    def entries(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, last = int(self.indptr[begin]), int(self.indptr[end])
        indptr = self.indptr[begin : end + 1]
        return indptr - indptr.dtype.type(first) if first else indptr, self.indices[first:last], self.data[first:last]


def as_integers(array: Any) -> np.ndarray:
    """Contiguous whole numbers, int32 as they are, others as int64."""
    array = np.asarray(array)
    return np.ascontiguousarray(array, np.int32 if array.dtype == np.int32 else np.int64)


def single_precision(values: np.ndarray) -> np.ndarray:
    """Contiguous float32, the values' own memory where it can be."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, np.float32)


def check_numbers(array: np.ndarray) -> None:
    if array.dtype.kind not in "biuf":
        raise UsageError(f"expected an array of numbers, not of {array.dtype}")


def matrix_of(data: Any, names: ColumnNames) -> Dense | Sparse:
    """Raises UsageError for what is no matrix."""
    if isinstance(data, np.ndarray) and data.ndim == 2:
        return Dense(data, names)
    if is_sparse(data):
        return Sparse(data, names)
    shape = f" of shape {data.shape}" if isinstance(data, np.ndarray) else ""
    hint = "; a row that is a dict goes into a list" if isinstance(data, str | bytes | int | float) else ""
    raise UsageError(f"expected a 2-D array or a sparse matrix, not {type(data).__name__}{shape}{hint}")


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
            matrix_of(table, ColumnNames(encode_name(space) if space else b"", names.get(space), format))
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
