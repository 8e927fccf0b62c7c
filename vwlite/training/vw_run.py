"""The run of ``vwlite vw``: a loop with other listeners, some of which count, write and log as ``vw`` does."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.data.block_parser import Parsed
from vwlite.data.class_labels import ClassLabels
from vwlite.data.malformed_lines import line_at
from vwlite.data.text_format import vw_message
from vwlite.errors import DataError
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner, watch
from vwlite.learners.row_results import Results
from vwlite.training.assembly import EarlyStopping, audit_of, goes_by_rows, names_of
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.file_batches import FileBatches
from vwlite.training.listener import Display, Listener, Run
from vwlite.training.model_writer import ModelWriter
from vwlite.training.predictions import open_predictions
from vwlite.training.run_report import Header, ProgressTable, Summary, vw_constant_of
from vwlite.training.trainer import Trainer

if TYPE_CHECKING:
    from vwlite.features.name_index import NameIndex
    from vwlite.training.audit import Audit


class VwLog:
    """Logs as ``vw`` does; with ``strict_parse`` the first malformed line ends the run."""

    def __init__(
        self,
        log: Callable[[str], None],
        classes: ClassLabels | None,
        *,
        strict_parse: bool = False,
    ) -> None:
        """``classes`` checks labels that are classes; None: labels are numbers."""
        self.log, self.classes, self.strict_parse = log, classes, strict_parse
        self.examples = 0

    def examine(self, part: Parsed) -> Batch:
        batch = part.batch
        for issue in part.issues:
            start, end = line_at(part, issue.at)
            start = min(start, issue.bar)
            line = bytes(part.block.data[start:end])
            example = self.examples + issue.row
            for message in vw_message(issue.code, line, issue.at - start, issue.bar - start, example):
                if self.strict_parse and "malformed" in message:
                    raise DataError(message)
                self.log(message)
        for row in np.flatnonzero(batch.importance < 0):
            if not batch.flags[row] & (BLANK | SAVE):
                if self.strict_parse:
                    raise DataError(f"Example has a negative importance weight ({batch.importance[row]:g})")
                self.log(
                    f"[warning] Example has an invalid importance weight ({batch.importance[row]:g}); importance "
                    "weights must be non-negative. Use 0 to hold an example out of training."
                )
        self.examples += len(batch)
        return self.relabel(batch)

    def relabel(self, batch: Batch) -> Batch:
        if self.classes:
            batch.label = self.classes.check(batch)
        return batch

    first_cached = relabel

    def recall(self, lines: int, bad: int) -> None:
        """Does nothing: malformed lines are logged when the cache is written, not when it is read."""


class VwProgressTable(ProgressTable):
    """Batches of which no row is shown do not move the next row of the table."""

    def __init__(self, *state: Any, earlier_passes: int, audit: Audit | None) -> None:
        """``audit``: one of many rows at once, whose lines for a row are shown before the row of the table."""
        super().__init__(*state, earlier_passes)
        self.audit = audit

    def row_due(self, batch: Batch, results: Results, row: int) -> None:
        if self.audit and self.shown:
            self.audit.show_until(batch, results, row + 1)
        super().row_due(batch, results, row)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        with nullcontext() if self.shown else self.counters.uninterrupted():
            super().batch(batch, results, begin, end)


class VwModelWriter(ModelWriter):
    """Also writes the model when the tag of an example asks for it, and even if weights are not finite."""

    finite = False

    def __init__(self, *state: Any, names: NameIndex | None, passes: int, display: Display) -> None:
        """``passes``: the passes of earlier runs, which the model adds to its own."""
        super().__init__(*state, names=names)
        self.passes, self.display = passes, display

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if end == begin + 1 and batch.flags[begin] & SAVE:
            self.save(batch.tag(begin))

    def save(self, tag: bytes) -> None:
        """Write the model for a tag ``save`` or ``save_PATH``."""
        name = tag.removeprefix(b"save").removeprefix(b"_").decode("utf-8", "surrogateescape")
        path = name or self.config.output.model
        if path:
            self.display.line(f"saving regressor to {path}")
            self.write_model(path)

    def saved_counters(self) -> dict[str, float | int | None]:
        return self.counters.state()


class PassLength(Listener):
    """``--initial_pass_length``: after a first pass that reaches this length, passes become longer."""

    def __init__(self, config: RunConfig, source: FileBatches) -> None:
        self.length, self.cached, self.source = config.initial_pass_length, bool(config.input.cache), source

    def begin(self, run: Run) -> None:
        self.run = run

    def end_pass(self, number: int) -> None:
        if number == 1 and self.cached and self.source.rows == self.length:
            self.run.extend(self.run.passes)

    @property
    def early_ends(self) -> int:
        """How many passes ended early, without a cache that could be read again."""
        length, left, passes = self.length, self.source.rows, 0
        if length > 0 and not self.cached:
            while left >= length:
                left, length, passes = left - length, 2 * length + 1, passes + 1
        return passes


class VwSummary(Summary):
    """Also counts passes that ended early, and the passes of the initial model."""

    def __init__(self, *state: Any, earlier_passes: int, length: PassLength) -> None:
        super().__init__(*state, vw_constant_of)
        self.earlier_passes, self.length = earlier_passes, length

    def end_pass(self, number: int) -> None:
        self.passes = self.earlier_passes + number

    def end(self) -> None:
        self.passes += self.length.early_ends
        super().end()


class RegularizerText(Listener):
    """Writes the weights as text for ``--output_feature_regularizer_text``."""

    def __init__(self, path: str, learner: Learner, config: RunConfig) -> None:
        self.path, self.learner, self.config = path, learner, config

    def end(self) -> None:
        from vwlite.training.text_model import write_regularizer

        write_regularizer(self.path, self.learner, self.config.features)


def run_like_vw(
    config: RunConfig,
    learner: Learner,
    plan: Plan,
    policy: VwLog,
    counters: Counters,
    display: Display,
    *,
    earlier_passes: int = 0,
    regularizer: str | None = None,
    dry_run: bool = False,
) -> bool:
    """Run ``vwlite vw``. Returns whether the predictions went to a pipe that was closed.

    ``earlier_passes``: the passes of the initial model, which are added to those of this run; ``regularizer``: a file
    to which the weights are written as text.
    """
    names = names_of(config, learner, plan)
    state = config, learner, plan, counters
    writer = VwModelWriter(*state, names=names and names.book, passes=earlier_passes, display=display)
    audit = audit_of(config, learner, plan, display)
    by_rows = goes_by_rows(audit)
    of_rows: Any = audit[0] if audit and not by_rows else None
    table = VwProgressTable(config, learner, counters, display, earlier_passes=earlier_passes, audit=of_rows)
    holds_out = config.holdout.active(config.passes)

    def held_out_loss() -> float | None:
        """The average loss; NaN if nothing has been held out yet, None if nothing will be."""
        loss = counters.held_out_loss()
        return math.nan if loss is None and holds_out else loss

    watch(learner, config.passes, display.line, held_out_loss)
    source = FileBatches(
        config, learner, policy, display,
        passes_before=earlier_passes,
        ahead=names and names.ahead,
        holds_out=learner.config.held_out_in_vw,
    )
    with ExitStack() as closing:
        closing.callback(source.close)
        closing.callback(writer.best.drop)
        predictions = open_predictions(closing, config.output, learner, all_digits=False)
        closing.callback(display.close)
        length = PassLength(config, source)
        listeners: list[Listener | None] = [
            Header(config, source, display),
            None if earlier_passes else names,
            *(audit if by_rows else []),
            table,
            *([] if by_rows else audit),
            *predictions,
            weight_names(config, learner, plan, closing, display),
            writer,
            length,
            EarlyStopping(config, counters, writer, display),
            VwSummary(config, learner, counters, display, earlier_passes=earlier_passes, length=length),
            RegularizerText(regularizer, learner, config) if regularizer else None,
        ]
        present = [listener for listener in listeners if listener]
        trainer = Trainer(learner, plan, source, present, passes=config.passes, row_by_row=by_rows)
        if dry_run:
            present[0].begin(trainer)
        else:
            trainer.run()
    return any(listener.writer.broken for listener in predictions)


def weight_names(
    config: RunConfig, learner: Learner, plan: Plan, closing: ExitStack, display: Display
) -> Listener | None:
    """The listener that writes the names of weights for ``--audit_regressor``, if it is given."""
    if config.output.audit_regressor is None:
        return None
    from vwlite.training.audit import WeightNames

    return WeightNames(learner, plan, config.output.audit_regressor, closing, display)
