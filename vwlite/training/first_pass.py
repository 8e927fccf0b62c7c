"""What ends a run at the end of a pass: data that are not fit to learn from, held-out loss that no longer falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import proxy

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError
from vwlite.features.feature_plan import Plan
from vwlite.learners.row_results import Results
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.listener import Listener, Run

if TYPE_CHECKING:
    from vwlite.features.theta_map import FeatureMap
    from vwlite.training.model_writer import ModelWriter


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
    """The error for data without a label; ``inputs`` and ``model`` name the files."""
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


class NumberedSides(Listener):
    """Looks at the first batch for latent features that are numbered in the text, as in Mineiro 2011: r_7 r2_7."""

    def __init__(self, plan: Plan, display: Display) -> None:
        self.plan, self.display, self.found, self.watching = plan, display, dict[str, int](), True

    @staticmethod
    def concerns(config: RunConfig) -> bool:
        learner = config.learner.base or config.learner
        paired = bool(config.features.dotproduct) and learner.rank > 0
        return config.learning and paired and not config.vw_compat

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        pairs = zip(self.plan.config.dotproduct, self.plan.pairs, strict=True) if self.watching else ()
        self.watching = False
        for value, groups in pairs:
            sides = [self.lines_of(batch, group, begin, end) for group in groups]
            size = sides[0].shape[1]
            if size == sides[1].shape[1] >= 2 and (are_numbers(*sides) or all(map(stand_together, sides))):
                self.found[value] = size

    def lines_of(self, batch: Batch, group: int, begin: int, end: int) -> np.ndarray:
        """uint32[rows, features], hashes of a side's features; of no features where rows differ in their number."""
        from vwlite.features.group_columns import segments_of  # which runs without dot products need not

        first, last = batch.row_namespace[[begin, end]].tolist()
        inside = segments_of(batch, self.plan, group)[first:last]
        before = np.append(0, np.cumsum(np.where(inside, np.diff(batch.namespace_start)[first:last], 0)))
        sizes = np.diff(before[batch.row_namespace[begin : end + 1].astype(np.int64) - first])
        if not len(sizes) or (sizes != sizes[0]).any():
            return np.zeros((end - begin, 0), np.uint32)
        from vwlite.data.csr import ranges  # which other runs need not

        features = batch.feature_hash[ranges(batch.namespace_start, first + np.flatnonzero(inside))]
        return features.reshape(end - begin, -1)

    def pass_read(self, number: int) -> None:
        for value, size in self.found.items():
            finding = f"--dotproduct {value} has {size} features on each side, in every line the same ones together"
            self.display.note(f"{finding}: if they are numbered latent features, --rank 0 pairs them in their order")
        self.found = {}

    def state(self) -> dict[str, list[Any]]:
        return {"numbered_sides": [self.watching, self.found]}

    def restore(self, state: dict[str, list[Any]]) -> None:
        match state["numbered_sides"]:
            case [bool(watching), dict(found)]:
                self.watching, self.found = watching, found
            case other:
                raise ValueError(f"numbered sides are {other!r}")


def are_numbers(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether features are the numbers 1, 2, 3 in every row, uint32[rows, features], and the same on both sides."""
    steps = np.diff(np.hstack([left, right]).astype(np.int64), axis=1)
    steps = np.delete(steps, left.shape[1] - 1, axis=1)
    return bool((steps == 1).all() and (left == left[0]).all() and (right == right[0]).all())


def stand_together(lines: np.ndarray) -> bool:
    """Whether every feature of the rows, uint32[rows, features], is only ever beside the same others, some again."""
    sets = np.unique(lines, axis=0)
    return bool(2 <= len(sets) < len(lines) and len(np.unique(sets)) == sets.size)
