"""Signals that ask a run to stop: the first one lets the example at hand be learned, the second does not wait."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from vwlite.interrupts import DESCRIPTOR, Guard, Interrupted, forget

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
THREADING = ("threading", "concurrent.futures.thread", "concurrent.futures._base")
WAITING = ("wait", "_wait_for_tstate_lock")  # functions of these modules that wait for other threads
PAUSE = 0.01  # seconds


def listen() -> None:
    """From now on, signals that Python hears set ``STOP``. For the main thread of a program; others change nothing."""
    if DESCRIPTOR is not None and threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(DESCRIPTOR, warn_on_full_buffer=False)
    forget()


def interrupt(number: int, frame: FrameType | None, again: bool = False) -> None:
    """Raises Interrupted, or a moment later: within a pool of threads it could leave a lock held, for which all wait.

    ``again``: a moment has passed, and what still waits there may be left.
    """
    while frame and frame.f_globals.get("__name__") not in THREADING:
        frame = frame.f_back
    if not frame or (again and frame.f_code.co_name in WAITING):
        raise Interrupted(number)
    signal.signal(signal.SIGALRM, lambda _, later: interrupt(number, later, again=True))
    signal.setitimer(signal.ITIMER_REAL, PAUSE)


class Interrupts(Guard):
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

    def hear(self, number: int, frame: FrameType | None = None) -> None:
        if self.pending or not self.busy:
            interrupt(number, frame)
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
