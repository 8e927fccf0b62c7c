"""Columns of data frames, by way of Arrow, as features of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from vwlite._native.hash_names import hash_texts
from vwlite.data.batch import offsets
from vwlite.data.columns import encode_name, hashes_of, namespace_hash
from vwlite.data.row_columns import Part
from vwlite.data.text_format import SENTENCES, Code, TextFormat
from vwlite.errors import DataError, ExtraMissing, UsageError


def is_frame(data: Any) -> bool:
    """Whether it hands out its columns as a stream of Arrow."""
    return hasattr(data, "__arrow_c_stream__")


def pyarrow() -> Any:
    """The module. Raises ExtraMissing."""
    try:
        import pyarrow
    except ImportError:
        message = "data frames, and files of Arrow and Parquet, are read by pyarrow: pip install 'vwlite[arrow]'"
        raise ExtraMissing(message) from None
    return pyarrow


class Column:
    """A column of one value a row. ``fill`` writes its features' hashes and values; 0 is no feature."""

    def __init__(self, name: str, seed: int, format: TextFormat) -> None:
        self.name, self.format = name, format
        self.hash = int(hashes_of([encode_name(name)], seed, format)[0])

    def fill(self, entries: Any, hashes: np.ndarray, values: np.ndarray, first: int) -> None:
        """``hashes``, uint32[n], and ``values``, float32[n], of a column's entries, the row ``first`` and the next."""
        raise NotImplementedError


class Numbers(Column):
    """``name:value``, absent where it is null or NaN."""

    def fill(self, entries: Any, hashes: np.ndarray, values: np.ndarray, first: int) -> None:
        types = pyarrow().types
        if types.is_boolean(entries.type):
            entries = entries.fill_null(False)
        elif not (types.is_integer(entries.type) or types.is_floating(entries.type)):
            entries = entries.cast("float64")
        with np.errstate(over="ignore"):
            values[:] = entries.to_numpy(zero_copy_only=False)
        np.nan_to_num(values, copy=False, nan=0, posinf=np.inf, neginf=-np.inf)
        if (wrong := np.isinf(values)).any():
            row = first + int(np.argmax(wrong))
            raise DataError(f"row {row}, column {self.name!r}: {SENTENCES[Code.NOT_FINITE]}")
        hashes[:] = self.hash


class Texts(Column):
    """``name:text``, absent where it is null."""

    def fill(self, entries: Any, hashes: np.ndarray, values: np.ndarray, first: int) -> None:
        hashes[:] = text_hashes(entries, self.hash, self.format, text_values=True)
        values[:] = entries.is_valid().to_numpy(zero_copy_only=False) if entries.null_count else 1


class Codes(Column):
    """``name:text`` of a dictionary's texts, each of which is hashed once."""

    dictionary: Any = None
    table: np.ndarray

    def fill(self, entries: Any, hashes: np.ndarray, values: np.ndarray, first: int) -> None:
        if self.dictionary is None or not same_memory(self.dictionary, entries.dictionary):
            self.dictionary = entries.dictionary
            self.table = text_hashes(self.dictionary, self.hash, self.format, text_values=True)
        codes = entries.indices
        valid = entries.is_valid() if self.dictionary.null_count or codes.null_count else None
        if not len(self.table):
            values[:] = 0
            return
        np.take(self.table, (codes.fill_null(0) if valid else codes).to_numpy(zero_copy_only=False), out=hashes)
        values[:] = 1
        if valid is not None:
            values[:] = valid.to_numpy(zero_copy_only=False)


class Words:
    """A column of lists of texts, each text a word of a namespace."""

    def __init__(self, name: str, seed: int, format: TextFormat) -> None:
        self.name, self.seed, self.format = name, seed, format

    def part(self, entries: Any, namespace: bytes, joins: bool) -> Part:
        """The words; a null word is absent, as is a null list."""
        words = entries.flatten()
        sizes = entries.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        hashes = text_hashes(words, self.seed, self.format, text_values=False)
        indptr, valid_offsets = offsets(sizes), words.is_valid().to_numpy(zero_copy_only=False)
        if not valid_offsets.all():
            indptr, hashes = offsets(valid_offsets)[indptr], hashes[valid_offsets]
        return Part(namespace, self.seed, indptr, hashes, np.ones(len(hashes), np.float32), joins=joins)


def same_memory(left: Any, right: Any) -> bool:
    """Whether two arrays that are alive have the same buffers."""
    places = [[buffer and buffer.address for buffer in array.buffers()] for array in (left, right)]
    return len(left) == len(right) and left.offset == right.offset and places[0] == places[1]


def text_hashes(entries: Any, seed: int, format: TextFormat, *, text_values: bool) -> np.ndarray:
    """uint32[n] of an Arrow array of texts; those of nulls are of no use."""
    if pyarrow().types.is_dictionary(entries.type):
        entries = entries.dictionary_decode()
    entries = entries.cast("large_string")
    out = np.empty(len(entries), np.uint32)
    _, places, raw = entries.buffers()
    if len(out):
        starts = np.frombuffer(places, np.int64, len(out) + 1, 8 * entries.offset)
        text = np.frombuffer(raw or b"", np.uint8)
        hash_texts(text, starts, seed, format.hash_all, text_values, out)
    return out


class Group:
    """The columns of one namespace: those of one value a row first, then the lists."""

    def __init__(self, space: str, fields: Sequence[Any], format: TextFormat) -> None:
        self.space = space
        self.namespace = encode_name(space) if space else b""
        self.seed = namespace_hash(self.namespace, format)
        parts = [column_of(field, self.seed, format) for field in fields]
        self.single = [column for column in parts if not isinstance(column, Words)]
        self.lists = [column for column in parts if isinstance(column, Words)]

    @property
    def columns(self) -> list[Column | Words]:
        return [*self.single, *self.lists]

    def parts(self, record: Any, first: int) -> Iterable[Part]:
        """The features of a record batch, whose first row is ``first``. Raises DataError."""
        rows, width = record.num_rows, len(self.single)
        if width or not self.lists:
            hashes, values = np.empty((width, rows), np.uint32), np.empty((width, rows), np.float32)
            for place, column in enumerate(self.single):
                column.fill(record.column(column.name), hashes[place], values[place], first)
            yield self.dense(hashes.T, values.T)
        for place, column in enumerate(self.lists):
            yield column.part(record.column(column.name), self.namespace, joins=place > 0 or width > 0)

    def dense(self, hashes: np.ndarray, values: np.ndarray) -> Part:
        nonzero = values != 0
        if nonzero.all():
            indptr = np.arange(len(values) + 1) * values.shape[1]
            columns = np.ascontiguousarray(hashes).ravel(), np.ascontiguousarray(values).ravel()
        else:
            nonzero = np.ascontiguousarray(nonzero)
            indptr, columns = offsets(nonzero.sum(axis=1)), (hashes[nonzero], values[nonzero])
        return Part(self.namespace, self.seed, indptr, *columns)


def column_of(field: Any, seed: int, format: TextFormat) -> Column | Words:
    """Raises UsageError for types that are neither numbers nor texts."""
    types, kind = pyarrow().types, field.type
    if types.is_list(kind) or types.is_large_list(kind):
        item = kind.value_type
        if is_text(item.value_type if types.is_dictionary(item) else item):
            return Words(field.name, seed, format)
    elif types.is_dictionary(kind):
        if is_text(kind.value_type):
            return Codes(field.name, seed, format)
        kind = kind.value_type
    elif is_text(kind):
        return Texts(field.name, seed, format)
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if any(test(kind) for test in numeric):
        return Numbers(field.name, seed, format)
    raise UsageError(f"column {field.name!r} is of type {field.type}: expected numbers, texts or lists of texts")


def is_text(kind: Any) -> bool:
    types = pyarrow().types
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def groups_of(
    schema: Any, aside: Iterable[str], namespaces: Mapping[str, Sequence[str]] | None, format: TextFormat
) -> list[Group]:
    """The columns but those ``aside`` and pandas' index: anonymous ones, then namespaces, then lists, each one.

    Raises UsageError for columns that are not there, are twice or are in two namespaces.
    """
    fields = features_of(schema, set(aside))
    owner = owners(namespaces or {}, fields)
    groups = {"": Group("", [field for name, field in fields.items() if not owner.get(name)], format)}
    for space in namespaces or {}:
        if space:
            members = [field for name, field in fields.items() if owner.get(name) == space]
            groups[space] = Group(space, members, format)
    anonymous = groups[""]
    for column in [column for column in anonymous.lists if column.name not in owner]:
        if column.name in groups:
            raise UsageError(f"{column.name!r} is a namespace and a column of lists, which is a namespace of its own")
        groups[column.name] = Group(column.name, [fields[column.name]], format)
        anonymous.lists.remove(column)
    return list(groups.values())


def features_of(schema: Any, aside: set[str]) -> dict[str, object]:
    """The fields whose columns are features, by name."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    absent = {*aside, *(name for name in index if isinstance(name, str))}
    fields: dict[str, object] = {}
    for field in schema:
        if field.name in fields:
            raise UsageError(f"two columns have the name {field.name!r}")
        if field.name not in absent:
            fields[field.name] = field
    return fields


def owners(namespaces: Mapping[str, Sequence[str]], fields: Mapping[str, Any]) -> dict[str, str]:
    """The namespace of each column that ``namespaces`` name."""
    owner: dict[str, str] = {}
    for space, members in namespaces.items():
        for name in members:
            if name not in fields:
                raise UsageError(f"namespaces: there is no column {name!r} for {space!r}")
            if owner.setdefault(name, space) != space:
                raise UsageError(f"namespaces: column {name!r} is in {owner[name]!r} and {space!r}")
    return owner
