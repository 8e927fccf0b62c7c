"""Predictions of labelled examples, collected for metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from vwlite.data.batch import Batch
from vwlite.data.config import BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.evaluation.metrics import Outcomes
from vwlite.learners.row_results import Results
from vwlite.training.assembly import ColumnCheck, MalformedLineCheck, malformed_line_policy
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.file_batches import FileBatches
from vwlite.training.listener import Display, Listener
from vwlite.training.model_loader import Restored
from vwlite.training.predictions import Unmoved
from vwlite.training.run_report import Counting
from vwlite.training.trainer import Trainer


class Opened(NamedTuple):
    """A model to be measured, and how data are read for it; ``learned``: what of these data it has learned."""

    config: RunConfig
    model: Restored
    learned: Sequence[str] = ()


class OutcomeCollector(Listener):
    """Adds labels and predictions to ``outcomes``."""

    def __init__(self, outcomes: Outcomes) -> None:
        self.outcomes = outcomes

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        columns = (batch.label, results.prediction, batch.importance, results.raw)
        self.outcomes.add(*(column[begin:end] for column in columns))


def evaluate(
    config: RunConfig,
    model: Restored,
    bad_lines: BadLinesConfig | None = None,
    *,
    quiet: bool = False,
    collectors: Sequence[Listener] = (),
    grades: bool = False,
    display: Display | None = None,
    open_inputs: Callable[..., Inputs] = Inputs,
) -> tuple[Counters, Outcomes]:
    """Predict labelled examples; the outcomes are for ``vwlite.evaluation.metrics.evaluate``.

    ``collectors`` collect them by query, or by class, too. With ``grades`` labels may be any numbers, whatever the loss
    is made for. ``quiet``: no messages. ``open_inputs``: as ``FileBatches`` has it.
    """
    display, bad_lines = display or Display(), bad_lines or BadLinesConfig()
    learner, plan = model.learner, model.plan
    say = None if quiet else display.message
    policy = malformed_line_policy(config, learner, model, bad_lines, say, check_labels=not grades)
    counters, outcomes, unmoved = Counters(simple_labels=learner.simple_labels), Outcomes(), Unmoved()
    source = FileBatches(config, learner, policy, display, open_inputs=open_inputs)
    with ExitStack() as closing:
        closing.callback(source.close)
        closing.enter_context(policy.keeping())
        closing.callback(display.close)
        display.start(source.inputs.size())
        watching = [unmoved] if learner.simple_labels else []
        collecting = [OutcomeCollector(outcomes), *collectors]
        checks = [MalformedLineCheck(policy), ColumnCheck(source.inputs, say)]
        listeners = [Counting(learner, counters), *watching, *collecting, *checks]
        Trainer(learner, plan, source, listeners).run()
    if say and len(outcomes) and (warning := unmoved.warning(learner, plan, source.inputs.format)):
        say(f"note: {warning}")
    return counters, outcomes
