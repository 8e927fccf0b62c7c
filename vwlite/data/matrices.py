"""Dense and sparse matrices, a namespace each, as features of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.csr import offsets
from vwlite.data.name_hashes import ColumnNames
from vwlite.data.parse_errors import SENTENCES, Code
from vwlite.data.segments import Part
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
        kept = values != 0
        if not kept.all():
            indptr, columns, values = offsets(kept)[indptr], columns[kept], values[kept]
        names = self.names
        texts = names.texts(columns) if named else None
        return Part(names.namespace, names.seed, indptr, names.hashes(columns), values, texts)

    def refusal(self, begin: int, indptr: np.ndarray, columns: np.ndarray, values: np.ndarray) -> DataError:
        at = int(np.argmin(np.isfinite(values)))
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        code = Code.NAN_FEATURE_VALUE if np.isnan(values[at]) else Code.NOT_FINITE
        return DataError(f"row {begin + row}, column {self.names.shown(int(columns[at]))}: {SENTENCES[code]}")

    def entries(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the rows' entries begin, from 0; their columns, int32 or int64; their values."""
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
        kept = values != 0
        if kept.all():
            columns = np.tile(np.arange(self.width, dtype=np.int32), end - begin)
            return np.arange(end - begin + 1) * self.width, columns, values.reshape(-1)
        return offsets(kept.sum(axis=1)), np.nonzero(kept)[1].astype(np.int32), values[kept]


class Sparse(Matrix):
    """Compressed sparse rows; other sparse matrices of SciPy are turned into them by their own ``tocsr``."""

    def __init__(self, data: Any, names: ColumnNames) -> None:
        """Raises DataError for offsets or columns outside the matrix, UsageError for other matrices."""
        if getattr(data, "format", "csr") != "csr" or not hasattr(data, "indptr"):
            if not hasattr(data, "tocsr"):
                raise UsageError(f"expected a sparse matrix in rows (CSR), not {data.format!r}")
            data = data.tocsr()
        super().__init__(data, names)
        self.indptr, self.indices = whole(data.indptr), whole(data.indices)
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


def whole(array: Any) -> np.ndarray:
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
