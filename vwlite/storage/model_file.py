"""The model file: a learner's header, its arrays and its weight tables in one verified archive; checks of arrays.

A weight table has a member for each column: ``weights.w``, ``weights.adaptive``, ... A sparse table stores only the
slots that have a non-zero bit, and their numbers in ``weights.slots``; it is chosen where it is smaller. A table is
scanned in chunks, so that saving it takes little memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from vwlite._native.weight_table import fill_column, mark_rows, marked_rows, take_column
from vwlite.errors import ModelError, UsageError
from vwlite.storage.archive_reader import Archive
from vwlite.storage.archive_writer import DTYPES, MODEL, Source, Spec, write
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.ordered_pool import in_order
from vwlite.storage.weight_table import Arrays, Table, written_chunks, zeros

SLOTS = "slots"
MAX_SLOTS = 1 << 32
CHUNK = 1 << 16  # slots scanned at once
THREADED_SCAN_BYTES = 128 << 20  # two threads scan tables of this size or more
PAGE_BYTES = 4096
HUGE_PAGES_ALWAYS_BYTES = 64 << 20  # tables up to this size get huge pages, however few rows they have


class NotFinite(ValueError):
    """A table has a NaN or an infinity."""


def pack(name: str, table: Table, check_finite: bool = False) -> tuple[dict, list[Source]]:
    """The header entry of a table and its members with their data, dense or sparse, whichever is smaller.

    Raises ValueError when ``table`` is not as its class describes. With ``check_finite``, iterating over the data
    raises NotFinite where they hold NaN or infinity.
    """
    values, names = table.values, table.names
    if values.dtype != np.float32 or values.ndim != 2 or not values.flags.c_contiguous:
        raise ValueError(f"table {name} is no C-contiguous float32[slots, stride]")
    if not (0 < len(values) <= MAX_SLOTS and 0 < len(names) <= table.stride and values.shape[1] <= table.stride):
        raise ValueError(f"table {name} has shape {values.shape} and columns {names}")
    if len({SLOTS, *names}) != len(names) + 1:
        raise ValueError(f"table {name} has columns {names}")
    rows = _SetRows(values, len(names))
    count = len(values) if rows.dense else rows.count
    sources = []
    for index, column in enumerate(names):
        spec = Spec(f"{name}.{column}", "<f4", (count,))
        sources.append((spec, _numbers(values, index, rows, check_finite)))
    if not rows.dense:
        sources.append((Spec(f"{name}.{SLOTS}", "<u4", (count,)), rows))
    return {"slots": len(values), "stride": table.stride, "columns": list(names)}, sources


def _numbers(values: np.ndarray, column: int, rows: _SetRows, check_finite: bool) -> Iterator[np.ndarray]:
    """A column in pieces: all its numbers where the table is stored dense, else those of the set rows."""
    for part, slots in rows.parts(values):
        piece = np.zeros(len(part if slots is None else slots), np.float32)
        if column < values.shape[1] and not take_column(part, column, slots, piece) and check_finite:
            raise NotFinite("a number in the table is not finite")
        yield piece


def set_rows(values: np.ndarray, columns: int) -> np.ndarray:
    """uint32[n] ascending: the slots that have a bit set in the first ``columns`` columns; pages never written to are
    not looked at.
    """
    return np.concatenate([np.zeros(0, np.uint32), *(found.slots() for found in _set_rows(values, columns))])


def _set_rows(values: np.ndarray, columns: int) -> Iterator[_SlotBitmap]:
    bits, columns = values.view(np.uint32), min(columns, values.shape[1])

    def mark(chunk: tuple[int, int, np.ndarray | None]) -> _SlotBitmap:
        begin, end, pages = chunk
        marks = np.zeros(-(-(end - begin) // 32), np.uint32)
        return _SlotBitmap(begin, marks, mark_rows(bits[begin:end], columns, marks, pages))

    return in_order(written_chunks(bits, CHUNK), mark, int(bits.nbytes >= THREADED_SCAN_BYTES))


class _SetRows:
    """The slots that have a non-zero bit in a column, ascending; iterating gives them in chunks, any number of times.

    ``count``: how many there are. With ``dense`` the count is incomplete: counting stopped once a sparse table would be
    no smaller. A chunk with few set slots is kept as a list of their numbers, any other as a bitmap, as in Roaring
    bitmaps (Chambi, Lemire, Kaser, Godin 2016).
    """

    def __init__(self, values: np.ndarray, columns: int):
        bits = values.view(np.uint32)
        self._slots, self._columns, self.count = len(bits), columns, 0
        self._chunks: list[_SlotList | _SlotBitmap] = []

        for found in _set_rows(bits, columns):
            self.count += found.count
            if self.dense:
                break
            self._keep(found)

    @property
    def dense(self) -> bool:
        return self.count * (1 + self._columns) >= self._slots * self._columns

    def parts(self, values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Pairs of rows of the table and the numbers of those to store; None: all of them."""
        if self.dense:
            return ((values[begin : begin + CHUNK], None) for begin in range(0, self._slots, CHUNK))
        return ((values, slots) for slots in self)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (chunk.slots() for chunk in self._chunks)

    def _keep(self, found: _SlotBitmap) -> None:
        if 4 * found.count >= found.marks.nbytes:
            self._chunks.append(found)
        elif found.count:
            if not (self._chunks and self._chunks[-1].can_add(found.count)):
                self._chunks.append(_SlotList())
            self._chunks[-1].add(found)


class _SlotBitmap:
    """Slots from ``first`` on: bit i of ``marks`` is slot ``first`` + i; ``count`` are set."""

    def __init__(self, first: int, marks: np.ndarray, count: int):
        self.first, self.marks, self.count = first, marks, count

    def can_add(self, count: int) -> bool:
        return False

    def slots(self) -> np.ndarray:
        slots = np.zeros(self.count, np.uint32)
        marked_rows(self.marks, self.first, slots)
        return slots


class _SlotList:
    """Slots by their numbers, from several chunks that have few set slots each."""

    def __init__(self) -> None:
        self._numbers, self._count = np.zeros(CHUNK, np.uint32), 0

    def can_add(self, count: int) -> bool:
        return self._count + count <= len(self._numbers)

    def add(self, found: _SlotBitmap) -> None:
        end = self._count + found.count
        marked_rows(found.marks, found.first, self._numbers[self._count : end])
        self._count = end

    def slots(self) -> np.ndarray:
        return self._numbers[: self._count]


class Layout(NamedTuple):
    """How a table is stored: ``rows`` values per column; if ``sparse``, a member has the slot number of each row."""

    name: str
    slots: int
    stride: int
    columns: tuple[str, ...]
    rows: int
    sparse: bool

    @property
    def members(self) -> list[str]:
        """The names of all its members."""
        names = [*self.columns, SLOTS] if self.sparse else self.columns
        return [f"{self.name}.{column}" for column in names]


def layout(archive: Archive, name: str, entry: dict) -> Layout:
    """The checked header entry of a table. Raises ModelError when it does not fit the members."""
    try:
        slots, stride, columns = entry["slots"], entry["stride"], tuple(entry["columns"])
        sparse = f"{name}.{SLOTS}" in archive.specs
        first = archive.specs[f"{name}.{columns[0]}"]
        rows = first.shape[0] if sparse else slots
        layout = Layout(name, slots, stride, columns, rows, sparse)
        specs = [archive.specs[member] for member in layout.members]
    except (KeyError, TypeError, IndexError) as error:
        raise archive.damaged(f"the table {name}") from error
    dtypes = ["<f4"] * len(columns) + ["<u4"] * sparse
    fits = type(slots) is int and type(stride) is int and 0 < slots <= MAX_SLOTS
    fits = fits and len(columns) <= stride <= 1 << 30 and len(set(layout.members)) == len(dtypes)
    declared = [(dtype, (rows,)) for dtype in dtypes]
    if not fits or [(spec.dtype, spec.shape) for spec in specs] != declared:
        raise archive.damaged(f"the table {name}")
    return layout


def read_table(archive: Archive, stored: Layout, grows: bool = False, needed: int | None = None) -> Table:
    """A table with the stride of the one saved; its columns without a name, which are not stored, are zero.

    With ``grows`` it has the pages of a table that is learned from the start, as most of its rows may be set later.
    With ``needed`` it has this many columns only, where all those after them are zero.
    """
    slots = _read_slots(archive, stored)
    names, stride = [f"{stored.name}.{column}" for column in stored.columns], stored.stride
    if needed and not any(_has_bits(archive, name) for name in names[needed:]):
        names, stride = names[:needed], min(needed, stride)
    values = _zeros(archive, stored, stride, grows)
    _fill(archive, names, slots, values)
    return Table(values, stored.columns, stored.stride)


def _has_bits(archive: Archive, name: str) -> bool:
    return any(bool(np.frombuffer(piece, np.uint8).any()) for piece in archive.pieces(name))


def read_column(archive: Archive, stored: Layout, name: str) -> np.ndarray:
    """float32[slots] of one member: a read-only view of the mapped file where dense, a new array where sparse."""
    if not stored.sparse:
        return archive.map(name)
    slots = _read_slots(archive, stored)
    values = _zeros(archive, stored, 1)
    _fill(archive, [name], slots, values)
    return values.reshape(-1)


def ascend_below(slots: np.ndarray, limit: int) -> bool:
    """Whether each of ``slots`` is larger than the one before and the last is smaller than ``limit``."""
    return not len(slots) or (int(slots[-1]) < limit and bool((slots[1:] > slots[:-1]).all()))


def _read_slots(archive: Archive, stored: Layout) -> np.ndarray | None:
    if not stored.sparse:
        return None
    slots = archive.read(f"{stored.name}.{SLOTS}")
    if not ascend_below(slots, stored.slots):
        raise archive.damaged(f"the slots of table {stored.name}")
    return slots


def _fill(archive: Archive, names: list[str], slots: np.ndarray | None, values: np.ndarray) -> None:
    begin = 0
    # All columns in turn for each chunk of rows, so that every page of a large table is written to once.
    for pieces in zip(*map(archive.pieces, names), strict=True):
        for column, piece in enumerate(pieces):
            end = fill_column(values, column, begin, slots, piece)
        begin = end


def _zeros(archive: Archive, stored: Layout, stride: int, grows: bool = False) -> np.ndarray:
    """Zeros for a table. Huge pages are used where the stored rows, a small page each, would take as much memory."""
    try:
        huge = grows or stored.slots * stride * 4 <= max(stored.rows * PAGE_BYTES, HUGE_PAGES_ALWAYS_BYTES)
        return zeros(stored.slots, stride, huge=huge)
    except UsageError as error:
        raise ModelError(f"{archive.path} cannot be loaded here: {error}") from error


def matrix(rows: Any, name: str, shape: tuple[int, int]) -> np.ndarray:
    """float64[shape] of finite numbers from JSON data. Raises ValueError."""
    try:
        values = np.array(rows, np.float64)
    except TypeError as error:
        raise ValueError(f"{name} are no numbers") from error
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"{name} are damaged")
    return values


def numbers(arrays: Arrays, name: str, like: type, shape: tuple[int, ...]) -> np.ndarray:
    """A C-contiguous array of this type and shape, finite if of floats; -1 stands for any length.

    Raises ValueError, KeyError.
    """
    array = arrays[name]
    if isinstance(array, tuple):
        raise ValueError(f"{name} is a table")
    array = np.ascontiguousarray(array)
    alike = len(array.shape) == len(shape) and all(n in (-1, is_) for n, is_ in zip(shape, array.shape, strict=True))
    if array.dtype != like or not alike or not np.isfinite(array).all():
        raise ValueError(f"the array {name}")
    return array


NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}", re.ASCII)
ITEMS = 1 << 18  # of an array written at once


class Model(NamedTuple):
    """The learner's ``header``, the arrays by name, and the version of vwlite that wrote them."""

    header: dict
    arrays: dict[str, np.ndarray | Table]
    writer: str


def save(
    path,
    header: dict,
    arrays: Mapping[str, np.ndarray | Table],
    announce: Callable[[str], None] | None = None,
    *,
    check_finite: bool = False,
    open_output: OpenOutput = atomic_output,
) -> None:
    """Write a model; the same content gives the same bytes.

    ``header`` is JSON data, its numbers finite and whole ones of 64 bits; arrays are integers or float32/64 of any
    shape, or Tables. Raises OutputError when the file cannot be written, ValueError for names or data that
    a model cannot hold, NotFinite with ``check_finite`` for tables that hold NaN or infinity. ``open_output`` opens the
    file. ``announce`` is called with the file's digest before the file gets its name.
    """
    path, tables, sources = os.fspath(path), {}, []
    for name, value in arrays.items():
        columns = value.names if isinstance(value, Table) else ()
        for word in (name, *columns):
            if not NAME.fullmatch(word):
                raise ValueError(f"{word!r} is no name for an array")
        if isinstance(value, Table):
            tables[name], members = pack(name, value, check_finite)
            sources += members
        else:
            sources.append(source_of(name, value))
    write(path, MODEL, {"model": header, "tables": tables}, sources, announce, open_output)


def read_header(path) -> dict:
    """The learner's header, verified; the arrays are not read. Raises as ``load`` does."""
    with Archive(path, MODEL) as archive:
        return _header(archive)


def learner_name_of(path) -> str:
    """The name of the learner that made the model. Raises as ``load`` does."""
    return str(read_header(path).get("learner"))


def load(
    path, *, want: Collection[str] | None = None, grows: bool = False, needed: Mapping[str, int] | None = None
) -> Model:
    """Read a model, all of it or the members that ``want`` names; the whole file is verified in either case.

    ``want`` names arrays, tables (returned as writable Tables of the stride they had) and single columns such as
    ``weights.w`` (float32[slots], perhaps a read-only view of the file). ``grows``: more rows of the tables are going
    to be set. ``needed``: of these tables only the first columns are needed, so many, where all others are zero. Raises
    InputMissing, InputDamaged, and ModelError when the file is damaged, not of vwlite, of a newer format, or lacks a
    wanted member.
    """
    with Archive(path, MODEL) as archive:
        header, tables = _header(archive), _tables(archive)
        owners = {member: layout for layout in tables.values() for member in layout.members}
        names = (archive.specs.keys() - owners.keys()) | tables.keys()
        arrays = {}
        for name in sorted(names if want is None else want):
            if name not in names | owners.keys():
                raise ModelError(
                    f"{archive.path} holds no {name!r}: use the command that fits its learner"
                )
            if name in tables:
                arrays[name] = read_table(archive, tables[name], grows, (needed or {}).get(name))
            elif name in owners:
                arrays[name] = read_column(archive, owners[name], name)
            else:
                arrays[name] = archive.read(name)
        archive.verify_rest()
        return Model(header, arrays, str(archive.header.get("writer")))


def source_of(name: str, value: np.ndarray) -> Source:
    """An array as a member of an archive. Raises ValueError for one of another type than archives hold."""
    array = np.asarray(value, order="C")
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in DTYPES:
        raise ValueError(f"array {name} is of {array.dtype}")
    flat = array.reshape(-1)
    pieces = (flat[begin : begin + ITEMS] for begin in range(0, len(flat), ITEMS))
    return Spec(name, array.dtype.str, array.shape), pieces


def _header(archive: Archive) -> dict:
    header = archive.header.get("model")
    if not isinstance(header, dict):
        raise archive.damaged("its header has no learner")
    return header


def _tables(archive: Archive) -> dict[str, Layout]:
    tables = archive.header.get("tables")
    if not isinstance(tables, dict) or not all(NAME.fullmatch(name) for name in tables):
        raise archive.damaged("the list of its tables")
    layouts = {name: layout(archive, name, entry) for name, entry in tables.items()}
    members = {member for layout in layouts.values() for member in layout.members}
    if tables.keys() & archive.specs.keys() or members != {n for n in archive.specs if "." in n}:
        raise archive.damaged("the list of its tables")
    return layouts
