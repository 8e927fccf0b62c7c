"""The weight table: float32[slots, stride] whose memory pages are allocated at the first write to them."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from vwlite._native.weight_table import prefetch_slots, touch_pages
from vwlite.errors import UsageError

NARROW, WIDE = 2, 4  # columns of tables that learn by gradient descent
MIN_MAPPED_BYTES = 1 << 20  # smaller tables are ordinary arrays
# One weight makes the system allocate a whole huge page, and few slots of a very large table are ever written: huge
# pages are used only for tables of at most MAX_HUGE_BYTES and a share of 1 / HUGE_RAM_DIVISOR of the memory.
HUGE_RAM_DIVISOR, MAX_HUGE_BYTES = 4, 1 << 28
SHORT_TEXT_DIVISOR = 1 << 10  # a text shorter than this share of the table writes to few of its small pages
MIN_PREFETCH_BYTES = 1 << 24  # smaller tables stay in the processor's caches without prefetching
HUGE_PAGE_BYTES = 1 << 21  # usual; where huge pages have another size, they are only allocated too early or too late
# Python has this constant only since 3.13; the number is that of Linux on these processors.
_NORESERVE_HERE = 0x4000 if os.uname().machine in ("x86_64", "aarch64", "riscv64") else 0
MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", _NORESERVE_HERE)


class Table(NamedTuple):
    """``values`` float32[slots, stride], C-contiguous; ``names`` of its first columns.

    A model file may have wider slots: with ``stored_stride`` the columns of ``names`` that ``values`` lacks are zero.
    """

    values: np.ndarray
    names: tuple[str, ...]
    stored_stride: int | None = None

    @property
    def stride(self) -> int:
        """Of the table in a file."""
        return self.stored_stride or self.values.shape[1]


Arrays = Mapping[str, np.ndarray | Table]  # what a model keeps beside its header, by name


def values_of(arrays: Mapping[str, Any], name: str) -> np.ndarray:
    """The values of the table ``name`` among a model's arrays. Raises ValueError where that is no table, KeyError."""
    table = arrays[name]
    if not isinstance(table, Table):
        raise ValueError(f"{name} is no table")
    return table.values


def with_stride(values: np.ndarray, stride: int) -> np.ndarray:
    """A table of ``stride`` columns with the same first columns; new columns are zero."""
    if values.shape[1] == stride:
        return values
    wide, columns = zeros(len(values), stride), min(values.shape[1], stride)
    for begin, end, _ in written_chunks(values):
        wide[begin:end, :columns] = values[begin:end, :columns]
    return wide


def set_slots(values: np.ndarray, column: int = 0) -> np.ndarray:
    """int64[n] ascending: the slots where the column is not 0."""
    slots = [
        np.flatnonzero(values[begin:end, column]) + begin
        for begin, end, _ in written_chunks(values)
    ]
    return np.concatenate([np.zeros(0, np.int64), *slots])


def any_set(values: np.ndarray, column: int) -> bool:
    return any(bool(values[begin:end, column].any()) for begin, end, _ in written_chunks(values))


def zeros(slots: int, stride: int, *, huge: bool = True) -> np.ndarray:
    """A C-contiguous float32[slots, stride] of zeros, which may be larger than the machine's memory.

    Pages are allocated by the system at the first write. With ``huge``, tables that are small against
    the memory use transparent huge pages, which make address translation of random slots faster.
    Raises UsageError when the system refuses the address space.
    """
    nbytes = slots * stride * 4
    try:
        if nbytes < MIN_MAPPED_BYTES or not hasattr(mmap, "MAP_PRIVATE"):
            return np.zeros((slots, stride), np.float32)
        return np.frombuffer(_pages(nbytes, huge), np.float32).reshape(slots, stride)
    except (MemoryError, OSError, OverflowError, ValueError) as error:
        raise UsageError(
            f"the system refuses {_size(nbytes)} of address space for {slots} slots: "
            "raise its limit (ulimit -v) or choose a smaller -b"
        ) from error


class PageToucher:
    """Allocates the pages of a table that a batch will use, while earlier batches are learned.

    The system clears a page when it is first written, which takes long for huge pages; a parser's thread does it here
    instead of the learner. The learner touches the huge pages of the first batch itself: it would only wait for this
    thread otherwise, and meanwhile this thread goes on with the next batch. Small pages are touched from the first
    batch on: two threads that touch many of them at once slow each other down. Touching stops for good after a batch
    that needed no new page.
    """

    def __init__(self, values: np.ndarray, size: int) -> None:
        self.values, self.bits = values, values.view(np.uint32)
        self.touched = np.zeros(values.nbytes // size, np.uint8)  # 1 for every page that was touched
        self.huge, self.growing = size >= HUGE_PAGE_BYTES, True
        self.begun = not self.huge

    def __call__(self, hashes: np.ndarray) -> None:
        """Touch the pages of the next batch; ``hashes``: uint32[features]."""
        if not self.begun:
            self.begun = True
        elif self.growing:
            self.growing = touch_pages(self.bits, self.touched, hashes) > 0

    def expect(self, size: int | None) -> None:
        """Have small pages for a short text or cache, which touches few. ``size``: its bytes, None where unknown."""
        if size is not None and size < self.values.nbytes // SHORT_TEXT_DIVISOR and hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory: Any = self.values
            while isinstance(memory, np.ndarray):
                memory = memory.base
            if isinstance(memory, memoryview) and isinstance(memory.obj, mmap.mmap):
                self.growing = False
                with contextlib.suppress(OSError):  # a kernel without transparent huge pages
                    memory.obj.madvise(mmap.MADV_NOHUGEPAGE)

    def prefetch(self, hashes: np.ndarray) -> None:
        """Touch the huge pages of the next batch; load its slots into the caches if the table exceeds a core's own."""
        if self.huge:
            self(hashes)
        if self.values.nbytes >= MIN_PREFETCH_BYTES:
            prefetch_slots(self.values, hashes)


def page_toucher(values: np.ndarray) -> PageToucher | None:
    """Make a toucher for this table; None for a small table, which is an ordinary array."""
    size = HUGE_PAGE_BYTES if values.nbytes <= _huge_limit() else os.sysconf("SC_PAGE_SIZE")
    mapped = values.nbytes >= max(size, MIN_MAPPED_BYTES) and hasattr(mmap, "MAP_PRIVATE")
    return PageToucher(values, size) if mapped else None


def _pages(nbytes: int, huge: bool) -> mmap.mmap:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    if sys.platform == "linux":
        flags |= MAP_NORESERVE
    pages = mmap.mmap(-1, nbytes, flags=flags)
    if huge and hasattr(mmap, "MADV_HUGEPAGE") and nbytes <= _huge_limit():
        with contextlib.suppress(OSError):  # a kernel without transparent huge pages
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def written_chunks(values: np.ndarray, chunk: int = 1 << 16) -> Iterator[tuple[int, int, np.ndarray | None]]:
    """``(begin, end, pages)``: ranges of at most ``chunk`` rows; ranges that were never written to are left out.

    ``pages`` is uint8[n] for the range's n pages, 0 for a page that was never written; None where the system does not
    say. Reading such a page would take no memory, but as much time as reading one that was written.
    """
    page, address, row = os.sysconf("SC_PAGE_SIZE"), values.ctypes.data, values.nbytes // len(values)
    aligned = not (address % page or page % row or chunk * row % page or values.nbytes % page)
    with contextlib.ExitStack() as closing:
        pagemap = None
        mapped = not values.flags.writeable  # a view of a file, all of which was written
        if values.nbytes >= MIN_MAPPED_BYTES and aligned and not mapped:
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
    entries = pagemap.read(count * 8)
    if len(entries) != count * 8:
        return None
    return (np.frombuffer(entries, np.uint64) >> np.uint64(62) != 0).view(np.uint8)


def _huge_limit() -> int:
    return min(_memory() // HUGE_RAM_DIVISOR, MAX_HUGE_BYTES)


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _size(nbytes: int) -> str:
    power = min(int(math.log2(max(nbytes, 1))) // 10, 4)
    return f"{nbytes / (1 << 10 * power):.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"
