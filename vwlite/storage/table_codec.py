"""A weight table as members of an archive, one per column: ``weights.w``, ``weights.adaptive``, ...

Where that is smaller only the slots with a bit set are stored, and ``weights.slots`` numbers them.
Tables are looked at in chunks, so that saving one takes little memory besides it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from vwlite._native.weight_table import are_places, fill_column, mark_rows, marked_rows, take_column
from vwlite.errors import ModelError, UsageError
from vwlite.storage.archive_reader import Archive
from vwlite.storage.archive_writer import Source, Spec
from vwlite.storage.ordered_pool import in_order
from vwlite.storage.weight_table import Table, stretches, zeros

SLOTS = "slots"
MAX_SLOTS = 1 << 32
CHUNK = 1 << 16  # slots looked at together
SHARED = 128 << 20  # bytes; two threads look at chunks of tables from this on
PAGE, HUGE_FREE = 4096, 64 << 20  # bytes; tables up to this get huge pages however few rows


class NotFinite(ValueError):
    """A table has a NaN or an infinity."""


def pack(name: str, table: Table, finite: bool = False) -> tuple[dict, list[Source]]:
    """The header entry of a table and its members with their data, dense or sparse as is smaller.

    Raises ValueError when ``table`` is not what its class promises. Where it is to be ``finite``, the data raise
    NotFinite when they are not.
    """
    values, names = table.values, table.names
    if values.dtype != np.float32 or values.ndim != 2 or not values.flags.c_contiguous:
        raise ValueError(f"table {name} is no C-contiguous float32[slots, stride]")
    if not (0 < len(values) <= MAX_SLOTS and 0 < len(names) <= values.shape[1]):
        raise ValueError(f"table {name} has shape {values.shape} and columns {names}")
    if len({SLOTS, *names}) != len(names) + 1:
        raise ValueError(f"table {name} has columns {names}")
    rows = _SetRows(values, len(names))
    count = len(values) if rows.dense else rows.count
    sources = []
    for index, column in enumerate(names):
        spec = Spec(f"{name}.{column}", "<f4", (count,))
        sources.append((spec, _numbers(values, index, rows, finite)))
    if not rows.dense:
        sources.append((Spec(f"{name}.{SLOTS}", "<u4", (count,)), rows))
    return {"slots": len(values), "stride": values.shape[1], "columns": list(names)}, sources


def _numbers(values: np.ndarray, column: int, rows: _SetRows, finite: bool) -> Iterator[np.ndarray]:
    """A column in pieces: all of it or, where that is smaller, the numbers of set rows."""
    for part, slots in rows.parts(values):
        piece = np.zeros(len(part if slots is None else slots), np.float32)
        if not take_column(part, column, slots, piece) and finite:
            raise NotFinite("a number in the table is not finite")
        yield piece


class _SetRows:
    """Iterates, as often as asked, over ascending chunks of the slots with a bit set in a column.

    ``count`` of them, unless ``dense``: then counting stopped where storing only these would save
    nothing. A chunk of the table where few are set is kept as their numbers, another as a bit for each slot, as in
    Roaring bitmaps (Chambi, Lemire, Kaser, Godin 2016).
    """

    def __init__(self, values: np.ndarray, columns: int):
        bits = values.view(np.uint32)
        self._slots, self._columns, self.count = len(bits), columns, 0
        self._chunks: list[_Few | _Many] = []

        def mark(stretch: tuple[int, int, np.ndarray | None]) -> _Many:
            begin, end, pages = stretch
            marks = np.zeros(-(-(end - begin) // 32), np.uint32)
            return _Many(begin, marks, mark_rows(bits[begin:end], columns, marks, pages))

        for found in in_order(stretches(bits, CHUNK), mark, int(bits.nbytes >= SHARED)):
            self.count += found.count
            if self.dense:
                break
            self._keep(found)

    @property
    def dense(self) -> bool:
        return self.count * (1 + self._columns) >= self._slots * self._columns

    def parts(self, values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Rows of the table and which of them are meant; None: all."""
        if self.dense:
            return ((values[begin : begin + CHUNK], None) for begin in range(0, self._slots, CHUNK))
        return ((values, slots) for slots in self)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (chunk.slots() for chunk in self._chunks)

    def _keep(self, found: _Many) -> None:
        if 4 * found.count >= found.marks.nbytes:
            self._chunks.append(found)
        elif found.count:
            if not (self._chunks and self._chunks[-1].has_room(found.count)):
                self._chunks.append(_Few())
            self._chunks[-1].add(found)


class _Many:
    """Slots from ``first`` on: bit i of ``marks`` is slot ``first`` + i; ``count`` are set."""

    def __init__(self, first: int, marks: np.ndarray, count: int):
        self.first, self.marks, self.count = first, marks, count

    def has_room(self, count: int) -> bool:
        return False

    def slots(self) -> np.ndarray:
        slots = np.zeros(self.count, np.uint32)
        marked_rows(self.marks, self.first, slots)
        return slots


class _Few:
    """Slots by their numbers, from several chunks that have few."""

    def __init__(self) -> None:
        self._numbers, self._count = np.zeros(CHUNK, np.uint32), 0

    def has_room(self, count: int) -> bool:
        return self._count + count <= len(self._numbers)

    def add(self, found: _Many) -> None:
        end = self._count + found.count
        marked_rows(found.marks, found.first, self._numbers[self._count : end])
        self._count = end

    def slots(self) -> np.ndarray:
        return self._numbers[: self._count]


class Layout(NamedTuple):
    """Where a table's data are: ``rows`` values per column, numbered by a member if sparse."""

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
    """The checked header entry of a table; ModelError when it does not fit the members."""
    try:
        slots, stride, columns = entry["slots"], entry["stride"], tuple(entry["columns"])
        sparse = f"{name}.{SLOTS}" in archive.specs
        first = archive.specs[f"{name}.{columns[0]}"]
        rows = first.shape[0] if sparse else slots
        found = Layout(name, slots, stride, columns, rows, sparse)
        specs = [archive.specs[member] for member in found.members]
    except (KeyError, TypeError, IndexError) as error:
        raise archive.damaged(f"the table {name}") from error
    dtypes = ["<f4"] * len(columns) + ["<u4"] * sparse
    fits = type(slots) is int and type(stride) is int and 0 < slots <= MAX_SLOTS
    fits = fits and len(columns) <= stride <= 1 << 30 and len(set(found.members)) == len(dtypes)
    promised = [(dtype, (rows,)) for dtype in dtypes]
    if not fits or [(spec.dtype, spec.shape) for spec in specs] != promised:
        raise archive.damaged(f"the table {name}")
    return found


def read_table(archive: Archive, place: Layout) -> Table:
    """All columns of a table in an array as wide as the one saved; its scratch columns are zero."""
    slots = _read_slots(archive, place)
    values = _zeros(archive, place, place.stride)
    _fill(archive, [f"{place.name}.{column}" for column in place.columns], slots, values)
    return Table(values, place.columns)


def read_column(archive: Archive, place: Layout, name: str) -> np.ndarray:
    """float32[slots] of one member: the mapped file where dense, its own array where sparse."""
    if not place.sparse:
        return archive.map(name)
    slots = _read_slots(archive, place)
    values = _zeros(archive, place, 1)
    _fill(archive, [name], slots, values)
    return values.reshape(-1)


def _read_slots(archive: Archive, place: Layout) -> np.ndarray | None:
    if not place.sparse:
        return None
    slots, begin = np.zeros(place.rows, np.uint32), 0
    data = memoryview(slots.view(np.uint8))
    for piece in archive.pieces(f"{place.name}.{SLOTS}"):
        data[begin : begin + len(piece)] = piece
        begin += len(piece)
    if not are_places(slots, place.slots):
        raise archive.damaged(f"the slots of table {place.name}")
    return slots


def _fill(archive: Archive, names: list[str], slots: np.ndarray | None, values: np.ndarray) -> None:
    begin = 0
    # All columns side by side, so that every page of a large table is touched once.
    for pieces in zip(*map(archive.pieces, names), strict=True):
        for column, piece in enumerate(pieces):
            end = fill_column(values, column, begin, slots, piece)
        begin = end


def _zeros(archive: Archive, place: Layout, stride: int) -> np.ndarray:
    """Zeros for a table; huge pages only where the stored rows would fill as many small ones."""
    try:
        huge = place.slots * stride * 4 <= max(place.rows * PAGE, HUGE_FREE)
        return zeros(place.slots, stride, huge=huge)
    except UsageError as error:
        raise ModelError(f"{archive.path} cannot be loaded here: {error}") from error
