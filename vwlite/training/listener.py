"""What a run calls: listeners, which hear of everything that happens beside learning, and what shows it.

Displays and monitors are for whoever runs it to override.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from vwlite.config_check import JsonObject

if TYPE_CHECKING:  # the command line's help, which needs no NumPy, has a display
    from vwlite.data.batch import Batch
    from vwlite.features.feature_plan import Plan
    from vwlite.learners.base import Learner
    from vwlite.learners.row_results import Results


class Run(Protocol):
    """The interface of a run for listeners: ``vwlite.training.trainer.Trainer``."""

    learner: Learner
    plan: Plan
    passes: int  # to be made in all
    passes_done: int

    def extend(self, passes: int) -> None:
        """Make a number of further passes."""


class Listener:
    """Hears of everything that happens in a run, in the order of the methods here; this one does nothing.

    The listeners of a run are called one after the other, in the order in which the run was given them.
    """

    def begin(self, run: Run) -> None:
        """Hear that the run begins: nothing was read or learned so far."""

    def begin_pass(self, number: int) -> None:
        """Pass ``number``, from 1, begins."""

    def before(self, batch: Batch, begin: int, end: int) -> None:
        """The learner is about to be given the rows ``[begin, end)``."""

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        """The learner has predicted, and perhaps learned, the rows ``[begin, end)``."""

    def between(self) -> None:
        """A batch is done, the next one was not asked for; nothing is half done."""

    def pass_read(self, number: int) -> None:
        """Hear that all batches of the pass are done; the learner ends its pass next, as by decaying its rate."""

    def end_pass(self, number: int) -> bool | None:
        """The learner has ended its pass; True: the run is to make no more of them."""

    def end(self) -> None:
        """The last pass has ended."""

    def state(self) -> JsonObject:
        """The state of the listener in a checkpoint, JSON data with keys of its own."""
        return {}

    def restore(self, state: JsonObject) -> None:
        """Go on from the ``state`` of all listeners of a stopped run."""


class FileRead(NamedTuple):
    """Counts of an input that was read; None where they are not known. ``digest``: of the whole text, decompressed."""

    path: str
    lines: int | None = None
    bad: int | None = None
    digest: str | None = None


class Steps(Protocol):
    """Takes how many steps were made, of how many; None: unknown."""

    def __call__(self, done: int, total: int | None) -> None: ...


def no_steps(done: int, total: int | None) -> None:
    """Shows nothing of them."""


class Display:
    """Where the lines of a run go; this one shows nothing."""

    def line(self, text: str) -> None:
        """Print a line of the header, the progress table, the summary, or a note; may be several lines."""

    def message(self, text: str) -> None:
        """Tell something that the user should know, whatever is shown of the run."""

    def remark(self, text: str) -> None:
        """Print a message, unless only errors are to be shown."""

    def note(self, text: str) -> None:
        """Print a note beside the table; nothing if ``text`` is empty."""
        if text:
            self.line(f"note: {text}")

    def start(self, size: int | None) -> None:
        """``size``: the number of bytes to be read, None: not known."""

    def advance(self, size: int) -> None:
        """``size`` more bytes were read."""

    def advance_rows(self, number: int, rows: int, total: int | None) -> None:
        """Advance by ``rows`` rows of pass ``number`` that are not from text, of ``total``, if that is known."""

    def step(self, done: int, total: int | None, unit: str) -> None:
        """``done`` steps of a solver were made, of ``total``, if that is known; ``unit``: what a step is."""

    def files(self, read: list[FileRead]) -> None:
        """Report the inputs when all of each has been read."""

    def audit(self, data: bytes) -> None:
        """Lines of an audit."""

    def close(self) -> None:
        """The run has ended, whatever the reason."""


class Monitor:
    """Shows nothing and stops nothing; ``vwlite.training.solver_run`` has one that does."""

    saves = False  # whether ``Solver.state`` may be asked for

    def line(self, text: str) -> None:
        """A line of the solver's table."""

    def note(self, text: str) -> None:
        """Tell something that the user should know."""
        self.line(f"note: {text}")

    def remark(self, text: str) -> None:
        """Remark on what was read or is about to be done, before the table."""

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
        checkpoint may be written. Raises Interrupted.
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
