"""Memory for more data than may fit: large buffers are mapped files, which the system writes out when it needs to."""

from __future__ import annotations

import mmap
import os

import numpy as np

from vwlite.errors import OutputError

MAX_MEMORY_BYTES = 1 << 26  # smaller buffers are ordinary memory


def allocate_spillable(size: int) -> np.ndarray:
    """uint8[size]; a large one is a mapped temporary file without a name.

    Raises OutputError when neither disk nor memory has so much space.
    """
    import tempfile

    try:
        if size <= MAX_MEMORY_BYTES or not hasattr(os, "posix_fallocate"):
            return np.zeros(size, np.uint8)
        with tempfile.TemporaryFile(prefix="vwlite-") as file:
            # Reserve the space now: on a full disk a later write to the mapped memory would kill the process.
            os.posix_fallocate(file.fileno(), 0, size)
            return np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)
    except (OSError, MemoryError) as error:
        why = getattr(error, "strerror", None) or "not enough memory"
        raise OutputError(
            f"no room for {size} bytes of examples in random order: {why}; TMPDIR=FOLDER takes another disk"
        ) from error
