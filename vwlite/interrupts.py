"""A request to stop: ``STOP``, a byte in memory that kernels read between two examples; 0 means go on.

The memory is mapped from a file, so that a signal can set it while a kernel runs: Python's own handlers wait until the
kernel returns, but the interpreter writes the signal's number to a file at once (see ``vwlite.cli.signals``).
"""

import mmap
import os
from contextlib import AbstractContextManager, nullcontext

SIGINT = 2  # the number of the signal of Ctrl-C


def _shared_byte() -> tuple[mmap.mmap, int | None]:
    """Memory and the descriptor of its file; None where there cannot be such a file: kernels run to their end then."""
    if not hasattr(os, "memfd_create"):
        return mmap.mmap(-1, 1), None
    standard = []  # descriptors of closed standard streams, reserved so that the file does not get one of them
    while (free := os.open(os.devnull, os.O_RDONLY)) <= 2:
        standard.append(free)
    os.close(free)
    descriptor = os.memfd_create("vwlite-signals")
    try:
        os.truncate(descriptor, mmap.PAGESIZE)
        os.set_blocking(descriptor, False)
        return mmap.mmap(descriptor, mmap.PAGESIZE), descriptor
    except OSError:  # no file may be so long
        os.close(descriptor)
        return mmap.mmap(-1, 1), None
    finally:
        for other in standard:
            os.close(other)


STOP, DESCRIPTOR = _shared_byte()  # a byte written to the descriptor appears in ``STOP``


def forget() -> None:
    """Clear the request."""
    if DESCRIPTOR is not None:
        os.lseek(DESCRIPTOR, 0, os.SEEK_SET)
    STOP[0] = 0


def obey() -> None:
    """Raises Interrupted after a request to stop, because of which a kernel may have returned before its last row."""
    if STOP[0]:
        raise Interrupted(STOP[0])


class Interrupted(BaseException):
    """Signal ``number`` asked to stop. ``kept`` says which checkpoint the run can be resumed from, if any."""

    def __init__(self, number: int, kept: str = "") -> None:
        super().__init__(number)
        self.number, self.kept = number, kept

    def __str__(self) -> str:
        return ("interrupted" if self.number == SIGINT else "terminated") + self.kept


class Guard:
    """Delays a request to stop while something is half done. This base class never stops a run."""

    def undisturbed(self) -> AbstractContextManager[None]:
        """While the block runs, a request to stop waits for ``check``."""
        return nullcontext()

    def check(self) -> None:
        """Raises Interrupted if there is a request to stop."""
