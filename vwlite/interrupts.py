"""A request to stop: ``STOP``, a byte in memory that kernels read between two examples, 0 until somebody sets it.

The memory is a file of the system's, so that a signal can set it while a kernel runs: Python's own handlers wait until
the kernel returns, but the system writes the signal's number to a file at once (see ``vwlite.cli.signals``).
"""

import mmap
import os
from contextlib import AbstractContextManager, nullcontext

SIGINT = 2  # the number of the signal of Ctrl-C


def _shared_byte() -> tuple[mmap.mmap, int | None]:
    """Memory, and the descriptor of its file; None where the system has no such files, and kernels end what they do."""
    if not hasattr(os, "memfd_create"):
        return mmap.mmap(-1, 1), None
    standard = []  # descriptors of standard streams that are closed, and are to stay so
    while (free := os.open(os.devnull, os.O_RDONLY)) <= 2:
        standard.append(free)
    os.close(free)
    descriptor = os.memfd_create("vwlite-signals")
    os.truncate(descriptor, mmap.PAGESIZE)
    os.set_blocking(descriptor, False)
    memory = mmap.mmap(descriptor, mmap.PAGESIZE)
    for other in standard:
        os.close(other)
    return memory, descriptor


STOP, DESCRIPTOR = _shared_byte()  # what is written to the descriptor's file stands in ``STOP``


def forget() -> None:
    """Clear the request."""
    if DESCRIPTOR is not None:
        os.lseek(DESCRIPTOR, 0, os.SEEK_SET)
    STOP[0] = 0


def obey() -> None:
    """Raises Interrupted once a stop is asked for, after which kernels end before their last row."""
    if STOP[0]:
        raise Interrupted(STOP[0])


class Interrupted(BaseException):
    """Signal ``number`` asked to stop. ``kept`` says what there is to go on from, if anything."""

    def __init__(self, number: int, kept: str = "") -> None:
        super().__init__(number)
        self.number, self.kept = number, kept

    def __str__(self) -> str:
        return ("interrupted" if self.number == SIGINT else "terminated") + self.kept


class Guard:
    """Keeps a run from being stopped where something is half done. This one never stops it."""

    def undisturbed(self) -> AbstractContextManager[None]:
        """Within, a request to stop waits for ``check``."""
        return nullcontext()

    def check(self) -> None:
        """Raises Interrupted where a request to stop waits."""
