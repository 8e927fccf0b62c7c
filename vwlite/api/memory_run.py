"""Training and prediction runs in Python, made of the same parts as those of the commands."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, Batch
from vwlite.data.config import BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import Diverged, laid_out
from vwlite.evaluation.config import RecommendConfig
from vwlite.evaluation.explain import Explainer, Term
from vwlite.evaluation.recommend import Recommendation, Recommendations, recommend
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import Explainable
from vwlite.learners.base import Learner, collect_non_finite, has_simple_labels, want_scores, watch
from vwlite.learners.row_results import Results
from vwlite.storage.atomic_file import as_path, capture_bytes
from vwlite.training.assembly import (
    EarlyStopping,
    LearningParts,
    MalformedLineCheck,
    check_terms,
    malformed_line_policy,
)
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.file_batches import FileBatches
from vwlite.training.listener import Display, Listener
from vwlite.training.model_loader import Restored, restore
from vwlite.training.model_writer import ModelWriter
from vwlite.training.namespace_report import NamespaceReport
from vwlite.training.predict import not_finite
from vwlite.training.predictions import Answers, Draws, PredictionArrays, Unmoved
from vwlite.training.run_report import Counting
from vwlite.training.trainer import Trainer


@dataclass(frozen=True, slots=True, eq=False)
class LearnResult:
    """Counts and losses of one call of ``Model.learn``."""

    examples: int  # number of examples read over all passes, without those held out
    weight: float  # total importance of the labelled ones
    average_loss: float | None  # progressive validation: predicted before learned; None without labels
    holdout_loss: float | None  # average loss of held out examples in the best pass; None without such examples
    passes: int  # number of passes made
    bad_lines: int  # number of malformed lines, which were skipped
    predictions: Answers | None  # of the last pass, each made before its update; None unless ``keep_predictions``


_logs_passes: ContextVar[bool] = ContextVar("passes_noted", default=False)


@contextmanager
def log_passes(wanted: bool) -> Iterator[None]:
    """Have the runs created within the block, in this thread, log the loss of every pass, if ``wanted``."""
    token = _logs_passes.set(wanted)
    try:
        yield
    finally:
        _logs_passes.reset(token)


def decay_warning(learner: Learner) -> str:
    """A warning that the learning rate has decayed over the calls of ``learn``; empty if it has not."""
    config, rate = learner.config, learner.get("rate")
    if (config.decay_learning_rate or 1) >= 1 or rate == config.initial_learning_rate:
        return ""
    fallen = f"the learning rate has decayed to {rate:g}, each call of learn being a pass"
    return f"{fallen}: a stream is learned with decay_learning_rate=1"


class PassLogger(Listener):
    """Logs the progressive average loss of each pass at its end, if ``log_passes`` asks for it."""

    def __init__(self, counters: Counters, display: Display) -> None:
        self.counters, self.display, self.enabled = counters, display, _logs_passes.get()

    def begin_pass(self, number: int) -> None:
        self.sum, self.weight = self.counters.sum_loss, self.counters.labeled_weight

    def end_pass(self, number: int) -> None:
        if self.enabled:
            weight = self.counters.labeled_weight - self.weight
            loss = f"average loss {(self.counters.sum_loss - self.sum) / weight:.6g}" if weight else "nothing learned"
            held_out = self.counters.held_out_loss()
            beside = "" if held_out is None else f", of rows held out {held_out:.6g}"
            self.display.note(f"pass {number}: {loss}{beside}")


log = logging.getLogger("vwlite")
OpenInputs = Callable[..., Inputs]


class Log(Display):
    """Sends messages and notes to the logger ``vwlite``."""

    def message(self, text: str) -> None:
        log.warning(laid_out(text))

    def note(self, text: str) -> None:
        if text:
            log.info(laid_out(text))


class MemoryWriter(ModelWriter):
    """Keeps the model of the best pass in memory as bytes, in addition to the files written."""

    best_model = b""

    def dumps(self) -> bytes:
        """The content of the model's file. Raises Diverged."""
        return capture_bytes(lambda open_output: self.write_model("the model", open_output=open_output))

    def keep_best(self) -> None:
        super().keep_best()
        self.best_model = self.dumps()


class NegativeLabel:
    """The label of the negative class: -1 or 0, None while unknown."""

    def __init__(self, negative: float | None) -> None:
        self.negative = negative


def make_writer(config: RunConfig, learner: Learner, plan: Plan, model: Restored | None) -> MemoryWriter:
    """A writer for the model of a learner outside a run. ``model``: its state after the last run, None before any."""
    counters = Counters(simple_labels=has_simple_labels(learner))
    labels = NegativeLabel(model.negative_label if model else None)
    return MemoryWriter(
        config, learner, plan, counters, names=model.names if model else None, labels=labels, model=model
    )


class LearningRun:
    """Trains ``learner`` on the data that ``open_inputs`` opens."""

    def __init__(
        self, config: RunConfig, learner: Learner, plan: Plan, model: Restored | None, open_inputs: OpenInputs,
        bad_lines: BadLinesConfig, keep_predictions: bool, shown: Listener | None = None,
    ) -> None:
        """``shown`` hears of the predictions, too."""
        display = Log()
        self.parts = parts = LearningParts(config, learner, plan, model, bad_lines, display, writer=MemoryWriter)
        parts.counters.dump_interval = math.inf  # there is no progress table to update
        watch(learner, config.passes, display.line, parts.counters.held_out_loss)
        self.source = FileBatches(
            config, learner, parts.policy, display,
            passes_before=parts.writer.passes,
            ahead=parts.names.ahead if parts.names else None,
            counts_terms=bool(plan.weights and plan.weights.waiting),
            open_inputs=open_inputs,
        )
        parts.writer.input = self.source.inputs.config
        self.stopping = EarlyStopping(config, parts.counters, parts.writer, display)
        self.predictions = PredictionArrays(learner, fill_gaps=True) if keep_predictions else None
        self.report = NamespaceReport(config.features, learner, plan, display)
        listeners: list[Listener | None] = [
            parts.names,
            Counting(learner, parts.counters),
            self.predictions,
            shown,
            MalformedLineCheck(parts.policy),
            parts.writer,
            PassLogger(parts.counters, display),
            self.stopping,
            self.report,
        ]
        wanted = [listener for listener in listeners if listener]
        self.trainer = Trainer(learner, plan, self.source, wanted, passes=config.data_passes)

    def run(self) -> None:
        """Raises as ``Trainer.run``."""
        try:
            self.trainer.run()
        finally:
            self.source.close()


def model_after(parts: LearningParts) -> Restored:
    """The trained model of a run, as the starting point of the next one."""
    writer = parts.writer
    if isinstance(writer, MemoryWriter) and writer.ends_with_best:
        return load_bytes(writer.best_model)
    if isinstance(writer, MemoryWriter) and parts.learner.config.needs_full_passes:
        return load_bytes(writer.dumps())  # drops the solver state of the finished passes
    names = parts.names.book if parts.names else None
    return Restored(
        learner=parts.learner,
        features=writer.config.features,
        plan=parts.plan,
        counters=writer.saved_counters(),
        negative_label=getattr(parts.policy.labels, "negative", None),
        passes=writer.passes,
        header={**writer.input.kept, "resumable": True, "names": names is not None},
        names=names,
    )


def load_bytes(data: bytes, **changes: Any) -> Restored:
    """A model that can be trained further, from the bytes of its file. Raises as ``restore``."""
    with as_path(data, "the model") as path:
        return load_file(path, **changes)


def load_file(path: str, **changes: Any) -> Restored:
    """A model that can be trained further, from its file. Raises as ``restore``."""
    empty: dict[str, Any] = {"learner_changes": {}, "feature_changes": {}, "loss_changes": {}}
    return restore(path, learning=True, vw_compat=False, **{**empty, **changes})


class InferenceRun:
    """Runs ``learner``, which does not learn, over the data; ``listeners`` receive its predictions."""

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        model: Restored,
        open_inputs: OpenInputs,
        bad_lines: BadLinesConfig,
        listeners: list[Listener],
        row_by_row: bool = False,
        check_labels: bool = False,
    ) -> None:
        display = Log()
        self.policy = malformed_line_policy(
            config, learner, model, bad_lines, display.message, check_labels=check_labels, to_the_end=True
        )
        self.source = FileBatches(config, learner, self.policy, display, open_inputs=open_inputs)
        listeners = [*listeners, MalformedLineCheck(self.policy)]
        self.trainer = Trainer(learner, model.plan, self.source, listeners, row_by_row=row_by_row)
        collect_non_finite(learner)

    def run(self) -> None:
        """Predict all rows, then raise DataError for too many malformed lines, Diverged for non-finite predictions."""
        try:
            self.trainer.run()
        finally:
            self.source.close()
        self.check()

    def check(self) -> None:
        """Raises DataError for too many malformed lines, Diverged for predictions that are not finite."""
        self.policy.check_ratio(self.policy.lines)
        if places := self.trainer.learner.non_finite:
            raise Diverged(not_finite(places))


class PredictionRun(InferenceRun):
    """Collects the predictions of every row, the same as ``vwlite.training.predict.predict`` writes."""

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        model: Restored,
        open_inputs: OpenInputs,
        bad_lines: BadLinesConfig,
        raw: bool,
        draws: Draws | None = None,
    ) -> None:
        self.collected = PredictionArrays(learner, raw, fill_gaps=True, draws=draws)
        self.learned, self.unmoved = bool(model.counters.get("example_number")), Unmoved()
        watching = [self.unmoved] if has_simple_labels(learner) else []
        super().__init__(config, learner, model, open_inputs, bad_lines, [self.collected, *watching])
        self.set_learner(learner)

    def set_learner(self, learner: Learner) -> None:
        """Predict with this learner from now on."""
        if self.collected.raw or learner.config.probabilities:
            want_scores(learner)
        self.collected.learner = self.trainer.learner = learner
        collect_non_finite(learner)

    def answers(self) -> Answers:
        """Raises as ``run``."""
        self.run()
        self.warn()
        return self.collected.result()

    def warn(self) -> None:
        """Log a warning, once, if a trained model predicted the same for all rows because it knows no feature."""
        if self.learned and self.unmoved.all_same and self.unmoved.rows:
            learner, format = self.trainer.learner, self.source.inputs.format
            if warning := self.unmoved.warning(learner, self.trainer.plan, format):
                log.warning(warning)
            self.unmoved.all_same = False


class ImportanceArrays(PredictionArrays):
    """Keeps the importance of every row that is not blank; that of a malformed line is NaN."""

    def add(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        rows = np.flatnonzero(batch.flags[begin:end] & BLANK == 0) + begin
        self.parts.append(results.importances()[rows])


def importances(
    config: RunConfig, learner: Learner, model: Restored, open_inputs: OpenInputs, bad_lines: BadLinesConfig
) -> np.ndarray:
    """float32[n]: the importances that a ``target_importance_learner`` finds. Raises as ``run``."""
    collected = ImportanceArrays(learner, fill_gaps=True)
    run = InferenceRun(config, learner, model, open_inputs, bad_lines, [collected], check_labels=True)
    run.trainer.results.want_flip_importance()
    run.run()
    return np.asarray(collected.result())


def explain_terms(
    config: RunConfig,
    learner: Learner,
    model: Restored,
    open_inputs: OpenInputs,
    bad_lines: BadLinesConfig,
    top: int | None,
) -> list[list[Term]]:
    """The ``top`` terms of the sum behind each row's prediction; with classes, that of the predicted class.

    Raises UsageError for learners whose predictions are not sums of terms, and as ``InferenceRun.run``.
    """
    check_terms("explain", learner, isinstance(learner, Explainable) and learner.is_sum)
    explainer, unmoved = TermCollector(top), Unmoved()
    watching = [unmoved] if has_simple_labels(learner) else []
    run = InferenceRun(config, learner, model, open_inputs, bad_lines, [explainer, *watching], row_by_row=True)
    run.run()
    learned, format = model.counters.get("example_number"), run.source.inputs.format
    if learned and (warning := unmoved.warning(learner, run.trainer.plan, format)):
        log.warning(warning)
    return explainer.found


def recommendations(
    config: RunConfig,
    model: Restored,
    how: RecommendConfig,
    open_inputs: OpenInputs,
    open_seen: OpenInputs | None,
    open_items: OpenInputs | None,
    bad_lines: BadLinesConfig,
) -> list[list[Recommendation]]:
    """The recommended items of each row. Raises as ``recommend``."""
    lists: list[list[Recommendation]] = []

    def keep(answer: Recommendations | None) -> None:
        lists.append(answer.items if answer else [])

    names = model.names.names if model.names else {}
    recommend(
        config, model, names, how, nullcontext(keep), bad_lines,
        display=Log(),
        open_inputs=open_inputs,
        open_seen=open_seen,
        open_items=open_items,
    )
    return lists


class TermCollector(Explainer):
    """Collects the ``top`` terms of each row's first sum, an empty list for a malformed line."""

    def __init__(self, top: int | None) -> None:
        self.found: list[list[Term]] = []
        super().__init__(lambda explanation: self.found.append(explanation.sums[0].terms), top, classes=1)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        for gap in batch.gaps_of(begin, end):
            super().batch(batch, results, begin, gap)
            self.found.append([])
            begin = gap
        super().batch(batch, results, begin, end)


def learn_result(run: LearningRun) -> LearnResult:
    """The counts and losses of a finished run."""
    counters = run.parts.counters
    weight = counters.labeled_weight
    return LearnResult(
        examples=int(counters.example_number),
        weight=weight,
        average_loss=counters.sum_loss / weight if weight else None,
        holdout_loss=counters.holdout_best_loss if counters.holdout_best_pass else None,
        passes=run.trainer.passes_done,
        bad_lines=run.parts.policy.bad,
        predictions=run.predictions.result() if run.predictions else None,
    )
