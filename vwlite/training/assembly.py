"""What several kinds of runs are put together of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vwlite._native.expand import group_sizes
from vwlite.data.batch import Batch
from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner
from vwlite.learners.label_check import LabelCheck
from vwlite.learners.row_results import Results
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.listener import Listener
from vwlite.training.model_loader import Restored

if TYPE_CHECKING:
    from vwlite.data.class_labels import ClassLabels
    from vwlite.features.name_index import NameIndex
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
        self.counters = Counters(config.output.progress, learner.simple_labels)
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
    if check_labels and learner.simple_labels:
        levels = config.learner.levels
        labels = LabelCheck(config.learner.loss, model.negative_label if model else None, levels)
    elif check_labels or learner.limits_answers:
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


def audit_of(config: RunConfig, learner: Learner, plan: Plan, display: Display) -> list[Listener]:
    """The listeners of an audit, if one is asked for. Raises UsageError where the learner has none."""
    if not config.output.audit:
        return []
    check_terms("--audit", learner, learner.supports_audit)
    if learner.multiline:
        from vwlite.training.audit import ActionAudit, GroupAudit

        return [(ActionAudit if learner.logs_decisions else GroupAudit)(learner, plan, display.audit)]
    from vwlite.training.audit import Audit

    return [Audit(learner, plan, display.audit)]


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
