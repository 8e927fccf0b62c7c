"""Requests to stop a run: ``STOP``, a byte in memory that kernels poll between two examples; 0 means go on.

The memory is mapped from a file, so that a signal can set it while a kernel runs: Python's own handlers wait until the
kernel returns, but the interpreter writes the signal's number to a file at once (see ``vwlite.cli.signals``).

Folders for the files of a run are here too: they are removed whenever a signal comes.
"""

import mmap
import os
from contextlib import AbstractContextManager, nullcontext

SIGINT = 2  # the number of the signal of Ctrl-C


def _shared_byte() -> tuple[mmap.mmap, int | None]:
    """A mapped byte and the descriptor of its file; None without memfd, when a signal cannot stop a running kernel."""
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
    except OSError:  # such as a limit on file sizes
        os.close(descriptor)
        return mmap.mmap(-1, 1), None
    finally:
        for other in standard:
            os.close(other)


STOP, DESCRIPTOR = _shared_byte()  # a byte written to the descriptor appears in ``STOP``


def clear_request() -> None:
    """Reset ``STOP`` to 0."""
    if DESCRIPTOR is not None:
        os.lseek(DESCRIPTOR, 0, os.SEEK_SET)
    STOP[0] = 0


def raise_if_stopped() -> None:
    """Raises Interrupted if a stop was requested; the kernel called before may then have skipped its last rows."""
    if STOP[0]:
        raise Interrupted(STOP[0])


class Interrupted(BaseException):
    """Signal ``number`` stopped the run. ``kept``, appended to the message, names the checkpoint to resume from."""

    def __init__(self, number: int, kept: str = "") -> None:
        super().__init__(number)
        self.number, self.kept = number, kept

    def __str__(self) -> str:
        return ("interrupted" if self.number == SIGINT else "terminated") + self.kept


class Guard:
    """Defers requests to stop while state is inconsistent. This base class never stops a run."""

    def deferred(self) -> AbstractContextManager[None]:
        """Defer a request to stop within the block to the next ``check``."""
        return nullcontext()

    def check(self) -> None:
        """Raises Interrupted if there is a request to stop."""


FOLDERS: dict[str, int] = {}  # those that are to be removed, and the processes that have made them


class TemporaryFolder:
    """A folder for the files of a run, ``name``. ``remove_folders`` knows of it before it is there."""

    def __init__(self, prefix: str) -> None:
        """Raises OSError."""
        from tempfile import gettempdir  # which most runs need not

        self.name = os.path.join(gettempdir(), f"{prefix}{os.getpid()}-{os.urandom(4).hex()}")
        FOLDERS[self.name] = os.getpid()
        os.mkdir(self.name, 0o700)

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *error: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove the folder with all that is in it."""
        from shutil import rmtree

        rmtree(self.name, ignore_errors=True)
        FOLDERS.pop(self.name, None)


def remove_folders() -> None:
    """Remove what a signal has kept this process from removing."""
    for name, process in [*FOLDERS.items()]:
        if process == os.getpid():  # a fork's copy is not the owner
            from shutil import rmtree

            rmtree(name, ignore_errors=True)
