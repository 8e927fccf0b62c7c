"""Files of Arrow and Parquet (extra ``arrow``), and data frames read as a table that a model was trained on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite._native.hash_names import lower_texts
from vwlite.data.block_parser import Parsed
from vwlite.data.blocks import HEAD, Block, Digest, Mark
from vwlite.data.columns import NUMBER, TEXT, TOKENS, WORDS, Column, Columns, lower_table
from vwlite.data.frame_batches import FrameBatches
from vwlite.data.frame_batches import open_stream as open_frame
from vwlite.data.frames import is_text, pyarrow
from vwlite.data.input_stream import display_name, open_input
from vwlite.data.remote_input import open_url
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.storage.output_checks import is_url

ROWS = 1 << 14  # of a record batch
PARAMETERS = {"label": "y", "weight": "weight", "base": "base", "tag": "tags"}  # of roles


@contextmanager
def open_file(path: str, kind: str) -> Iterator[Any]:
    """The file, with a ``schema`` and ``record_batches``. Raises DataError for one that is none of this kind."""
    if path == "-":
        raise UsageError(f"--format {kind} is read from files, not from standard input")
    arrow = pyarrow()
    try:
        with arrow.PythonFile(open_url(path, seekable=True)) if is_url(path) else arrow.memory_map(path) as source:
            yield (Parquet if kind == "parquet" else Arrow)(source)
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:  # the latter of names that are no UTF-8
        reason = str(error).partition("\n")[0]
        if isinstance(error, MemoryError):
            reason += ": it is damaged, or there is not enough memory"
        raise DataError(f"{display_name(path)} cannot be read as {kind}: {reason}") from None


class Parquet:
    """A file of Parquet."""

    def __init__(self, source: Any) -> None:
        from pyarrow.parquet import ParquetFile

        self.file = ParquetFile(source)
        self.schema = self.file.schema_arrow

    def record_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """The record batches of these columns; other columns are not decoded."""
        return map(check_record, self.file.iter_batches(ROWS, columns=list(names)))


class Arrow:
    """A file of Arrow, or of its stream."""

    def __init__(self, source: Any) -> None:
        ipc = pyarrow().ipc
        try:
            file = ipc.open_file(source)
            self.found = map(file.get_batch, range(file.num_record_batches))
        except pyarrow().ArrowInvalid:
            source.seek(0)
            file = self.found = ipc.open_stream(source)
        self.schema = file.schema

    def record_batches(self, names: Sequence[str]) -> Iterator[Any]:
        for record in self.found:
            chosen = check_record(record.select(list(names)))
            for begin in range(0, chosen.num_rows, ROWS):
                yield chosen.slice(begin, ROWS)


def check_record(record: Any) -> Any:
    """A record batch of which offsets, codes and texts are checked: nothing else looks at them before they are used.

    Raises ArrowInvalid.
    """
    record.validate(full=True)
    return record


def look_at(path: str, kind: str, columns: Columns) -> tuple[Columns, Columns]:
    """The columns of a file, by its schema, and those that a model keeps. Raises DataError, ExtraMissing."""
    with open_file(path, kind) as file:
        placed = placed_in(file.schema, columns, display_name(path))
    return placed, placed.kept(columns)


def placed_in(schema: Any, columns: Columns, source: str) -> Columns:
    placed = columns.placed(schema.names, source)
    return placed.typed({field.name: type_of(field.type) for field in schema if field.name})


def type_of(kind: Any) -> str:
    """Tell how a column is read where nothing was said."""
    types = pyarrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if is_list(kind):
        return WORDS
    number = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return NUMBER if any(is_one(kind) for is_one in number) else TEXT


def is_list(kind: Any) -> bool:
    return bool(pyarrow().types.is_list(kind) or pyarrow().types.is_large_list(kind))


def names_labels(path: str, kind: str, columns: Columns) -> bool:
    """Whether the labels of a file are texts. Raises DataError, ExtraMissing."""
    label = columns.roles.get("label")
    with open_file(path, kind) as file:
        if label is None or label.name not in file.schema.names:
            return False
        return is_text_or_codes(file.schema.field(label.name).type)


def read(paths: Sequence[str], kind: str, columns: Columns, format: TextFormat, digested: bool) -> Iterator[Parsed]:
    """The batches of all files, in order; ``columns``: with types. With ``digested`` the last of each file has a mark.

    Raises DataError for a file whose columns are others, and for values that cannot be.
    """
    for path in paths:
        with open_file(path, kind) as file, closing(read_file(file, path, columns, format)) as parts:
            last: Parsed | None = None
            for part in parts:
                if last:
                    yield last
                last = part
        if last:
            if digested:
                last.block.mark = digest_of(path)
            yield last


def read_file(file: Any, path: str, columns: Columns, format: TextFormat) -> Iterator[Parsed]:
    source = display_name(path)
    try:
        placed = placed_in(file.schema, columns, source)
        spaces = {space: [column.name for column in members] for space, members in placed.spaces.items()}
        given = dict.fromkeys(PARAMETERS.values())
        given |= {PARAMETERS[role]: column.name for role, column in placed.roles.items()}
        for batch in RecordBatches(Records(file, placed, format), given, spaces, format):
            first, batch.path = batch.first_line, source
            batch.line[:], batch.release = range(len(batch)), nothing_to_release
            yield Parsed(batch, Block(bytearray(), 0, source, first), first, len(batch), [])
    except UsageError as error:
        raise DataError(f"{source}: {error}") from None
    except DataError as error:
        raise DataError(str(error) if str(error).startswith(source) else f"{source}: {error}") from None


def nothing_to_release() -> None:
    """Batches that are not made of a block share no arrays."""


class Records:
    """The columns of a file that are read, cast to what they are read as: record batches with a ``schema``."""

    def __init__(self, file: Any, placed: Columns, format: TextFormat) -> None:
        """``placed``: all columns that are read, with types. Raises DataError for types that they do not have."""
        self.file, self.casts = file, casts_of(file.schema, placed, format)
        self.lower = {column.name for column in placed.named if column.type == TOKENS}
        fields = [file.schema.field(column.name) for column in placed.named]
        self.schema = pyarrow().schema([field.with_type(self.casts.get(field.name, field.type)) for field in fields])

    def __iter__(self) -> Iterator[Any]:
        """Raises DataError for values that are not of the type."""
        arrow, first = pyarrow(), 0
        for record in self.file.record_batches(self.schema.names):
            columns = [self.cast(record, field, first) for field in self.schema]
            yield arrow.RecordBatch.from_arrays(columns, schema=self.schema)
            first += record.num_rows

    def cast(self, record: Any, field: Any, first: int) -> Any:
        column = record.column(field.name)
        if field.name not in self.casts:
            return column
        arrow = pyarrow()
        try:
            if not is_list(field.type):
                return column.cast(field.type)
            texts = column.cast("large_string")
            return words_of(lower_cased(texts) if field.name in self.lower else texts).cast(field.type)
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError) as error:
            rows = f"rows {first} to {first + record.num_rows - 1}"
            raise DataError(f"{rows}, column {field.name!r}: {str(error).partition(chr(10))[0]}") from None


class RecordBatches(FrameBatches):
    """The batches of ``Records``."""

    def stream(self) -> Any:
        return self.data


def words_of(texts: Any) -> Any:
    """A list of words for each, parted at what parts them in other formats; null ones in place of no word."""
    arrow = pyarrow()
    parted = arrow.compute.split_pattern_regex(texts, pattern="[ \\t\\r\\n]+")
    words = arrow.compute.if_else(arrow.compute.equal(parted.values, ""), None, parted.values)
    return arrow.ListArray.from_arrays(parted.offsets, words, mask=parted.is_null())


def lower_cased(texts: Any) -> Any:
    """An array of large strings that has their words in lower case, and nothing else."""
    _, places, raw = texts.buffers()
    if not raw:
        return texts
    starts = np.frombuffer(places, np.int64, len(texts) + 1, 8 * texts.offset)
    text = np.frombuffer(raw, np.uint8)
    out = np.zeros(len(text), np.uint8)
    lower_texts(text, starts, lower_table(), out)
    arrow = pyarrow()
    arrays = [None, arrow.py_buffer(starts.tobytes()), arrow.py_buffer(out)]
    lowered = arrow.Array.from_buffers(arrow.large_string(), len(texts), arrays)
    return arrow.compute.if_else(texts.is_valid(), lowered, None)


def casts_of(schema: Any, placed: Columns, format: TextFormat) -> dict[str, object]:
    """The Arrow types that columns are cast to, by name, where they are read as something else."""
    arrow, casts = pyarrow(), {}
    for column in placed.features:
        there = type_of(schema.field(column.name).type)
        if column.type != there:
            casts[column.name] = wanted_type(column, there)
        elif there == TEXT and not is_text_or_codes(schema.field(column.name).type):
            casts[column.name] = arrow.string()
    for role, column in placed.roles.items():
        text = is_text_or_codes(schema.field(column.name).type)
        if role == "tag" or (role == "label" and format.words):
            casts[column.name] = arrow.string()
        elif text:
            casts[column.name] = arrow.float64()
    return casts


def wanted_type(column: Column, there: str) -> Any:
    """Raises DataError for lists that are to be read as one value."""
    if there == WORDS:
        raise DataError(f"column {column.name!r} has lists, which are read as words, not as {column.type}")
    arrow = pyarrow()
    if column.is_of_words():
        return arrow.list_(arrow.string())
    return {NUMBER: arrow.float64(), TEXT: arrow.string()}[column.type]


def is_text_or_codes(kind: Any) -> bool:
    """Whether it is one of texts, or of a dictionary of texts."""
    return is_text(kind.value_type if pyarrow().types.is_dictionary(kind) else kind)


def digest_of(path: str) -> Mark:
    """The digest of the file's bytes."""
    digest, buffer = Digest(), bytearray(HEAD)
    with open_input(path) as stream:
        while size := stream.readinto(buffer):
            digest.add(buffer, size)
    return digest.mark()


FRAME = "the data frame"


class PlacedFrame(FrameBatches):
    """The batches that a file of the same table makes."""

    def __init__(self, data: Any, given: Mapping[str, Any], columns: Columns, format: TextFormat) -> None:
        """``given``: as of ``FrameBatches``; a parameter that is not there has no column, one that is None has that of
        ``columns``. Raises ExtraMissing.
        """
        super().__init__(data, {name: given.get(name) for name in PARAMETERS.values()}, None, format)
        self.asked = remaining_roles(columns, given)

    def stream(self) -> Any:
        """Raises DataError for a frame that lacks columns, or has values that are not of their type."""
        frame = Frame(open_frame(self.data))
        index = (frame.schema.pandas_metadata or {}).get("index_columns", ())
        named = {column.name for column in self.asked.named}
        aside = tuple(name for name in index if isinstance(name, str) and name not in named)
        columns = replace(self.asked, ignored=(*self.asked.ignored, *aside))
        placed = placed_in(frame.schema, columns, FRAME)
        self.namespaces = {space: [column.name for column in members] for space, members in placed.spaces.items()}
        self.names = {PARAMETERS[role]: column.name for role, column in placed.roles.items()}
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
    """Make the empty texts of a column null."""
    arrow = pyarrow()
    if not is_text_or_codes(entries.type):
        return entries
    if arrow.types.is_dictionary(entries.type):
        filled = without_empty(entries.dictionary)
        if filled is entries.dictionary:
            return entries
        return arrow.DictionaryArray.from_arrays(entries.indices, filled)
    texts = entries.cast("large_string")
    empty = arrow.compute.equal(texts, "")
    if not arrow.compute.any(empty).as_py():
        return entries
    return arrow.compute.if_else(empty, None, texts).cast(entries.type)


def remaining_roles(columns: Columns, given: Mapping[str, Any]) -> Columns:
    """The columns with the roles that are left beside what is given; a role's column is never a feature."""
    roles = {role: column for role, column in columns.roles.items() if given.get(PARAMETERS[role], "") is None}
    roles |= {role: Column(given[of]) for role, of in PARAMETERS.items() if isinstance(given.get(of), str)}
    used = {column.name for column in roles.values()}
    aside = tuple(column.name for column in columns.roles.values() if column.name not in used)
    return replace(columns, roles=roles, ignored=(*columns.ignored, *aside))
