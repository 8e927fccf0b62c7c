"""Signals that ask a run to stop: the first one lets the example at hand be learned, the second does not wait.

Python's handlers wait until a kernel returns. So ``STOP``, a byte in memory that kernels look at, is set by the system:
the number of every signal that Python hears is at once written to the file that ``listen`` names, and the file is this
memory.
"""

import mmap
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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


STOP, _DESCRIPTOR = _shared_byte()  # the number of the first signal since ``listen``, 0 before


def listen() -> None:
    """From now on, signals that Python hears set ``STOP``. For the main thread of a program; others change nothing."""
    if _DESCRIPTOR is not None and threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(_DESCRIPTOR, warn_on_full_buffer=False)
    forget()


def forget() -> None:
    """What was heard has been obeyed."""
    if _DESCRIPTOR is not None:
        os.lseek(_DESCRIPTOR, 0, os.SEEK_SET)
    STOP[0] = 0


def obey() -> None:
    """Raises Interrupted once a signal has arrived, after which kernels stop midway."""
    if STOP[0]:
        raise Interrupted(STOP[0])


class Interrupted(BaseException):
    """One of ``SIGNALS`` arrived. ``kept`` says what there is to go on from, if anything."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number, self.kept = number, ""

    def __str__(self) -> str:
        return ("interrupted" if self.number == signal.SIGINT else "terminated") + self.kept


class Interrupts:
    """While entered, as a context manager, a signal raises Interrupted: at once where nothing is half done (the run
    waits for input), otherwise at the next ``check``, which comes soon: kernels stop between two examples.

    Signals that are ignored stay so. Not entered, or outside the main thread, it changes nothing.
    """

    def __init__(self) -> None:
        self.pending = 0  # the signal that waits for ``check``
        self.busy = False
        self.before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) != signal.SIG_IGN:  # nohup
                    self.before[number] = signal.signal(number, self.hear)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)
        forget()

    def hear(self, number: int, frame: object = None) -> None:
        if self.pending or not self.busy:
            raise Interrupted(number)
        self.pending = number

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """The first signal within is put off until ``check``."""
        self.busy = True
        try:
            yield
        finally:
            self.busy = False

    def check(self) -> None:
        if self.pending:
            raise Interrupted(self.pending)
