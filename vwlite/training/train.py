"""Training, and testing on labelled data, as a function."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from vwlite.config_check import JsonObject
from vwlite.data.config import BadLinesConfig
from vwlite.interrupts import Guard
from vwlite.learners.base import watch
from vwlite.training.assembly import (
    ColumnCheck,
    EarlyStopping,
    LabelledExampleCheck,
    LearningParts,
    MalformedLineCheck,
    NumberedSides,
    ThetaCheck,
    audit_of,
    no_labels,
)
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import FileBatches
from vwlite.training.label_sample import ClassCounts, LabelSample, TwoClasses
from vwlite.training.listener import Display, Listener
from vwlite.training.model_loader import Restored, begin_learner
from vwlite.training.model_writer import ModelWriter
from vwlite.training.namespace_report import NamespaceReport, NumberSides, SharedSlots, SortedLabels
from vwlite.training.predictions import Predictions, SimulatedLog, open_predictions
from vwlite.training.run_report import Header, OwnSummary, ProgressTable
from vwlite.training.trainer import Trainer

if TYPE_CHECKING:
    from vwlite.training.checkpoint import Checkpoint
    from vwlite.training.ledger import Ledger


Figures = JsonObject  # by name


class TrainResult(NamedTuple):
    """The result of a finished run."""

    parts: LearningParts  # what has learned and counted
    passes: int  # made
    stopped_early: bool  # because the held-out loss no longer fell
    lines: int
    bad_lines: int  # malformed ones among them
    broken: bool  # the reader of predictions went away
    config: RunConfig  # with what the model brought
    labels: LabelSample | None  # of which the best constant is known
    classes: ClassCounts | None  # of which the majority is known
    history: list[Figures]  # entries of ``vwlite.training.counters.History``
    by_file: list[Figures]  # figures of each file before it was learned; empty without --progressive-by-file


def train(
    config: RunConfig,
    model: Restored | None = None,
    bad_lines: BadLinesConfig | None = None,
    checkpoint: Checkpoint | None = None,
    ledger: Ledger | None = None,
    display: Display | None = None,
    guard: Guard | None = None,
    writer: type[ModelWriter] = ModelWriter,
    by_file: ByFile | None = None,
) -> TrainResult:
    """Run through the data once per pass, and write what the configuration names.

    ``model``: what to go on from, a checkpoint's when ``checkpoint`` has loaded it. ``ledger`` is written with the
    model, which ``writer`` keeps. ``by_file`` makes what measures the model on each file before that is learned. Raises
    the errors of ``vwlite.errors``, and ``Interrupted``; what is written then is described in
    ``vwlite.storage.atomic_file``.
    """
    shown, limits = display or Display(), bad_lines or BadLinesConfig()
    training = Training(config, model, limits, checkpoint, ledger, shown, writer, by_file)
    return training.run(guard or Guard())


class FileFigures(Listener):
    """``entries``: of each file its figures before it was learned."""

    entries: list[Figures]


ByFile = Callable[[RunConfig, LearningParts, Display], FileFigures]


class Training:
    """The parts of a training run. Made before any output is opened: what is refused leaves no trace."""

    def __init__(
        self,
        config: RunConfig,
        model: Restored | None,
        bad_lines: BadLinesConfig,
        checkpoint: Checkpoint | None,
        ledger: Ledger | None,
        display: Display,
        writer: type[ModelWriter],
        by_file: ByFile | None,
    ) -> None:
        self.config, self.bad_lines, self.checkpoint, self.display = config, bad_lines, checkpoint, display
        self.fresh = model is None
        self.parts = parts = LearningParts(
            config, *begin_learner(config, model), model, bad_lines, display, ledger, writer
        )
        self.learner, self.plan, self.counters, self.writer = parts.learner, parts.plan, parts.counters, parts.writer
        self.policy, self.names = parts.policy, parts.names
        self.audit = audit_of(config, self.learner, self.plan, display)
        watch(self.learner, config.passes, display.line, self.counters.held_out_loss)
        stopped = checkpoint.run if checkpoint else None
        self.source = FileBatches(
            config, self.learner, self.policy, display,
            passes_before=self.writer.passes - (stopped["passes_done"] if stopped else 0),
            digested=bool(ledger or checkpoint),
            ahead=self.names and self.names.ahead,
            counts_terms=bool(parts.plan.weights and parts.plan.weights.waiting),
        )
        inputs = self.source.inputs
        only_of_text = inputs.format.groups or inputs.format.makes_features  # which says so itself
        if config.learning and self.fresh and inputs.proposed and not only_of_text:
            self.source.close()
            raise no_labels(inputs.description + inputs.advice, config.output.model)
        self.writer.input = inputs.config
        if ledger:
            ledger.watch(self.source)
        self.table = ProgressTable(config, self.learner, self.counters, display)
        self.labels = LabelSample(self.learner) if config.learning and LabelSample.concerns(self.learner) else None
        self.classes = ClassCounts(self.learner) if config.learning and ClassCounts.concerns(self.learner) else None
        self.by_file = by_file(config, parts, display) if by_file else None
        self.stopping = EarlyStopping(config, self.counters, self.writer, display)

    def run(self, guard: Guard) -> TrainResult:
        config, checkpoint, saving = self.config, self.checkpoint, None
        with ExitStack() as closing:
            closing.callback(self.source.close)
            closing.callback(self.writer.best.drop)
            only = config.fixed_passes or int(config.input.shuffle)
            predictions = open_predictions(closing, config.output, self.learner, only=only)
            log = [closing.enter_context(SimulatedLog(config.output.log, self.learner))] if config.output.log else []
            closing.enter_context(self.policy.keeping())
            closing.callback(self.display.close)
            listeners = [*self.listeners(predictions), *log]
            if checkpoint:
                from vwlite.training.checkpoint import CheckpointWriter  # which runs in memory do without

                writers = [prediction.writer for prediction in predictions]
                saving = CheckpointWriter(checkpoint, self.source, self.writer, writers)
                listeners.append(saving)
                closing.enter_context(saving.saving())
            trainer = Trainer(
                self.learner, self.plan, self.source, listeners,
                passes=config.data_passes,
                row_by_row=config.output.audit,
                guard=guard,
            )
            trainer.run()
        if saving:
            saving.remove()
        return TrainResult(
            self.parts, trainer.passes_done, self.stopping.stopped,
            self.policy.lines, self.policy.bad, any(prediction.writer.broken for prediction in predictions),
            config, self.labels, self.classes, self.table.history.entries, self.by_file.entries if self.by_file else [],
        )

    def listeners(self, predictions: list[Predictions]) -> list[Listener]:
        """List them in the order in which what they print and write is to appear."""
        config, learner, counters, display = self.config, self.learner, self.counters, self.display
        inputs, say = self.source.inputs, None if config.output.quiet else display.message
        wanted, columns = config.learning and self.fresh, inputs.config.columns
        loss_is_open = self.fresh and TwoClasses.concerns(config) and not inputs.advised[0]  # of tables, told before
        has_pairs = config.learning and config.features.dotproduct and not config.vw_compat
        listeners: list[Listener | None] = [
            Header(config, self.source, display),
            self.names,
            *self.audit,
            self.table,
            *predictions,
            SortedLabels(config, display) if SortedLabels.concerns(config) else None,
            TwoClasses(counters, display) if loss_is_open else None,
            SharedSlots(learner, display) if has_pairs else None,
            NumberSides(config, self.plan, display, columns) if NumberSides.concerns(config) else None,
            NumberedSides(self.plan, display) if NumberedSides.concerns(config) else None,
            MalformedLineCheck(self.policy),
            ColumnCheck(inputs, say) if config.learning else None,
            LabelledExampleCheck(counters, inputs.description + inputs.hint, config.output.model, wanted),
            ThetaCheck(self.plan.theta),
            self.writer,
            self.support(),
            self.stopping,
            NamespaceReport(config.features, learner, self.plan, display, columns) if config.learning else None,
            self.labels,
            self.classes,
            OwnSummary(config, learner, counters, display, labels=self.labels, classes=self.classes),
            self.by_file,
        ]
        return [listener for listener in listeners if listener]

    def support(self) -> Listener | None:
        """The listener that writes the support vectors, if they are asked for."""
        if not self.config.output.support:
            return None
        from vwlite.training.text_model import support_of  # which most runs do without

        return support_of(self.config.output.support, self.learner)
