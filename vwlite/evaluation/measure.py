"""What a model is worth on labelled examples: the metrics that fit it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vwlite.data.config import BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import DataError, UsageError
from vwlite.evaluation import metrics, ranking_metrics
from vwlite.evaluation.class_metrics import ClassOutcomes
from vwlite.evaluation.evaluate import evaluate
from vwlite.evaluation.metric_table import ORDER, chosen, names_of
from vwlite.features.config import QueryConfig
from vwlite.features.query_ids import Queries
from vwlite.training.config import RunConfig
from vwlite.training.display import Display
from vwlite.training.model_loader import Restored

ENOUGH = 100  # examples for bins of calibration that nobody asked for
NO_LABELS = "there is no labelled example to measure the model on"


def measure(
    config: RunConfig,
    model: Restored,
    bad_lines: BadLinesConfig,
    *,
    asked: str | None = None,
    qid: str | None = None,
    quiet: bool = False,
    display: Display | None = None,
    open_inputs: Callable[..., Inputs] = Inputs,
) -> dict[str, Any]:
    """The metrics ``asked`` for, names of the metrics table with commas between them; None: all that fit.

    ``qid``: what tells queries apart, for metrics of rankings. The model only tests; one of classes shows its
    probabilities where it has any. Raises UsageError for metrics that do not fit, DataError without labelled examples.
    """
    how: dict[str, Any] = {"quiet": quiet, "display": display, "open_inputs": open_inputs}
    if not model.learner.simple_labels:
        if qid:
            raise UsageError("--qid does not go with a model of classes")
        return measure_classes(config, model, bad_lines, asked, how)
    loss = config.learner.loss
    names = chosen(asked)
    ranked, others = ranking_metrics.choose(names, qid)
    rankings = ranking_metrics.Rankings(Queries(QueryConfig(qid), config.features)) if ranked else None
    graded = bool(rankings and others is not None and {*others} <= {*names_of(ORDER)})
    counters, outcomes = evaluate(config, model, bad_lines, collector=rankings, grades=graded, **how)
    if not len(outcomes):
        raise DataError(NO_LABELS)
    weight = counters.labeled_weight
    signs = getattr(config.learner, "binary", False)  # in place of probabilities
    shares = loss.name == "logistic" and config.learner.link == "logistic" and not (signs or graded)
    labels, *columns = outcomes.columns()
    if shares:  # on the scale of the predictions
        labels = (labels - loss.logistic_min) / (loss.logistic_max - loss.logistic_min)
    binary = loss.loss.two_classes and not graded and metrics.are_binary(labels)
    report = metrics.evaluate(
        *(labels, *columns),
        task="binary" if binary else "regression",
        output="probability" if shares else "score",
        loss=counters.sum_loss / weight if weight else None,
        metrics=others,
        graded=bool(ranked),
    )
    if rankings:
        report.update(rankings.evaluate(ranked))
    if not names and len(outcomes) < ENOUGH:
        report.pop("calibration_bins", None)
    return report


def measure_classes(
    config: RunConfig, model: Restored, bad_lines: BadLinesConfig, asked: str | None, how: dict[str, Any]
) -> dict[str, Any]:
    outcomes = ClassOutcomes(model.learner)
    evaluate(config, model, bad_lines, collector=outcomes, **how)
    report = outcomes.report(chosen(asked))
    if report.get("examples") == 0:
        raise DataError(NO_LABELS)
    return report
