"""One run: learner, inputs, counters and outputs, and what happens between batches."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from functools import partial
from typing import Protocol

import numpy as np

from vwlite.data.batch import BLANK, INNER, SAVE, Batch
from vwlite.data.block_parser import Parsed
from vwlite.data.dataset import Inputs
from vwlite.data.holdout import Holdout
from vwlite.errors import DataError, Diverged, UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.storage.atomic_file import beside_output
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.curriculum import Curriculum
from vwlite.training.model_loader import Restored
from vwlite.training.model_writer import Saver
from vwlite.training.namespace_report import NamespaceReport
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.resume_position import Place
from vwlite.training.run_report import Report
from vwlite.training.unmoved_predictions import Unmoved


class MalformedLinePolicy(Protocol):
    """How odd input is taken: ``vwlite.data.malformed_lines.BadLines`` or ``vwlite.data.vw_malformed_lines.VwLog``."""

    def examine(self, part: Parsed) -> Batch: ...
    def relabel(self, batch: Batch) -> Batch: ...
    def recall(self, lines: int, bad: int) -> None: ...
    def finish(self) -> None: ...


class Session:
    """The state of a run, as ``vwlite.training.loop.run`` goes through it. Close it in any case (a context manager)."""

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        plan: Plan,
        policy: MalformedLinePolicy,
        counters: Counters,
        model: Restored | None = None,
    ) -> None:
        """``model``: what this run goes on from or predicts with."""
        self.config, self.learner, self.plan, self.policy = config, learner, plan, policy
        self.passes = config.passes
        self.counters = counters
        self.report = Report(config, learner, counters)
        self.results = Results()
        self.observe: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], None] | None = None
        self.observe_rows: Callable[[Batch, Results, int, int], None] | None = None
        self.unmoved = Unmoved() if not config.learning and config.strict and learner.simple_labels else None
        self.answers_raw = False  # predictions are written as raw ones are
        self.fill_gaps = False  # write "nan" for malformed lines, so that predictions stay beside their lines
        self.holdout = Holdout(config.holdout, config.passes)
        self.saver = Saver(config, learner, plan, counters, policy)
        self.fresh = model is None
        if model and config.strict:
            self.saver.go_on_from(model)
        if config.output.audit and not learner.supports_audit:
            asked = learner.asked_by or learner.name
            raise UsageError(f"--audit does not go with --{asked}: its predictions are no sums of features' weights")
        learner.watch(config.passes, self.report.say, self.held_out_loss)
        text = config.features.text_format(strict=config.strict, names=config.wants_names)
        lists = getattr(config.learner, "label_words", None)
        if lists is not None:
            text = text.of_words(lists, learner.multiline)
        again = config.passes > 1 or config.curriculum.order is not None or self.is_shuffled(1)
        self.inputs = Inputs(config.input, text, again)
        self.curriculum: Curriculum | None = None
        self.passes_done = self.failures = 0
        self.place = Place()
        self.undisturbed: Callable[[], AbstractContextManager[None]] = nullcontext  # around what must not be half done
        self.between: Callable[[], None] | None = None  # called after every batch
        self.recalled = False  # what a cache knows of the text it was made from
        self.lines = 0  # read as text
        self.earlier_passes = 0  # passes that count as this run's (--preserve_performance_counters)
        self.stopped_early = False
        self.bad_lines: str | None = None  # where malformed lines are kept as they are
        self.predictions: PredictionWriter | None = None
        self.raw: PredictionWriter | None = None
        self.namespace_report = NamespaceReport(config.features, plan)
        self.closing = ExitStack()

    def __enter__(self) -> Session:
        output = self.config.output
        with ExitStack() as opening:
            opening.callback(self.inputs.close)
            opening.callback(self.saver.best.drop)
            self.predictions = open_predictions(opening, output.predictions)
            self.raw = open_predictions(opening, output.raw_predictions)
            if not self.learner.shows_raw:
                self.raw = None  # but for the empty file, as vw writes it
            elif (self.raw or self.answers_raw) and not self.learner.simple_labels:
                self.learner.want_scores()
            if self.bad_lines:
                opening.enter_context(self.policy.keeping(self.bad_lines))
            self.closing = opening.pop_all()
        self.inputs.pages = self.learner.pages()
        self.report.note(self.inputs.remade)
        self.report.start(self.inputs.size())
        self.report.header(self.learner, self.cache_line(), self.passes)
        return self

    def __exit__(self, *error: object) -> None:
        self.report.bar.close()
        self.closing.__exit__(*error)

    def cache_line(self) -> str:
        named = self.config.input.cache
        return f"{self.inputs.state} cache_file = {named}" if named else "using no cache"

    def batches(self, number: int) -> Iterator[Batch]:
        """The batches of pass ``number``, from 1, checked by the policy."""
        self.report.pass_number = self.earlier_passes + number
        self.holdout.start_pass()
        with closing(self.read(number)) as batches:
            for batch in batches:
                yield batch
                if self.between:
                    self.between()

    def read(self, number: int) -> Iterator[Batch]:
        if self.inputs.state == "using" and not self.recalled:
            self.policy.recall(self.inputs.cache.lines, self.inputs.cache.bad)
            if len(self.config.input.paths) == 1:
                self.saver.note_lines(self.config.input.paths[0], self.inputs.cache.lines)
            self.recalled = True
        shuffled = self.is_shuffled(number)
        chosen = self.config.curriculum.order is not None
        if (shuffled or chosen or number > 1) and not self.inputs.cache:  # where a run or a model goes on
            for batch in self.texts():
                self.saver.learn_names_ahead(batch)
                if batch.release:
                    batch.release()
        if chosen:
            yield from map(self.policy.relabel, self.chosen(number))
        elif shuffled:
            yield from map(self.policy.relabel, self.inputs.shuffled(self.saver.passes))
        elif number > 1 or self.inputs.state == "using":
            yield from map(self.policy.relabel, self.inputs.cached())
        else:
            yield from self.texts()

    def is_shuffled(self, number: int) -> bool:
        """Whether pass ``number`` goes in an order of its own."""
        input = self.config.input
        return (input.shuffle_first and number == 1) or (input.shuffle and self.saver.passes > 0)

    def chosen(self, number: int) -> Iterator[Batch]:
        """What the curriculum has for pass ``number``; what is held out is there in every pass."""
        rows, input = self.inputs.at_random(), self.config.input
        if self.curriculum is None:
            self.curriculum = Curriculum(self.config.curriculum, rows.batches, input.seed, self.config.features)
            if self.curriculum.remark:
                self.report.note(self.curriculum.remark)
        held = self.holdout.mark(len(rows), np.arange(len(rows)))
        return rows.chosen(self.curriculum.admitted(number, self.passes, held), input.threads)

    def texts(self) -> Iterator[Batch]:
        """The batches of the text, while the cache, if any, is made."""
        for part in self.inputs.texts():
            self.lines += len(part.batch)
            self.saver.note_lines(part.block.path, part.lines)
            yield self.policy.examine(part)
            self.report.bar.update(part.block.size)

    def hold_out(self, batch: Batch) -> np.ndarray | None:
        rows = len(batch)
        if rows > len(self.results):
            self.results.make_room(rows)
        self.namespace_report.look(batch)
        if self.learner.multiline:
            return self.hold_out_groups(batch)
        return self.holdout.mark(rows, batch.numbers)

    def hold_out_groups(self, batch: Batch) -> np.ndarray | None:
        """Whole groups of lines; vw, which looks at lines, learns from those held out as well."""
        if not self.config.strict:
            return None
        groups = batch.flags & (BLANK | SAVE | INNER) == 0
        held = self.holdout.mark(int(groups.sum()))
        return held if held is None else np.append(held, np.uint8(0))[np.cumsum(groups) - groups]

    def step(self, batch: Batch, held: np.ndarray | None, begin: int, end: int) -> int:
        """Predict, learn, count and write the rows ``[begin, end)``; answers where it ended, as ``Learner.run``."""
        results = self.results
        results.held = held
        audit = None
        if self.config.output.audit and self.learner.multiline:
            self.learner.observer = self.group_audit(batch)
        elif self.config.output.audit and end > begin:
            audit = self.audited(batch, begin)
        if batch.names is not None and not self.earlier_passes:
            self.saver.learn_names(batch, begin, end)
        end = self.learner.run(batch, self.plan, results, begin, end)
        if audit is not None and not batch.flags[begin] & (BLANK | SAVE):
            self.write_audit(batch, begin, audit)
        counted = self.learner.counted(batch)
        if counted is not batch:
            self.counters.see_labels(batch, begin, end)
        self.report.count(counted, results, begin, end)
        self.saver.count(counted, results, begin, end)
        answers = results.raw if self.answers_raw else results.prediction
        for writer, values in ((self.predictions, answers), (self.raw, results.raw)):
            if writer:
                self.write(writer, batch, values, begin, end)
        if self.unmoved and self.unmoved.so_far:
            self.unmoved.look(batch, results.raw, begin, end)
        if self.observe:
            columns = (batch.label, results.prediction, batch.importance, results.raw)
            self.observe(*(column[begin:end] for column in columns))
        if self.observe_rows:
            self.observe_rows(batch, results, begin, end)
        if end == begin + 1 and batch.flags[begin] & SAVE:
            self.save_on_command(batch.tag(begin))
        return end

    def write(self, writer: PredictionWriter, batch: Batch, values: np.ndarray, begin: int, end: int) -> None:
        """Rows ``[begin, end)``, and a ``nan`` for each malformed line among them where that is wanted."""
        if self.fill_gaps:
            for gap in batch.gaps:
                if begin <= gap < end or gap == end == len(batch):
                    self.write_rows(writer, batch, values, begin, gap)
                    writer.write_bytes(b"nan\n")
                    begin = gap
        self.write_rows(writer, batch, values, begin, end)

    def write_rows(self, writer: PredictionWriter, batch: Batch, values: np.ndarray, begin: int, end: int) -> None:
        raw = values is self.results.raw
        learner = self.learner
        if learner.multiline:
            writer.write_bytes(learner.group_lines(batch, self.results, begin, end, raw))
        elif not learner.simple_labels if raw else learner.custom_output:
            text = partial(learner.lines, batch, self.results, raw=raw)
            writer.write_lines(batch, text, begin, end, tags=not learner.places_tags)
        elif self.results.flip is None:
            writer.write(batch, values, begin, end, whole=raw and self.config.strict)
        else:
            writer.write_beside(batch, values, self.results.flip, begin, end)

    def audited(self, batch: Batch, row: int) -> dict[int, str]:
        """The audit lines of a row by class, from the weights before it is learned."""
        from vwlite.training.audit import audit_line

        classes = self.learner.audited(batch, row)
        return {number: audit_line(batch, self.plan, self.learner, row, number) for number in classes}

    def group_audit(self, batch: Batch) -> Callable[[int, int, bool, float], None]:
        from vwlite.training.group_audit import GroupAudit

        return GroupAudit(batch, self.plan, self.learner)

    def write_audit(self, batch: Batch, row: int, lines: dict[int, str]) -> None:
        from vwlite.training.audit import audit_line, audit_text

        line_now = partial(audit_line, batch, self.plan, self.learner, row)
        sys.stdout.flush()
        sys.stdout.buffer.write(audit_text(batch, self.learner, self.results, row, lines, line_now))
        sys.stdout.buffer.flush()

    def save_on_command(self, tag: bytes) -> None:
        name = tag.removeprefix(b"save").removeprefix(b"_").decode("utf-8", "surrogateescape")
        path = name or self.config.output.model
        if path:
            self.report.say(f"saving regressor to {path}")
            self.saver.write_model(path)

    def end_pass(self, number: int) -> bool:
        """Decay, save, look at the held-out loss; True when the run is to stop here."""
        self.passes_done = number
        self.place.end_pass()
        if number == 1:  # all lines have been read, and no model is written of too many malformed ones
            self.policy.finish()
            self.check_learned()
            if self.config.input.cache and self.lines == self.config.initial_pass_length:
                self.passes *= 2  # vw goes on when its passes were cut short
        output = self.config.output
        if output.predict_only_model:
            self.learner.apply_shrinkage()
        self.learner.end_pass()
        if not math.isfinite(self.learner.get("rate")):
            raise Diverged("the learning rate grew beyond all numbers; --decay_learning_rate is too large")
        self.saver.passes += 1
        finished = self.learner.finished
        if output.save_per_pass and output.model:
            opened = partial(beside_output, like=output.model)
            self.saver.write_model(f"{output.model}.{self.saver.passes}", opened=opened)
        if not self.holdout.active:
            return finished
        if not self.learner.measured:
            self.counters.drop_pass()
            return finished
        if self.counters.end_pass(number):
            self.failures = 0
            if number < self.passes and not finished:
                self.saver.keep_best()
            return finished
        self.failures += 1
        self.stopped_early = self.failures >= self.config.holdout.early_terminate
        return self.stopped_early or finished

    def held_out_loss(self) -> float | None:
        """The average of this pass so far, None where nothing was held out."""
        weight = self.counters.holdout_weight_since_pass
        return self.counters.holdout_loss_since_pass / weight if weight and self.holdout.active else None

    def check_learned(self) -> None:
        """Raises DataError where an untrained model would take the place of a good one."""
        config = self.config
        if config.strict and config.learning and self.fresh and not self.counters.labeled_weight:
            kept = f"; {config.output.model} is not written" if config.output.model else ""
            raise DataError(f"there is no labelled example to learn from in {self.inputs.described}{kept}")

    def finish(self) -> None:
        """The model and its texts, of the best pass where early termination ended the run; then the summary."""
        if self.stopped_early:
            self.saver.name_best()
        else:
            self.saver.best.drop()
            self.saver.write_all()
        if self.config.strict and self.config.learning:
            for warning in (*self.namespace_report.warnings(self.learner), *self.learner.warnings()):
                self.report.note(warning)
        self.report.summary(self.learner, self.earlier_passes + self.passes_done + self.cut_passes())

    def cut_passes(self) -> int:
        """How often vw ends a pass early because of its length, without a cache to begin again with."""
        length, left, passes = self.config.initial_pass_length, self.lines, 0
        if length > 0 and not self.config.input.cache:
            while left >= length:
                left, length, passes = left - length, 2 * length + 1, passes + 1
        return passes

    @property
    def broken(self) -> bool:
        """Whether the reader of standard output went away."""
        return any(writer.broken for writer in (self.predictions, self.raw) if writer)


def open_predictions(closing: ExitStack, path: str | None) -> PredictionWriter | None:
    """A writer that ``closing`` closes, None without a path."""
    return closing.enter_context(PredictionWriter(path)) if path else None
