"""What ends a run at the end of a pass: data that are not fit to learn from, held-out loss that no longer falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import proxy

from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.listener import Listener, Run
from vwlite.training.model_writer import ModelWriter

if TYPE_CHECKING:
    from vwlite.features.theta_map import FeatureMap


class MalformedLineCheck(Listener):
    """Raises DataError where the policy has had too many malformed lines."""

    def __init__(self, policy: BadLines) -> None:
        self.policy = policy

    def pass_read(self, number: int) -> None:
        if number == 1:
            self.policy.finish()


class ColumnCheck(Listener):
    """Raises DataError for labelled data without the column of labels, or any of features; tells of other columns."""

    def __init__(self, inputs: Inputs, say: Callable[[str], None] | None) -> None:
        self.inputs, self.say = inputs, say

    def begin(self, run: Run) -> None:
        self.inputs.check_label()

    def pass_read(self, number: int) -> None:
        if number == 1:
            self.inputs.check_columns(labelled=True)

    def end(self) -> None:
        if self.say and (missing := self.inputs.missing_columns(labelled=True)):
            self.say(f"note: {missing}")


class ThetaCheck(Listener):
    """Raises DataError where a Theta that is learned with for the first time knows nothing of the text."""

    def __init__(self, theta: FeatureMap | None) -> None:
        self.theta = theta

    def pass_read(self, number: int) -> None:
        if number == 1 and self.theta and not self.theta.loaded:
            self.theta.check()


def no_labels(inputs: str, model: str | None) -> DataError:
    """What is wrong with data that have no label; ``inputs`` and ``model`` name the files."""
    kept = f"; {model} is not written" if model else ""
    return DataError(f"there is no labelled example to learn from in {inputs}{kept}")


class LabelledExampleCheck(Listener):
    """Raises DataError where an untrained model would take the place of a good one."""

    def __init__(self, counters: Counters, inputs: str, model: str | None, wanted: bool) -> None:
        """``inputs`` and ``model`` name the files. Unless ``wanted``, as where a model is gone on from, nothing is
        checked.
        """
        self.counters, self.inputs, self.model, self.wanted = counters, inputs, model, wanted

    def pass_read(self, number: int) -> None:
        if number == 1 and self.wanted and not self.counters.labeled_weight:
            raise no_labels(self.inputs, self.model)

    def state(self) -> dict[str, bool]:
        return {"fresh": self.wanted}

    def restore(self, state: dict[str, bool]) -> None:
        self.wanted = state["fresh"]


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
