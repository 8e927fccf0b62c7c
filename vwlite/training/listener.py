"""What listens to a run: everything that happens beside learning."""

from __future__ import annotations

from typing import Any, Protocol

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
        """Nothing was read or learned so far."""

    def begin_pass(self, number: int) -> None:
        """Pass ``number``, from 1, begins."""

    def before(self, batch: Batch, begin: int, end: int) -> None:
        """The learner is about to be given the rows ``[begin, end)``."""

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        """The learner has predicted, and perhaps learned, the rows ``[begin, end)``."""

    def between(self) -> None:
        """A batch is done, the next one was not asked for; nothing is half done."""

    def pass_read(self, number: int) -> None:
        """All batches of the pass are done; the learner will end its pass, as by decaying its learning rate."""

    def end_pass(self, number: int) -> bool | None:
        """The learner has ended its pass; True: the run is to make no more of them."""

    def end(self) -> None:
        """The last pass has ended."""

    def state(self) -> dict[str, Any]:
        """The state of the listener in a checkpoint, JSON data with keys of its own."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from the ``state`` of all listeners of a stopped run."""
