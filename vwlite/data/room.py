"""Room for numbers that need not all stay in memory."""

from __future__ import annotations

import mmap
import os

import numpy as np

from vwlite.errors import OutputError

SMALL = 1 << 26  # bytes that nobody misses


def room_of(size: int) -> np.ndarray:
    """uint8[size]; a large one is a file without a name, which the system may write out when memory is short.

    Raises OutputError when neither disk nor memory has so much.
    """
    import tempfile

    try:
        if size <= SMALL or not hasattr(os, "posix_fallocate"):
            return np.zeros(size, np.uint8)
        with tempfile.TemporaryFile(prefix="vwlite-") as file:
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk must be known now, not at a write to memory
            return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)
    except (OSError, MemoryError) as error:
        why = getattr(error, "strerror", None) or "not enough memory"
        raise OutputError(
            f"no room for {size} bytes of examples in random order: {why}; TMPDIR=FOLDER takes another disk"
        ) from error
