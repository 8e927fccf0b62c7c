"""Handlers of the signals that stop a run: the first signal lets the current example finish, a second one does not."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from vwlite.interrupts import DESCRIPTOR, Guard, Interrupted, clear_request

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
THREAD_MODULES = ("threading", "concurrent.futures.thread", "concurrent.futures._base")
WAIT_FUNCTIONS = ("wait", "_wait_for_tstate_lock")  # functions of THREAD_MODULES that block on other threads
RETRY_DELAY = 0.01  # seconds


def forward_signals() -> None:
    """Have every signal with a Python handler set ``STOP`` of ``vwlite.interrupts``, also while a kernel runs.

    Outside the main thread it only withdraws a pending request to stop.
    """
    if DESCRIPTOR is not None and threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(DESCRIPTOR, warn_on_full_buffer=False)
    clear_request()


def interrupt(number: int, frame: FrameType | None, retried: bool = False) -> None:
    """A signal handler that raises Interrupted, but not inside the locking code of a thread pool.

    An exception there could leave a lock held and deadlock the other threads, so the handler tries again after
    RETRY_DELAY. ``retried`` says that this is such an attempt: a function that is still waiting may then be left.
    """
    while frame and frame.f_globals.get("__name__") not in THREAD_MODULES:
        frame = frame.f_back
    if not frame or (retried and frame.f_code.co_name in WAIT_FUNCTIONS):
        raise Interrupted(number)
    signal.signal(signal.SIGALRM, lambda _, later: interrupt(number, later, retried=True))
    signal.setitimer(signal.ITIMER_REAL, RETRY_DELAY)


@contextmanager
def signals_call(stop: Callable[[], None]) -> Iterator[None]:
    """Have SIGINT and SIGTERM call ``stop`` within the block, and stop no kernel: what has begun ends."""
    def handle(number: int, frame: FrameType | None) -> None:
        stop()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    descriptor = signal.set_wakeup_fd(-1)
    numbers = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(number, handle) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, previous, strict=True):
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)


class Interrupts(Guard):
    """A context manager under which signals raise Interrupted at points where the run can be stopped safely.

    That is at once, or within ``deferred`` at the next ``check``. Ignored signals stay ignored. Outside the main thread
    it does nothing.
    """

    def __init__(self) -> None:
        self.pending = 0  # number of the signal that ``check`` is to raise, 0 for none
        self.busy = False
        self.previous: dict[int, Any] = {}

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) != signal.SIG_IGN:  # ignored under nohup
                    self.previous[number] = signal.signal(number, self.handle)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self.previous.items():
            signal.signal(number, handler)
        clear_request()

    def handle(self, number: int, frame: FrameType | None = None) -> None:
        if self.pending or not self.busy:
            interrupt(number, frame)
        self.pending = number

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer the first signal within the block to the next ``check``; a second one raises at once."""
        self.busy = True
        try:
            yield
        finally:
            self.busy = False

    def check(self) -> None:
        if self.pending:
            raise Interrupted(self.pending)
