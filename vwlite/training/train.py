"""Training, and testing on labelled data, as a function."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vwlite.data.malformed_lines import BadLinesConfig
from vwlite.interrupts import Guard
from vwlite.learners.base import Learner
from vwlite.training.assembly import audit_of, malformed_line_policy, names_of
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.early_stopping import EarlyStopping
from vwlite.training.file_batches import FileBatches
from vwlite.training.first_pass import LabelsFound, MalformedLineCheck
from vwlite.training.listener import Listener
from vwlite.training.model_loader import Restored
from vwlite.training.model_writer import ModelWriter
from vwlite.training.namespace_report import NamespaceReport
from vwlite.training.predictions import open_predictions
from vwlite.training.run_report import Header, ProgressTable, Summary, honest_constant
from vwlite.training.start import begin_learner
from vwlite.training.trainer import Trainer

if TYPE_CHECKING:
    from vwlite.training.checkpoint import Checkpoints
    from vwlite.training.ledger import Ledger


@dataclass(frozen=True, slots=True, eq=False)
class TrainResult:
    """What a finished run has come to."""

    learner: Learner
    counters: Counters
    passes: int  # made
    stopped_early: bool  # because the held-out loss no longer fell
    holdout: bool  # whether examples were held out
    lines: int
    bad_lines: int  # malformed ones among them
    broken: bool  # the reader of predictions went away


def train(
    config: RunConfig,
    model: Restored | None = None,
    bad_lines: BadLinesConfig | None = None,
    checkpoints: Checkpoints | None = None,
    ledger: Ledger | None = None,
    display: Display | None = None,
    guard: Guard | None = None,
) -> TrainResult:
    """Run through the data once per pass, and write what the configuration names.

    ``model``: what to go on from, a checkpoint's when ``checkpoints`` has loaded it. ``ledger`` is written with the
    model. Raises the errors of ``vwlite.errors``, and ``Interrupted``; what is written then is described in
    ``vwlite.storage.atomic_file``.
    """
    display, bad_lines = display or Display(), bad_lines or BadLinesConfig()
    learner, plan = begin_learner(config, model)
    say = None if config.output.quiet else display.message
    policy = malformed_line_policy(config, learner, model, bad_lines, say)
    counters, holdout = Counters(config.output.progress, learner.simple_labels), config.holdout.active(config.passes)
    names = names_of(config, learner, plan, model)
    kept = {"names": names and names.book, "labels": policy.labels, "ledger": ledger, "model": model}
    writer = ModelWriter(config, learner, plan, counters, **kept)
    audit = audit_of(config, learner, plan, display)
    learner.watch(config.passes, display.line, counters.held_out_loss)
    source = FileBatches(
        *(config, learner, policy, display),
        passes_before=writer.passes - (checkpoints.passes_done if checkpoints else 0),
        digested=bool(ledger or checkpoints),
        ahead=names and names.ahead,
    )
    if ledger:
        ledger.watch(source)
    with ExitStack() as closing:
        closing.callback(source.close)
        closing.callback(writer.best.drop)
        predictions = open_predictions(closing, config.output, learner)
        closing.enter_context(policy.keeping(bad_lines.keep))
        closing.callback(display.close)
        stopping = EarlyStopping(config.holdout, holdout, counters, writer)
        saving = checkpoints and checkpoints.writer(source, writer, [one.writer for one in predictions])
        listeners: list[Listener | None] = [
            Header(config, source, display),
            names,
            *audit,
            ProgressTable(config, learner, counters, display),
            *predictions,
            MalformedLineCheck(policy),
            LabelsFound(counters, source.inputs.described, config.output.model, config.learning and not model),
            writer,
            stopping,
            NamespaceReport(config.features, learner, plan, display) if config.learning else None,
            Summary(config, learner, counters, display, honest_constant),
            saving,
        ]
        trainer = Trainer(
            *(learner, plan, source, [listener for listener in listeners if listener]),
            passes=config.passes,
            row_by_row=config.output.audit,
            guard=guard,
        )
        if saving:
            closing.enter_context(saving.saving())
        trainer.run()
    if saving:
        saving.remove()
    return TrainResult(
        *(learner, counters, trainer.passes_done, stopping.stopped, holdout, policy.lines, policy.bad),
        broken=any(one.writer.broken for one in predictions),
    )
