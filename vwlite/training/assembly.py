"""What several kinds of runs are put together of: their parts, and what ends them at the end of a pass, as data that
are not fit to learn from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import proxy

import numpy as np

from vwlite._native.expand import group_sizes
from vwlite.data.batch import TAGGED, Batch
from vwlite.data.config import BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import LoggedDecisions, StructuredLabels
from vwlite.learners.base import Learner, has_simple_labels, is_finished, is_measured
from vwlite.learners.label_check import LabelCheck
from vwlite.learners.row_results import Results
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.listener import Display, Listener, Run
from vwlite.training.model_loader import Restored

if TYPE_CHECKING:
    from vwlite.data.class_labels import ClassLabels
    from vwlite.features.name_index import NameIndex
    from vwlite.features.theta import FeatureMap
    from vwlite.training.audit import Audit, GroupAudit
    from vwlite.training.ledger import Ledger
    from vwlite.training.model_writer import ModelWriter


class NameCollector(Listener):
    """Enters them in ``book``."""

    def __init__(self, book: NameIndex, plan: Plan) -> None:
        self.book, self.plan = book, plan

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        self.book.add(batch, self.plan, begin, end)

    def ahead(self, batch: Batch) -> None:
        """Read the names of a batch that is learned later, without its names."""
        self.book.add_ahead(self.plan.extend(batch), self.plan)


class LearningParts:
    """The parts of a run that learns, wherever its batches come from."""

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        plan: Plan,
        model: Restored | None,
        bad_lines: BadLinesConfig,
        display: Display,
        ledger: Ledger | None = None,
        writer: type[ModelWriter] | None = None,
    ) -> None:
        """``model``: what the run goes on from. Messages go to ``display``. ``writer`` None: ``ModelWriter``."""
        from vwlite.training.model_writer import ModelWriter  # which predicting needs not

        self.learner, self.plan = learner, plan
        say = None if config.output.quiet else display.message
        insist = display.message
        self.policy = malformed_line_policy(config, learner, model, bad_lines, say, plan=plan, insist=insist)
        self.counters = Counters(config.output.progress, has_simple_labels(learner))
        self.names = names = names_of(config, learner, plan, model)
        saved = {"names": names and names.book, "labels": self.policy.labels, "ledger": ledger, "model": model}
        self.writer = (writer or ModelWriter)(config, learner, plan, self.counters, **saved)


def malformed_line_policy(
    config: RunConfig,
    learner: Learner,
    model: Restored | None,
    bad_lines: BadLinesConfig,
    say: Callable[[str], None] | None,
    *,
    check_labels: bool = True,
    to_the_end: bool = False,
    plan: Plan | None = None,
    insist: Callable[[str], None] | None = None,
) -> BadLines:
    """``check_labels`` is false where labels do not matter; ``say``, ``insist`` and ``to_the_end`` are those of
    ``BadLines``.

    ``plan``: that of a run without a ``model``.
    """
    labels: LabelCheck | ClassLabels | None = None
    if check_labels and has_simple_labels(learner):
        levels = config.learner.levels
        labels = LabelCheck(config.learner.loss, model.negative_label if model else None, levels)
    elif isinstance(learner, StructuredLabels) and (check_labels or learner.limits_answers):
        labels = learner.labels()
    return BadLines(
        labels,
        say,
        bad_lines,
        to_the_end=to_the_end,
        advises=model is None,
        class_weights=config.input.class_weights,
        faults=PairedSides(plan or model.plan).faults if pairs_by_position(config) else None,
        insist=insist,
    )


def pairs_by_position(config: RunConfig) -> bool:
    """Whether lines are malformed whose sides of a dot product differ in length."""
    learner = config.learner.base or config.learner
    return bool(config.features.dotproduct) and learner.rank == 0 and not config.vw_compat


def audit_of(config: RunConfig, learner: Learner, plan: Plan, display: Display) -> list[Audit | GroupAudit]:
    """The listeners of an audit, if one is asked for. Raises UsageError where the learner has none."""
    if not config.output.audit:
        return []
    check_terms("--audit", learner, learner.config.supports_audit)
    if learner.config.multiline:
        from vwlite.training.audit import ActionAudit, GroupAudit

        return [(ActionAudit if isinstance(learner, LoggedDecisions) else GroupAudit)(learner, plan, display.audit)]
    from vwlite.training.audit import Audit

    return [Audit(learner, plan, display.audit)]


def goes_by_rows(audit: list[Audit | GroupAudit]) -> bool:
    """Whether a run with this audit goes row by row, or group by group."""
    return any(listener.row_by_row for listener in audit)


def check_terms(what: str, learner: Learner, has_sums: bool) -> None:
    """Raises UsageError where ``what`` shows terms of sums, and the learner has none."""
    if not has_sums:
        asked = learner.config.option
        raise UsageError(f"{what} does not go with --{asked}: its predictions are no sums of features' weights")


def names_of(config: RunConfig, learner: Learner, plan: Plan, model: Restored | None = None) -> NameCollector | None:
    """The collector of names of features, if the run keeps them, beside those of the initial model."""
    if not (config.output.invert_hash or config.output.names):
        return None
    from vwlite.features.name_index import NameIndex

    known = model.names.names if model and model.names else None
    return NameCollector(NameIndex(learner.layout, known), plan)


class PairedSides:
    """The sides of the dot products of ``plan``."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.numbers = np.array(plan.pairs, np.int32).reshape(-1)

    def faults(self, batch: Batch) -> dict[int, str]:
        """The faults, by row. Raises MemoryError."""
        sizes = np.zeros((len(batch), len(self.numbers)), np.uint32)
        group_sizes(batch, self.plan, self.numbers, sizes)
        left, right = sizes[:, ::2], sizes[:, 1::2]
        faults = {}
        for row in np.flatnonzero((left != right).any(axis=1)).tolist():
            pair = int(np.argmax(left[row] != right[row]))
            sides = f"sides of {left[row, pair]} and {right[row, pair]} features"
            faults[row] = f"--dotproduct {self.plan.config.dotproduct[pair]} has {sides}, --rank 0 needs as many"
        return faults


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


def no_labels(inputs: str, model: str | None, *, tagged: bool = False) -> DataError:
    """Tell what is wrong with data that have no label; ``inputs`` and ``model`` name the files.

    ``tagged``: some examples have tags, as which labels are read that touch the bar.
    """
    kept = f"; {model} is not written" if model else ""
    hint = "; a word that touches the bar is a tag: write '1 |a', not '1|a'" if tagged else ""
    return DataError(f"there is no labelled example to learn from in {inputs}{kept}{hint}")


def touches_bar(batch: Batch) -> bool:
    """Whether any line has a word before its first bar without a blank between the two, which is a tag."""
    text = np.frombuffer(batch.text, np.uint8)
    ends = batch.tag_end[batch.flags & TAGGED != 0]
    return bool((text[ends[ends < len(text)]] == ord("|")).any())


class LabelledExampleCheck(Listener):
    """Raises DataError where an untrained model would take the place of a good one."""

    def __init__(self, counters: Counters, inputs: str, model: str | None, wanted: bool) -> None:
        """``inputs`` and ``model`` name the files. Unless ``wanted``, as where a model is gone on from, nothing is
        checked.
        """
        self.counters, self.inputs, self.model, self.wanted = counters, inputs, model, wanted
        self.tagged = False

    def before(self, batch: Batch, begin: int, end: int) -> None:
        if self.wanted and not self.tagged and not self.counters.labeled_weight:
            self.tagged = touches_bar(batch)

    def pass_read(self, number: int) -> None:
        if number == 1 and self.wanted and not self.counters.labeled_weight:
            raise no_labels(self.inputs, self.model, tagged=self.tagged)

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
        if not is_measured(learner) or (self.needs_loss and counters.held_out_loss() is None):
            counters.drop_pass()
            return False
        if counters.end_pass(number):
            self.failures = 0
            if number < self.run.passes and not is_finished(learner):
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
            if size == sides[1].shape[1] >= 2 and (are_numbers(*sides) or all(map(always_together, sides))):
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
        from vwlite.data.batch import ranges  # which other runs need not

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


def always_together(lines: np.ndarray) -> bool:
    """Whether every feature of the rows, uint32[rows, features], is only ever beside the same others, some again."""
    sets = np.unique(lines, axis=0)
    return bool(2 <= len(sets) < len(lines) and len(np.unique(sets)) == sets.size)
