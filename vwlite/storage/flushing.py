"""A file's way to the disk while it is still being written, so that there is little to wait for at its end."""

import contextlib
import errno
import os
import threading
from typing import BinaryIO

EVERY = 1 << 25  # bytes
NO_DISK = (errno.EINVAL, errno.EROFS, errno.ENOTSUP)  # pipes and devices


class Flusher:
    """Flushes in a thread of its own. ``finish`` before the file is closed, whatever happens."""

    def __init__(self, file: BinaryIO) -> None:
        self.descriptor, self.waiting = file.fileno(), 0
        self.thread: threading.Thread | None = None
        self.error: OSError | None = None

    def wrote(self, size: int) -> None:
        """So many bytes more were written. Raises the OSError that flushing earlier ones met."""
        self.waiting += size
        if self.waiting < EVERY or (self.thread and self.thread.is_alive()):
            return
        self.finish()
        self.waiting = 0
        thread = threading.Thread(target=self.flush, name="flush")
        with contextlib.suppress(RuntimeError):  # no more threads: the end waits for the disk
            thread.start()
            self.thread = thread

    def flush(self) -> None:
        try:
            os.fsync(self.descriptor)
        except OSError as error:
            if error.errno not in NO_DISK:
                self.error = error

    def finish(self) -> None:
        """Wait for what is under way. The system tells an error only once: here, if not to whoever flushes next."""
        if self.thread:
            self.thread.join()
            self.thread = None
        if self.error:
            raise self.error
