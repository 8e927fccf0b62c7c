"""Ends a run whose held-out loss no longer falls, and keeps the model of its best pass."""

from __future__ import annotations

from weakref import proxy

from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.listener import Listener, Run
from vwlite.training.model_writer import ModelWriter


class EarlyStopping(Listener):
    """``stopped`` becomes true after ``--early_terminate`` passes without a better held-out loss.

    A pass whose held-out loss is undefined or infinite decides nothing as long as none was better. Under ``vwlite vw``
    the first pass counts as the best where nothing was held out, but not with L-BFGS, whose first pass learns nothing.
    """

    def __init__(self, config: RunConfig, counters: Counters, writer: ModelWriter, display: Display) -> None:
        self.config, self.counters, self.writer, self.display = config, counters, writer, display
        self.active, self.patience = config.holds_out, config.holdout.early_terminate
        self.needs_loss = not config.vw_compat or config.learner.needs_full_passes
        self.failures, self.stopped = 0, False

    def begin(self, run: Run) -> None:
        self.run = proxy(run)  # no circle: tables of a run that is over are freed at once

    def end_pass(self, number: int) -> bool:
        if not self.active:
            return False
        learner, counters = self.run.learner, self.counters
        if not learner.measured or (self.needs_loss and counters.held_out_loss() is None):
            counters.drop_pass()
            return False
        if counters.end_pass(number):
            self.failures = 0
            if number < self.run.passes and not learner.finished:
                self.writer.keep_best()
            return False
        self.failures += bool(counters.holdout_best_pass)
        self.stopped = self.failures >= self.patience
        if self.stopped:
            self.writer.end_with_best()
        return self.stopped

    def end(self) -> None:
        if self.active and self.config.learning and not self.counters.holdout_best_pass:
            why = "no labelled example was held out"
            if self.counters.holdout_weight:
                why = "the held-out loss is infinite"
            self.display.note(f"{why}, so the model is that of the last pass")

    def state(self) -> dict[str, int]:
        return {"failures": self.failures}

    def restore(self, state: dict[str, int]) -> None:
        self.failures = state["failures"]
        if self.failures >= self.patience:  # it was stopped while its model was written
            self.stopped = True
            self.writer.end_with_best()
            self.run.extend(self.run.passes_done - self.run.passes)
