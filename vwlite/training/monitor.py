"""The reports of a solver's loop on its progress, and the points where it can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from vwlite.training.display import Display


class Monitor:
    """Shows nothing and stops nothing; ``vwlite.training.solver_run`` has one that does."""

    saves = False  # whether ``Solver.state`` may be asked for

    def line(self, text: str) -> None:
        """A line of the solver's table."""

    def note(self, text: str) -> None:
        """Something that the user should know."""
        self.line(f"note: {text}")

    def remark(self, text: str) -> None:
        """On what was read or is about to be done, before the table."""

    def row(self, text: str, **figures: Any) -> None:
        """A line of the table, and its figures as JSON data, for the history of the run."""
        self.line(text)
        self.history_row(**figures)

    def history_row(self, **figures: Any) -> None:
        """Figures of the history that stand in no table."""

    def step(self, done: int, total: int | None = None) -> None:
        """``done`` of ``total`` steps were made; None: the total is not known."""

    @contextmanager
    def update(self) -> Iterator[None]:
        """A context in which the result of ``Solver.state`` changes. A request to stop waits for the end, where a
        checkpoint may be
        written. Raises Interrupted.
        """
        yield


class LineMonitor(Monitor):
    """Gives lines to ``write``, such as a logger's."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.line = write  # type: ignore[method-assign]


class DisplayMonitor(Monitor):
    """Shows lines and steps, of this ``unit``."""

    def __init__(self, display: Display, unit: str) -> None:
        self.display, self.unit = display, unit

    def line(self, text: str) -> None:
        self.display.line(text)

    def remark(self, text: str) -> None:
        self.display.remark(text)

    def step(self, done: int, total: int | None = None) -> None:
        self.display.step(done, total, self.unit)


class StepsOnly(Monitor):
    """Shows the steps of a part of a solver's work, none of its lines; that part is not gone on from."""

    def __init__(self, monitor: Monitor) -> None:
        self.step = monitor.step  # type: ignore[method-assign]
