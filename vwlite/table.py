"""The weight table: float32[slots, stride] whose pages exist only once they are written."""

import contextlib
import math
import mmap
import os
import platform
from dataclasses import dataclass

import numpy as np

from vwlite.errors import UsageError

SMALL = 1 << 20  # bytes; below this an ordinary array is as good
# A huge page is filled by its first weight, and few of a very large table's slots are ever written.
HUGE_SHARE, HUGE_MOST = 4, 1 << 30  # only for tables below RAM / HUGE_SHARE and this many bytes
# Python names this flag only since 3.13; the number holds for Linux on these machines.
_NORESERVE_HERE = 0x4000 if platform.machine() in ("x86_64", "aarch64", "riscv64") else 0
MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", _NORESERVE_HERE)


@dataclass(frozen=True)
class Table:
    """``values`` float32[slots, stride], C-contiguous; ``names`` of its first columns."""

    values: np.ndarray
    names: tuple[str, ...]


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


def _pages(nbytes: int, huge: bool) -> mmap.mmap:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    if platform.system() == "Linux":
        flags |= MAP_NORESERVE
    pages = mmap.mmap(-1, nbytes, flags=flags)
    if huge and hasattr(mmap, "MADV_HUGEPAGE") and nbytes <= min(_memory() // HUGE_SHARE, HUGE_MOST):
        with contextlib.suppress(OSError):  # a kernel without transparent huge pages
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _size(nbytes: int) -> str:
    power = min(int(math.log2(max(nbytes, 1))) // 10, 4)
    return f"{nbytes / (1 << 10 * power):.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"
