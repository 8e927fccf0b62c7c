"""Flushes a file to the disk while it is still being written, so that little is left to flush at its end."""

import contextlib
import errno
import os
import threading
from typing import BinaryIO

FLUSH_BYTES = 1 << 25  # written before the next flush begins
CANNOT_SYNC = (errno.EINVAL, errno.EROFS, errno.ENOTSUP)  # errors of fsync for pipes and devices


class Flusher:
    """Flushes in a thread of its own. Call ``finish`` before the file is closed, after an exception too."""

    def __init__(self, file: BinaryIO) -> None:
        self.descriptor, self.unflushed = file.fileno(), 0
        self.thread: threading.Thread | None = None
        self.error: OSError | None = None

    def wrote(self, size: int) -> None:
        """Call after ``size`` more bytes were written. Raises the OSError of an earlier flush."""
        self.unflushed += size
        if self.unflushed < FLUSH_BYTES or (self.thread and self.thread.is_alive()):
            return
        self.finish()
        self.unflushed = 0
        thread = threading.Thread(target=self.flush, name="flush")
        with contextlib.suppress(RuntimeError):  # the system gives no more threads: the last flush writes everything
            thread.start()
            self.thread = thread

    def flush(self) -> None:
        try:
            os.fsync(self.descriptor)
        except OSError as error:
            if error.errno not in CANNOT_SYNC:
                self.error = error

    def finish(self) -> None:
        """Wait for the flush that runs, if any. Raises its OSError: the system reports an error to one fsync only."""
        if self.thread:
            self.thread.join()
            self.thread = None
        if self.error:
            raise self.error
