"""Ends a run whose held-out loss no longer falls, and keeps the model of its best pass."""

from __future__ import annotations

from weakref import proxy

from vwlite.data.config import HoldoutConfig
from vwlite.training.counters import Counters
from vwlite.training.listener import Listener, Run
from vwlite.training.model_writer import ModelWriter


class EarlyStopping(Listener):
    """``stopped`` becomes true after ``early_terminate`` passes without a better held-out loss."""

    def __init__(self, config: HoldoutConfig, active: bool, counters: Counters, writer: ModelWriter) -> None:
        """``active``: examples are held out."""
        self.config, self.active, self.counters, self.writer = config, active, counters, writer
        self.failures, self.stopped = 0, False

    def begin(self, run: Run) -> None:
        self.run = proxy(run)  # no circle: tables of a run that is over are freed at once

    def end_pass(self, number: int) -> bool:
        if not self.active:
            return False
        learner = self.run.learner
        if not learner.measured:
            self.counters.drop_pass()
            return False
        if self.counters.end_pass(number):
            self.failures = 0
            if number < self.run.passes and not learner.finished:
                self.writer.keep_best()
            return False
        self.failures += 1
        self.stopped = self.failures >= self.config.early_terminate
        if self.stopped:
            self.writer.end_with_best()
        return self.stopped

    def state(self) -> dict[str, int]:
        return {"failures": self.failures}

    def restore(self, state: dict[str, int]) -> None:
        self.failures = state["failures"]
        if self.failures >= self.config.early_terminate:  # it was stopped while its model was written
            self.stopped = True
            self.writer.end_with_best()
            self.run.extend(self.run.passes_done - self.run.passes)
