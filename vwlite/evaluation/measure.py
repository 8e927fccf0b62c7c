"""What a model is worth on labelled examples: the metrics that fit it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vwlite.data.config import BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import DataError, UsageError
from vwlite.evaluation import metrics, ranking_metrics
from vwlite.evaluation.class_metrics import ClassOutcomes
from vwlite.evaluation.config import RankingConfig
from vwlite.evaluation.evaluate import evaluate
from vwlite.evaluation.level_metrics import OWN, LevelOutcomes
from vwlite.evaluation.metric_table import ORDER, QUERIES, chosen, names_of
from vwlite.evaluation.output_metrics import OutputOutcomes
from vwlite.evaluation.resampling import SIGNS, interval, paired
from vwlite.features.config import QueryConfig
from vwlite.features.query_ids import Queries
from vwlite.options import options_of
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.display import Display
from vwlite.training.model_loader import Restored


class Opened(NamedTuple):
    """A model to be measured, and how data are read for it."""

    config: RunConfig
    model: Restored


ENOUGH = 100  # examples for bins of calibration that nobody asked for
NO_LABELS = "there is no labelled example to measure the model on"


def measure(
    config: RunConfig,
    model: Restored,
    bad_lines: BadLinesConfig,
    *,
    asked: str | None = None,
    qid: str | None = None,
    ranking: RankingConfig | None = None,
    against: Opened | None = None,
    quiet: bool = False,
    display: Display | None = None,
    open_inputs: Callable[..., Inputs] = Inputs,
) -> dict[str, Any]:
    """The metrics ``asked`` for, names of the metrics table with commas between them; None: all that fit.

    ``qid``: what tells queries apart, for metrics of rankings, which ``ranking`` says more of. ``against``: another
    model, which is measured on the same data and compared query by query. The model only tests; one of classes shows
    its probabilities where it has any. Raises UsageError for metrics that do not fit, DataError without labelled
    examples.
    """
    how: dict[str, Any] = {"quiet": quiet, "display": display, "open_inputs": open_inputs}
    if not model.learner.simple_labels:
        if qid or against:
            what = "several outputs" if model.learner.outputs else "classes"
            raise UsageError(f"{'--qid' if qid else '--against'} does not go with a model of {what}")
        return measure_classes(config, model, bad_lines, asked, how)
    names = chosen(asked)
    levels = LevelOutcomes(model.learner.levels) if model.learner.levels else None
    of_levels = [name for name in names or () if levels and name in OWN]
    ranked, others = ranking_metrics.choose([name for name in names if name not in of_levels] if names else None, qid)
    ranking = ranking or RankingConfig()
    check_ranked(ranked, ranking, against)
    rankings = rankings_of(config, qid, ranking) if ranked else None
    graded = bool(rankings and others is not None and {*others} <= {*names_of(ORDER)})
    collectors = [one for one in (rankings, levels) if one]
    counters, outcomes = evaluate(config, model, bad_lines, collectors=collectors, grades=graded, **how)
    if not len(outcomes):
        raise DataError(NO_LABELS)
    columns, kind = comparable(config, outcomes, graded)
    report = metrics.evaluate(*columns, **kind, loss=average(counters), metrics=others, graded=bool(ranked))
    if levels:
        report |= levels.report(of_levels if names else None)
        in_order = ("examples", "weight", *(names or report))
        report = {name: report[name] for name in in_order if name in report}
    if rankings:
        found = rankings.ranking()
        report["queries"] = len(found.query)
        report.update((name, found.measure(name)) for name in ranked)
        if ranking.bootstrap:
            report["intervals"] = intervals(found, ranked, ranking.bootstrap)
        if against:
            others = rankings_of(against.config, qid, ranking)
            how.update(quiet=True, collectors=[others], grades=graded)
            evaluate(against.config, against.model, replace(bad_lines, keep=None), **how)
            report["against"] = compared(found, others.ranking(), ranked, ranking.bootstrap or SIGNS)
    if not names and len(outcomes) < ENOUGH:
        report.pop("calibration_bins", None)
    return report


def comparable(
    config: RunConfig, outcomes: metrics.Outcomes, graded: bool = False
) -> tuple[tuple[np.ndarray, ...], dict[str, str]]:
    """The columns of ``outcomes``, labels on the scale of the predictions, and what ``metrics.evaluate`` is to take
    them for.

    ``graded``: labels are any numbers, whatever the loss is made for.
    """
    loss = config.learner.loss
    signs = getattr(config.learner, "binary", False)  # in place of probabilities
    shares = loss.name == "logistic" and config.learner.link == "logistic" and not (signs or graded)
    labels, *columns = outcomes.columns()
    if shares:
        labels = (labels - loss.logistic_min) / (loss.logistic_max - loss.logistic_min)
    binary = loss.loss.two_classes and not graded and metrics.are_binary(labels)
    kind = {"task": "binary" if binary else "regression", "output": "probability" if shares else "score"}
    return (labels, *columns), kind


def average(counters: Counters) -> float | None:
    weight = counters.labeled_weight
    return counters.sum_loss / weight if weight else None


def rankings_of(config: RunConfig, qid: str | None, ranking: RankingConfig) -> ranking_metrics.Rankings:
    return ranking_metrics.Rankings(Queries(QueryConfig(qid), config.features), ranking)


def check_ranked(ranked: list[str], ranking: RankingConfig, against: Opened | None) -> None:
    """Raises UsageError for options of rankings without a metric of rankings, and another model of classes."""
    declared = options_of(RankingConfig).values()
    needless = [one.display_name for one in declared if getattr(ranking, one.name) != one.default]
    needless += ["--against"] if against else []
    if needless and not ranked:
        raise UsageError(f"{needless[0]} is for metrics of rankings: {', '.join(names_of(QUERIES))}")
    if against and not against.model.learner.simple_labels:
        raise UsageError("--against does not go with a model of classes")


def intervals(found: ranking_metrics.Ranking, names: list[str], rounds: int) -> list[dict[str, Any]]:
    """The ends of 95% intervals over queries."""
    rows = []
    for name in names:
        values, weights = found.values(name), found.weights(name)
        counted = ~np.isnan(values)
        low, high = interval(values[counted], weights[counted], rounds)
        rows.append({"metric": name, "low": low, "high": high})
    return rows


def compared(
    found: ranking_metrics.Ranking, other: ranking_metrics.Ranking, names: list[str], rounds: int
) -> list[dict[str, Any]]:
    """Metrics of the other model, and how far the first is above it. Raises DataError for models of other queries."""
    if not (np.array_equal(found.query, other.query) and np.array_equal(found.size, other.size)):
        raise DataError("--against: the two models read other examples or other queries from the same data")
    rows = []
    for name in names:
        test = paired(found.values(name), other.values(name), found.weights(name), rounds)
        rows.append({"metric": name, "against": other.measure(name), **test._asdict()})
    return rows


def measure_classes(
    config: RunConfig, model: Restored, bad_lines: BadLinesConfig, asked: str | None, how: dict[str, Any]
) -> dict[str, Any]:
    names = chosen(asked)
    learner = model.learner
    outcomes = OutputOutcomes(learner) if learner.outputs else ClassOutcomes(learner, names)
    evaluate(config, model, bad_lines, collectors=[outcomes], **how)
    if not len(outcomes):
        raise DataError(NO_LABELS)
    return outcomes.report(names)
