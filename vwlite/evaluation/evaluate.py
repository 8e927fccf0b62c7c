"""Predictions of labelled examples, collected for metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vwlite.evaluation.metrics import Outcomes
from vwlite.training.config import RunConfig
from vwlite.training.loop import run
from vwlite.training.model_loader import Restored
from vwlite.training.train import BadLinesConfig, open_session, tell_unmoved
from vwlite.training.trainer import Session

if TYPE_CHECKING:
    from vwlite.evaluation.class_metrics import ClassOutcomes
    from vwlite.evaluation.ranking_metrics import Rankings


def evaluate(
    config: RunConfig,
    model: Restored,
    bad_lines: BadLinesConfig | None = None,
    quiet: bool = False,
    rankings: Rankings | ClassOutcomes | None = None,
    grades: bool = False,
) -> tuple[Session, Outcomes]:
    """Predict labelled examples; the outcomes are for ``vwlite.evaluation.metrics.evaluate``.

    ``rankings`` collects them by query, or by class, too. With ``grades`` labels may be any numbers, whatever the loss
    is made for.
    """
    session = open_session(config, model, bad_lines or BadLinesConfig(), quiet, check_labels=not grades)
    outcomes = Outcomes()
    if rankings:
        session.observe_rows = rankings.observe
    session.observe = outcomes.add
    with session:
        run(session)
    if not quiet and len(outcomes):
        tell_unmoved(session)
    return session, outcomes
