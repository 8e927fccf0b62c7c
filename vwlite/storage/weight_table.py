"""The weight table: float32[slots, stride] whose pages exist only once they are written."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from vwlite._native.weight_table import are_there, ask_for, touch_pages
from vwlite.errors import UsageError

SMALL = 1 << 20  # bytes; below this an ordinary array is as good
# A huge page is filled by its first weight, and few of a very large table's slots are ever written.
HUGE_SHARE, HUGE_MOST = 4, 1 << 30  # only for tables below RAM / HUGE_SHARE and this many bytes
FAR = 1 << 24  # bytes; smaller tables stay in the caches as it is
HUGE_PAGE = 1 << 21  # bytes; where they are of another size they are only given too early or too late
# Python names this flag only since 3.13; the number holds for Linux on these machines.
_NORESERVE_HERE = 0x4000 if os.uname().machine in ("x86_64", "aarch64", "riscv64") else 0
MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", _NORESERVE_HERE)


class Table(NamedTuple):
    """``values`` float32[slots, stride], C-contiguous; ``names`` of its first columns."""

    values: np.ndarray
    names: tuple[str, ...]


def values_of(arrays: Mapping[str, Any], name: str) -> np.ndarray:
    """The numbers of the table ``name`` among a model's arrays. Raises ValueError where that is no table, KeyError."""
    table = arrays[name]
    if not isinstance(table, Table):
        raise ValueError(f"{name} is no table")
    return table.values


def with_stride(values: np.ndarray, stride: int) -> np.ndarray:
    """A table as wide as ``stride`` with the same first columns, those that are new zero."""
    if values.shape[1] == stride:
        return values
    wide, columns = zeros(len(values), stride), min(values.shape[1], stride)
    for begin, end, _ in stretches(values):
        wide[begin:end, :columns] = values[begin:end, :columns]
    return wide


def set_slots(values: np.ndarray, column: int = 0) -> np.ndarray:
    """int64[n] ascending: where the column is not 0."""
    found = [
        np.flatnonzero(values[begin:end, column]) + begin
        for begin, end, _ in stretches(values)
    ]
    return np.concatenate([np.zeros(0, np.int64), *found])


def any_set(values: np.ndarray, column: int) -> bool:
    return any(bool(values[begin:end, column].any()) for begin, end, _ in stretches(values))


def zeros(slots: int, stride: int, *, huge: bool = True) -> np.ndarray:
    """A C-contiguous float32[slots, stride] of zeros, perhaps larger than the machine's memory.

    Pages are allocated by the kernel at the first write. With ``huge``, tables that fit easily use
    transparent huge pages, which spares the address translation of random slots. Raises UsageError
    when the system does not grant the address space.
    """
    nbytes = slots * stride * 4
    try:
        if nbytes < SMALL or not hasattr(mmap, "MAP_PRIVATE"):
            return np.zeros((slots, stride), np.float32)
        return np.frombuffer(_pages(nbytes, huge), np.float32).reshape(slots, stride)
    except (MemoryError, OSError, OverflowError, ValueError) as error:
        raise UsageError(
            f"the system refuses {_size(nbytes)} of address space for {slots} slots: "
            "raise its limit (ulimit -v) or choose a smaller -b"
        ) from error


class Pages:
    """Gives memory to a batch's pages of a table while others are learned: the system takes its time to clear them.

    The first batch's huge pages are left to the learner, which has nothing to do but wait for it, and finds those of
    the next ones made by then. Small ones are not: two threads that ask for many get into each other's way. It ends
    with a batch that has no new ones.
    """

    def __init__(self, values: np.ndarray, size: int) -> None:
        self.values, self.bits = values, values.view(np.uint32)
        self.seen = np.zeros(values.nbytes // size, np.uint8)
        self.begun, self.growing = size < HUGE_PAGE, True

    def __call__(self, hashes: np.ndarray) -> None:
        """``hashes``: uint32[features] of the next batch."""
        if not self.begun:
            self.begun = True
        elif self.growing:
            self.growing = touch_pages(self.bits, self.seen, hashes) > 0

    def ask(self, hashes: np.ndarray) -> None:
        """Bring a batch's slots nearer shortly before it is learned: a large table is beyond a core's own caches."""
        if self.values.nbytes >= FAR:
            ask_for(self.values, hashes)


def pages_of(values: np.ndarray) -> Pages | None:
    """None for a small table."""
    size = HUGE_PAGE if values.nbytes <= _huge_limit() else os.sysconf("SC_PAGE_SIZE")
    return Pages(values, size) if values.nbytes >= max(size, SMALL) and hasattr(mmap, "MAP_PRIVATE") else None


def _pages(nbytes: int, huge: bool) -> mmap.mmap:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    if sys.platform == "linux":
        flags |= MAP_NORESERVE
    pages = mmap.mmap(-1, nbytes, flags=flags)
    if huge and hasattr(mmap, "MADV_HUGEPAGE") and nbytes <= _huge_limit():
        with contextlib.suppress(OSError):  # a kernel without transparent huge pages
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def stretches(values: np.ndarray, chunk: int = 1 << 16) -> Iterator[tuple[int, int, np.ndarray | None]]:
    """``(begin, end, pages)``: rows of an array, ``chunk`` at a time, those left out that were never written to.

    ``pages`` is uint8[n], 0 for each nth part of the stretch that never was; None where the system does not tell. To
    look at such a page would take no memory, but as much time as to look at one that was written.
    """
    page, address, row = os.sysconf("SC_PAGE_SIZE"), values.ctypes.data, values.nbytes // len(values)
    odd = address % page or page % row or chunk * row % page or values.nbytes % page
    with contextlib.ExitStack() as closing:
        pagemap = None
        mapped = not values.flags.writeable  # a file's pages are there once they are looked at
        if values.nbytes >= SMALL and not odd and not mapped:
            with contextlib.suppress(OSError):
                pagemap = closing.enter_context(open("/proc/self/pagemap", "rb", buffering=0))
        for begin in range(0, len(values), chunk):
            end = min(begin + chunk, len(values))
            pages = _written(pagemap, (address + begin * row) // page, (end - begin) * row // page) if pagemap else None
            if pages is None or pages.any():
                yield begin, end, pages


def _written(pagemap: BinaryIO, first: int, count: int) -> np.ndarray | None:
    """uint8[count]: whether pages are in memory or swapped out."""
    pagemap.seek(first * 8)
    told = pagemap.read(count * 8)
    if len(told) != count * 8:
        return None
    pages = np.zeros(count, np.uint8)
    are_there(np.frombuffer(told, np.uint64), pages)
    return pages


def _huge_limit() -> int:
    return min(_memory() // HUGE_SHARE, HUGE_MOST)


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _size(nbytes: int) -> str:
    power = min(int(math.log2(max(nbytes, 1))) // 10, 4)
    return f"{nbytes / (1 << 10 * power):.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"
