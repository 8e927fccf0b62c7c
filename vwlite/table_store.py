"""A weight table as members of an archive, one per column: ``weights.w``, ``weights.adaptive``, ...

Where that is smaller only the slots with a bit set are stored, and ``weights.slots`` numbers them.
Tables are looked at in chunks, so that saving one takes little memory besides it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from vwlite._native.table import mark_rows, marked_rows
from vwlite.ahead import in_order
from vwlite.archive import Source, Spec
from vwlite.archive_reader import Archive
from vwlite.errors import ModelError, UsageError
from vwlite.table import Table, stretches, zeros

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
        data = _dense(values, index) if rows.dense else _sparse(values, index, rows)
        sources.append(_source(f"{name}.{column}", "<f4", count, _finite(data) if finite else data))
    if not rows.dense:
        sources.append(_source(f"{name}.{SLOTS}", "<u4", count, rows))
    return {"slots": len(values), "stride": values.shape[1], "columns": list(names)}, sources


def _source(name: str, dtype: str, count: int, pieces: Iterable[np.ndarray]) -> Source:
    return Spec(name, dtype, (count,)), (np.ascontiguousarray(piece, dtype) for piece in pieces)


def _finite(pieces: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    for piece in pieces:
        if not np.isfinite(piece).all():
            raise NotFinite("a number in the table is not finite")
        yield piece


def _dense(values: np.ndarray, column: int) -> Iterator[np.ndarray]:
    return (values[begin : begin + CHUNK, column] for begin in range(0, len(values), CHUNK))


def _sparse(values: np.ndarray, column: int, rows: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    return (values[slots, column] for slots in rows)


class _SetRows:
    """Iterates, as often as asked, over ascending chunks of the slots with a bit set in a column.

    ``count`` of them, unless ``dense``: then counting stopped where storing only these would save
    nothing.
    """

    def __init__(self, values: np.ndarray, columns: int):
        bits = values.view(np.uint32)
        self._slots, self._columns, self.count = len(bits), columns, 0
        self._marks = np.zeros(-(-len(bits) // 32), np.uint32)

        def mark(stretch: tuple[int, int, np.ndarray | None]) -> int:
            begin, end, pages = stretch
            return mark_rows(bits, begin, end, columns, self._marks, pages)

        for found in in_order(stretches(bits, CHUNK), mark, int(bits.nbytes >= SHARED)):
            self.count += found
            if self.dense:
                break

    @property
    def dense(self) -> bool:
        return self.count * (1 + self._columns) >= self._slots * self._columns

    def __iter__(self) -> Iterator[np.ndarray]:
        word, out = 0, np.empty(max(CHUNK, 32), np.uint32)  # filled again: what is given out is a copy
        while word < len(self._marks):
            found, word = marked_rows(self._marks, word, out)
            if found:
                yield out[:found].copy()


@dataclass(frozen=True)
class Layout:
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
    slots = archive.read(f"{place.name}.{SLOTS}")
    if len(slots) and (slots[-1] >= place.slots or not (slots[1:] > slots[:-1]).all()):
        raise archive.damaged(f"the slots of table {place.name}")
    return slots


def _fill(
    archive: Archive, names: list[str], slots: np.ndarray | None, values: np.ndarray
) -> None:
    begin = 0
    # All columns side by side, so that every page of a large table is touched once.
    for pieces in zip(*map(archive.pieces, names), strict=True):
        end = begin + len(pieces[0])
        rows = slice(begin, end) if slots is None else slots[begin:end]
        for column, piece in enumerate(pieces):
            values[rows, column] = piece
        begin = end


def _zeros(archive: Archive, place: Layout, stride: int) -> np.ndarray:
    """Zeros for a table; huge pages only where the stored rows would fill as many small ones."""
    try:
        huge = place.slots * stride * 4 <= max(place.rows * PAGE, HUGE_FREE)
        return zeros(place.slots, stride, huge=huge)
    except UsageError as error:
        raise ModelError(f"{archive.path} cannot be loaded here: {error}") from error
