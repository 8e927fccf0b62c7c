"""Runs over data in memory: training and predicting with the parts that the commands are made of."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vwlite.data.batch import Batch
from vwlite.data.config import BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import Diverged
from vwlite.evaluation.config import RecommendConfig
from vwlite.evaluation.explain import Explainer, Term
from vwlite.evaluation.recommend import Recommendation, Recommendations, recommend
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.storage.memory_file import readable, written
from vwlite.training.assembly import LearningParts, check_terms, malformed_line_policy
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.early_stopping import EarlyStopping
from vwlite.training.file_batches import FileBatches
from vwlite.training.first_pass import MalformedLineCheck
from vwlite.training.listener import Listener
from vwlite.training.model_loader import Restored, restore
from vwlite.training.model_writer import ModelWriter
from vwlite.training.namespace_report import NamespaceReport
from vwlite.training.predict import not_finite
from vwlite.training.predictions import Answers, PredictionArrays, Unmoved
from vwlite.training.run_report import Counting
from vwlite.training.trainer import Trainer

if TYPE_CHECKING:
    from vwlite.training.predictions import Answers


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """Counts and losses of one call of ``Model.learn``."""

    examples: int  # read, over all passes, held out ones not among them
    weight: float  # their importance, of labelled ones
    average_loss: float | None  # progressive: each example is predicted before it is learned; None without labels
    holdout_loss: float | None  # the best pass's average loss of held out examples; None where none were
    passes: int  # made
    bad_lines: int  # malformed lines of text, which were left out
    predictions: Answers | None  # made before each update of the last pass; None unless kept


_noted: ContextVar[bool] = ContextVar("passes_noted", default=False)


@contextmanager
def passes_noted(wanted: bool) -> Iterator[None]:
    """Runs that are made meanwhile, in this thread, note every pass, if ``wanted``."""
    token = _noted.set(wanted)
    try:
        yield
    finally:
        _noted.reset(token)


def decay_note(learner: Learner) -> str:
    """That passes so far have let the learning rate fall; empty where they have not."""
    config, rate = learner.config, learner.get("rate")
    if config.decay_learning_rate >= 1 or rate == config.initial_learning_rate:
        return ""
    fallen = f"the learning rate has decayed to {rate:g}, each call of learn being a pass"
    return f"{fallen}: a stream is learned with decay_learning_rate=1"


class PassNotes(Listener):
    """A note at the end of each pass: its average loss, each row predicted before it was learned."""

    def __init__(self, counters: Counters, display: Display) -> None:
        self.counters, self.display, self.noted = counters, display, _noted.get()

    def begin_pass(self, number: int) -> None:
        self.sum, self.weight = self.counters.sum_loss, self.counters.labeled_weight

    def end_pass(self, number: int) -> None:
        if self.noted:
            weight = self.counters.labeled_weight - self.weight
            loss = f"average loss {(self.counters.sum_loss - self.sum) / weight:.6g}" if weight else "nothing learned"
            held_out = self.counters.held_out_loss()
            beside = "" if held_out is None else f", of rows held out {held_out:.6g}"
            self.display.note(f"pass {number}: {loss}{beside}")


log = logging.getLogger("vwlite")
OpenInputs = Callable[..., Inputs]


class Log(Display):
    """Messages go to the logger ``vwlite``."""

    def message(self, text: str) -> None:
        log.warning(text)

    def note(self, text: str) -> None:
        if text:
            log.info(text)


class MemoryWriter(ModelWriter):
    """Keeps the model of the best pass as bytes, beside what is written to files."""

    best_model = b""

    def dumps(self) -> bytes:
        """The model, as a file of it would hold it. Raises Diverged."""
        return written(lambda open_output: self.write_model("the model", open_output=open_output))

    def keep_best(self) -> None:
        super().keep_best()
        self.best_model = self.dumps()


class Negative:
    """Which label stands for the negative class: -1, 0, or nobody knows."""

    def __init__(self, negative: float | None) -> None:
        self.negative = negative


def writer_of(config: RunConfig, learner: Learner, plan: Plan, model: Restored | None) -> MemoryWriter:
    """What writes a learner that is not learning just now; ``model`` is what it has come to, None at the start."""
    counters = Counters(simple_labels=learner.simple_labels)
    labels = Negative(model.negative_label if model else None)
    return MemoryWriter(
        config, learner, plan, counters, names=model.names if model else None, labels=labels, model=model
    )


class LearningRun:
    """Has a learner learn what ``open_inputs`` opens."""

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        plan: Plan,
        model: Restored | None,
        open_inputs: OpenInputs,
        bad_lines: BadLinesConfig,
        keep_predictions: bool,
    ) -> None:
        display = Log()
        self.parts = parts = LearningParts(config, learner, plan, model, bad_lines, display, writer=MemoryWriter)
        parts.counters.dump_interval = math.inf  # nobody sees a table of progress
        learner.watch(config.passes, display.line, parts.counters.held_out_loss)
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
            MalformedLineCheck(parts.policy),
            parts.writer,
            PassNotes(parts.counters, display),
            self.stopping,
            self.report,
        ]
        self.trainer = Trainer(learner, plan, self.source, [one for one in listeners if one], passes=config.data_passes)

    def run(self) -> None:
        """Raises as ``Trainer.run``."""
        try:
            self.trainer.run()
        finally:
            self.source.close()


def restored(parts: LearningParts) -> Restored:
    """What has learned, for a run that goes on from it."""
    writer = parts.writer
    if isinstance(writer, MemoryWriter) and writer.ends_with_best:
        return loaded(writer.best_model)
    if isinstance(writer, MemoryWriter) and parts.learner.config.whole_passes:
        return loaded(writer.dumps())  # the state of its passes is over
    names = parts.names.book if parts.names else None
    return Restored(
        learner=parts.learner,
        features=writer.config.features,
        plan=parts.plan,
        counters=writer.kept_counts(),
        negative_label=getattr(parts.policy.labels, "negative", None),
        passes=writer.passes,
        header={**writer.input.kept, "resumable": True, "names": names is not None},
        names=names,
    )


def loaded(data: bytes, **changes: Any) -> Restored:
    """A model from its bytes. Raises as ``restore``."""
    with readable(data, "the model") as path:
        return opened(path, **changes)


def opened(path: str, **changes: Any) -> Restored:
    """A model from its file, to go on learning. Raises as ``restore``."""
    empty: dict[str, Any] = {"learner_changes": {}, "feature_changes": {}, "loss_changes": {}}
    return restore(path, learning=True, vw_compat=False, **{**empty, **changes})


class TestRun:
    """Has ``learner``, which only tests, run over the data while ``listeners`` listen."""

    __test__ = False  # no class of tests

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        model: Restored,
        open_inputs: OpenInputs,
        bad_lines: BadLinesConfig,
        listeners: list[Listener],
        row_by_row: bool = False,
    ) -> None:
        display = Log()
        self.policy = malformed_line_policy(
            config, learner, model, bad_lines, display.message, check_labels=False, to_the_end=True
        )
        self.source = FileBatches(config, learner, self.policy, display, open_inputs=open_inputs)
        heard = [*listeners, MalformedLineCheck(self.policy)]
        self.trainer = Trainer(learner, model.plan, self.source, heard, row_by_row=row_by_row)
        learner.answer_all()

    def run(self) -> None:
        """DataError for too many malformed lines, and Diverged, are raised when all rows have been run."""
        try:
            self.trainer.run()
        finally:
            self.source.close()
        self.check()

    def check(self) -> None:
        """Raises DataError, Diverged."""
        self.policy.check_ratio(self.policy.lines)
        if odd := self.trainer.learner.odd:
            raise Diverged(not_finite(odd))


class AnsweringRun(TestRun):
    """Keeps what ``learner`` answers to every row, as ``vwlite.training.predict.predict`` writes it."""

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        model: Restored,
        open_inputs: OpenInputs,
        bad_lines: BadLinesConfig,
        raw: bool,
    ) -> None:
        self.collected = PredictionArrays(learner, raw, fill_gaps=True)
        self.learned, self.unmoved = bool(model.counters.get("example_number")), Unmoved()
        watching = [self.unmoved] if learner.simple_labels else []
        super().__init__(config, learner, model, open_inputs, bad_lines, [self.collected, *watching])
        self.test(learner)

    def test(self, learner: Learner) -> None:
        """Have this learner answer."""
        if self.collected.raw or learner.config.probabilities:
            learner.want_scores()
        self.collected.learner = self.trainer.learner = learner
        learner.answer_all()

    def answers(self) -> Answers:
        """Raises as ``run``."""
        self.run()
        self.warn()
        return self.collected.result()

    def warn(self) -> None:
        """Log, once, that no feature has changed a prediction of a model that has learned."""
        if self.learned and self.unmoved.all_same and self.unmoved.rows:
            learner, format = self.trainer.learner, self.source.inputs.format
            if warning := self.unmoved.warning(learner, self.trainer.plan, format):
                log.warning(warning)
            self.unmoved.all_same = False


def terms_of(
    config: RunConfig,
    learner: Learner,
    model: Restored,
    open_inputs: OpenInputs,
    bad_lines: BadLinesConfig,
    top: int | None,
) -> list[list[Term]]:
    """The terms of every row's sum, of classes those of the answer's.

    Raises UsageError where predictions are no sums, and as ``TestRun.run``.
    """
    check_terms("explain", learner, learner.is_sum)
    explainer = TermLists(top)
    TestRun(config, learner, model, open_inputs, bad_lines, [explainer], row_by_row=True).run()
    return explainer.found


def lists_of(
    config: RunConfig,
    model: Restored,
    how: RecommendConfig,
    open_inputs: OpenInputs,
    open_seen: OpenInputs | None,
    bad_lines: BadLinesConfig,
) -> list[list[Recommendation]]:
    """What ``recommend`` lists for each row. Raises as that."""
    found: list[list[Recommendation]] = []

    def keep(one: Recommendations | None) -> None:
        found.append(one.items if one else [])

    names = model.names.names if model.names else {}
    recommend(
        config, model, names, how, nullcontext(keep), bad_lines,
        display=Log(),
        open_inputs=open_inputs,
        open_seen=open_seen,
    )
    return found


class TermLists(Explainer):
    """Keeps the ``top`` terms of each row's first sum; of a malformed line there are none."""

    def __init__(self, top: int | None) -> None:
        self.found: list[list[Term]] = []
        super().__init__(lambda explanation: self.found.append(explanation.sums[0].terms), top, classes=1)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        for gap in batch.gaps:
            if begin <= gap < end or gap == end == len(batch):
                super().batch(batch, results, begin, gap)
                self.found.append([])
                begin = gap
        super().batch(batch, results, begin, end)


def learned(run: LearningRun) -> Learned:
    counters = run.parts.counters
    weight = counters.labeled_weight
    return Learned(
        examples=int(counters.example_number),
        weight=weight,
        average_loss=counters.sum_loss / weight if weight else None,
        holdout_loss=counters.holdout_best_loss if counters.holdout_best_pass else None,
        passes=run.trainer.passes_done,
        bad_lines=run.parts.policy.bad,
        predictions=run.predictions.result() if run.predictions else None,
    )
