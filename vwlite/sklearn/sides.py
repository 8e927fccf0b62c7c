"""Users and items as sparse tables: every id, number, category and word of theirs is a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.utils.validation import check_array, check_consistent_length

from vwlite.data.batch import offsets
from vwlite.data.frames import Numbers, Words, column_of, features_of, is_frame, owners, pyarrow
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.options import not_one_of

SIDES = ("user", "item")
Given = dict[str, dict[str, Any]]  # what is given of each namespace, by name: arrays of NumPy or Arrow, or tables


class Categories:
    """A column for each value that was there at first, ascending; other values have none."""

    def __init__(self, name: str, entries: Any) -> None:
        self.name = name
        self.values = np.unique(self.distinct(entries)[0])

    @property
    def width(self) -> int:
        return len(self.values)

    def distinct(self, entries: Any) -> tuple[np.ndarray, np.ndarray]:
        """The values, each once, and int64[n]: the place of each row's, -1 where it is missing. Raises DataError."""
        if isinstance(entries, np.ndarray):
            try:
                values, codes = np.unique(entries, return_inverse=True)
            except TypeError:
                raise DataError(f"column {self.name!r}: ids are all numbers or all texts") from None
            return values, codes
        if pyarrow().types.is_dictionary(entries.type):
            entries = entries.dictionary_decode()
        encoded = entries.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return encoded.dictionary.to_numpy(zero_copy_only=False), codes.astype(np.int64)

    def numbers(self, entries: Any) -> np.ndarray:
        """int64[n]: the column of each row, -1 where it has none. Raises DataError."""
        values, codes = self.distinct(entries)
        if not (self.width and len(values)):
            return np.full(len(codes), -1)
        if (self.values.dtype.kind in "biuf") != (values.dtype.kind in "biuf"):
            one, other = ("text", "numbers") if values.dtype.kind not in "biuf" else ("a number", "texts")
            raise DataError(f"column {self.name!r}: {str(values[0])!r} is {one}, and the column was of {other}")
        places = np.minimum(np.searchsorted(self.values, values), self.width - 1)
        found: np.ndarray = np.append(np.where(self.values[places] == values, places, -1), -1)[codes]
        return found

    def table(self, entries: Any) -> csr_matrix:
        numbers = self.numbers(entries)
        return ones(numbers, np.arange(len(numbers) + 1), self.width)


class WordLists(Categories):
    """A column for each word."""

    def distinct(self, entries: Any) -> tuple[np.ndarray, np.ndarray]:
        return super().distinct(entries.flatten())

    def table(self, entries: Any) -> csr_matrix:
        sizes = entries.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return ones(self.numbers(entries), offsets(sizes), self.width)


class Number:
    """One column, in which a missing number is 0."""

    width = 1

    def __init__(self, name: str, entries: Any) -> None:
        self.column = Numbers(name, 0, TextFormat())

    def table(self, entries: Any) -> csr_matrix:
        hashes, values = np.empty(len(entries), np.uint32), np.empty(len(entries), np.float32)
        self.column.fill(entries, hashes, values, 0)
        return csr_matrix(values[:, None])


class Matrix:
    """The columns of a table, as they are."""

    def __init__(self, name: str, table: csr_matrix) -> None:
        self.name, self.width = name, table.shape[1]

    def table(self, table: csr_matrix) -> csr_matrix:
        if table.shape[1] != self.width:
            raise DataError(f"the {self.name} table has {table.shape[1]} columns, and had {self.width} at first")
        return table


Encoder = Categories | Number | Matrix


def ones(numbers: np.ndarray, indptr: np.ndarray, width: int) -> csr_matrix:
    """Rows with a 1 in each of their columns; -1 is no column."""
    known = numbers >= 0
    indices = numbers[known].astype(np.int32)
    entries = (np.ones(len(indices), np.float32), indices, offsets(known)[indptr])
    return csr_matrix(entries, shape=(len(indptr) - 1, width))


def encoder_of(name: str, entries: Any) -> Encoder:
    """Raises UsageError for columns of a frame that are neither numbers nor texts."""
    if hasattr(entries, "indptr"):
        return Matrix(name, entries)
    if isinstance(entries, np.ndarray) or name in SIDES:
        return Categories(name, entries)
    column = column_of(pyarrow().field(name, entries.type), 0, TextFormat())
    if isinstance(column, Numbers):
        return Number(name, entries)
    return WordLists(name, entries) if isinstance(column, Words) else Categories(name, entries)


class Sides:
    """The tables of rows, one for each namespace: user, item and, of other columns of a frame, the anonymous one.

    ``X``: an array of two columns, the ids of users and items; a data frame with the columns ``user`` and ``item``,
    which are ids, and others, which ``namespaces`` may count to one of the two; or a pair of tables.
    """

    def __init__(self, X: Any, namespaces: Mapping[str, Sequence[str]] | None) -> None:
        """Raises DataError, UsageError for columns that are not there, ValueError."""
        for space in namespaces or {}:
            if space not in SIDES:
                raise UsageError(f"namespaces: {not_one_of(space, SIDES)}")
        self.namespaces = namespaces
        self.encoders = {
            space: {name: encoder_of(name, entries) for name, entries in columns.items()}
            for space, columns in self.given(X).items()
        }

    @property
    def ids(self) -> dict[str, np.ndarray]:
        """Those of each side that has ids, ascending."""
        found = {side: self.encoders[side].get(side) for side in SIDES}
        return {side: one.values for side, one in found.items() if isinstance(one, Categories)}

    @property
    def widths(self) -> dict[str, int]:
        """The number of columns of each namespace; ids come first."""
        return {space: sum(one.width for one in found.values()) for space, found in self.encoders.items()}

    def tables(self, X: Any) -> dict[str, csr_matrix]:
        """CSR of float32 for each namespace. Raises DataError, ValueError."""
        found = {}
        given = self.given(X)
        for space, encoders in self.encoders.items():
            columns = given.get(space, {})
            if missing := [name for name in encoders if name not in columns]:
                raise DataError(f"the rows have no column {missing[0]!r}, which they had at first")
            parts = [encoder.table(columns[name]) for name, encoder in encoders.items()]
            found[space] = parts[0] if len(parts) == 1 else hstack(parts, "csr", np.float32)
        return found

    def given(self, X: Any) -> Given:
        if is_frame(X):
            return of_frame(X, self.namespaces)
        if self.namespaces:
            raise UsageError("namespaces: these are of data frames")
        if is_pair(X):
            tables = [check_array(one, accept_sparse="csr", dtype=np.float32, input_name="X") for one in X]
            check_consistent_length(*tables)
            return {side: {side: table} for side, table in zip(SIDES, tables, strict=True)}
        ids = check_array(X, dtype=None, input_name="X")
        if ids.shape[1] != 2:
            raise DataError(f"X has {ids.shape[1]} columns: expected two, the ids of users and items")
        return {side: {side: ids[:, place]} for place, side in enumerate(SIDES)}


def is_pair(X: Any) -> bool:
    """Whether it is two sparse tables."""
    return isinstance(X, tuple | list) and len(X) == 2 and all(hasattr(one, "indptr") for one in X)


def of_frame(frame: Any, namespaces: Mapping[str, Sequence[str]] | None) -> Given:
    """The columns of a frame, ids first. Raises UsageError."""
    table = pyarrow().table(frame)
    columns = {name: table.column(name).combine_chunks() for name in features_of(table.schema, set())}
    owner = {**owners(namespaces or {}, columns), **{side: side for side in SIDES if side in columns}}
    found: Given = {side: {} for side in SIDES}
    for name in sorted(columns, key=lambda name: name not in SIDES):
        found.setdefault(owner.get(name, ""), {})[name] = columns[name]
    for side in SIDES:
        if not found[side]:
            raise UsageError(f"the frame has no column {side!r}, and namespaces names none for it")
    return found
