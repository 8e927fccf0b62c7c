"""What a model is worth on labelled examples: the metrics that fit it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import INNER, Batch
from vwlite.data.config import BadLinesConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import DataError, UsageError
from vwlite.evaluation import metrics, ranking_metrics
from vwlite.evaluation.class_metrics import ALWAYS, ClassOutcomes, Contingency
from vwlite.evaluation.config import RankingConfig, ValueConfig
from vwlite.evaluation.evaluate import Opened, evaluate
from vwlite.evaluation.metric_table import (
    LEVELS,
    MAX_UNASKED_CLASSES,
    NUMBERS,
    ORDER,
    OUTPUTS,
    QUERIES,
    Refuse,
    choose,
    metrics_of_list,
    names_of,
    omit,
)
from vwlite.evaluation.metrics import COMPUTED, Outcomes, sample
from vwlite.features.config import QueryConfig
from vwlite.features.group_columns import Queries
from vwlite.learners.abilities import LoggedDecisions
from vwlite.learners.base import has_simple_labels, output_names
from vwlite.learners.best_constant import fitted_constant
from vwlite.learners.label_check import Levels
from vwlite.learners.losses import LINK_RANGES
from vwlite.learners.row_results import Results
from vwlite.options import options_of
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.listener import Display, Listener
from vwlite.training.model_loader import Restored

OWN = tuple(name for name in names_of(LEVELS) if name not in names_of(NUMBERS))


class LevelOutcomes(Listener):
    """Collects of labelled rows label, level, number and importance, float64[4, n]."""

    def __init__(self, levels: Levels) -> None:
        self.levels, self.parts = levels, [np.zeros((4, 0))]

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        columns = (batch.label, results.prediction, self.levels.numbers, batch.importance)
        part = np.stack([column[begin:end] for column in columns]).astype(float)
        self.parts.append(part[:, ~np.isnan(part[0]) & (part[3] > 0)])

    def report(self, names: Collection[str] | None) -> JsonObject:
        """The metrics by name; ``names`` chooses some of ``OWN``."""
        label, level, number, weight = np.concatenate(self.parts, axis=1)
        if not len(label):
            return {name: math.nan for name in names or OWN if name != "confusion_matrix"}
        report: JsonObject = {
            "accuracy": float(np.average(label == level, weights=weight)),
            "mae_raw": float(np.average(np.abs(label - number), weights=weight)),
            "rmse_raw": math.sqrt(np.average(np.square(label - number), weights=weight)),
        }
        values = self.levels.values
        if len(values) <= MAX_UNASKED_CLASSES if names is None else "confusion_matrix" in names:
            places = map(self.levels.places, (label, level))
            report["confusion_matrix"] = Contingency(*places, weight, lambda place: f"{values[place]:g}").matrix()
        return {name: report[name] for name in OWN if name in report and (names is None or name in names)}


OF_EACH = ("mse", "rmse", "mae", "r2")  # as of models of one number


class OutputOutcomes(Listener):
    """Collects labels, predictions and importance of labelled rows by output."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.rows, self.weight = learner, 0, 0.0
        self.each = [Outcomes() for _ in output_names(learner)]

    def __len__(self) -> int:
        """The number of rows collected."""
        return self.rows

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        counts = (batch.importance[begin:end] > 0) & (batch.flags[begin:end] & INNER == 0)
        rows = np.flatnonzero(~np.isnan(batch.label[begin:end]) & counts) + begin
        labels = np.full((len(batch), len(self.each)), np.nan, np.float32)
        labels[batch.lists.owner, batch.lists.indices] = batch.lists.values
        weight = batch.importance[rows]
        self.rows, self.weight = self.rows + len(rows), self.weight + float(weight.sum(dtype=np.float64))
        for place, outcomes in enumerate(self.each):
            values = self.learner.score[rows, place], weight, self.learner.raw[rows, place]
            outcomes.add(labels[rows, place], *values)

    def of_each(self) -> list[JsonObject]:
        """A row of metrics for each output, NaN of one without labels."""
        losses, table = self.learner.average_losses(held=False).tolist(), []
        for name, outcomes, loss in zip(output_names(self.learner), self.each, losses, strict=True):
            of_it = sample(*outcomes.columns(), "regression")
            metrics = {metric: COMPUTED[metric](of_it) for metric in OF_EACH}
            table.append({"output": name, "weight": of_it.total, "loss": loss, **metrics})
        return table

    def report(self, names: list[str] | None, refuse: Refuse) -> JsonObject:
        """The metrics by name; ``names`` chooses some, as ``choose`` does."""
        table = self.of_each()
        means = {name: mean([row[name] for row in table]) for name in ("loss", *OF_EACH)}
        report = {"examples": self.rows, "weight": self.weight, **means, "outputs": table}
        return choose(report, (*ALWAYS, *names_of(OUTPUTS)), names, refuse=refuse)


def mean(values: list[float]) -> float:
    """The mean of the values that are not NaN; NaN if all are."""
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")


LEVEL = 95  # percent
SIGNS = 10_000  # random changes of sign, where no number of rounds was given


class Paired(NamedTuple):
    """The mean difference of two models over queries; ``low`` and ``high`` end its interval; ``p`` is two-sided."""

    difference: float
    low: float
    high: float
    p: float


def interval(values: np.ndarray, weights: np.ndarray, rounds: int) -> tuple[float, float]:
    """The ends of the percentile bootstrap's 95% interval of a weighted mean (Efron and Tibshirani, 1993, chapter 13).

    ``values`` and ``weights`` are float64[n], of the queries that have a value; NaN where there is none.
    """
    if not len(values):
        return float("nan"), float("nan")
    random, means = np.random.default_rng(0), np.empty(rounds)
    for number in range(rounds):
        drawn = random.integers(len(values), size=len(values))
        means[number] = np.average(values[drawn], weights=weights[drawn])
    low, high = np.percentile(means, ((100 - LEVEL) / 2, (100 + LEVEL) / 2))
    return float(low), float(high)


def compare_pairs(values: np.ndarray, others: np.ndarray, weights: np.ndarray, rounds: int) -> Paired:
    """Compare two models query by query, float64[n] each; queries that one of them has no value of are left out.

    ``p`` is that of the randomisation test: how often the mean difference is at least as large when each query's
    difference changes its sign at random (Smucker, Allan, Carterette, CIKM 2007).
    """
    both = ~(np.isnan(values) | np.isnan(others))
    differences, weights = (values - others)[both], weights[both]
    if not len(differences):
        return Paired(*[float("nan")] * 4)
    random, shares = np.random.default_rng(0), differences * weights
    observed, as_large = abs(shares.sum()), 0
    for _ in range(rounds):
        signs = 2 * random.integers(2, size=len(shares)) - 1
        as_large += abs(float((shares * signs).sum())) >= observed * (1 - 1e-12)
    mean = float(shares.sum() / weights.sum())
    return Paired(mean, *interval(differences, weights, rounds), (1 + as_large) / (1 + rounds))


MATCHING = "matching_loss"
LOSS = "loss"  # of a policy: its value, which is what 'vwlite tune' goes by
ENOUGH = 100  # examples for bins of calibration that were not asked for
REPORTED = "does not go with a policy, whose value is reported"
NO_LABELS = "there is no labelled example to measure the model on"


def measure(
    config: RunConfig,
    model: Restored,
    bad_lines: BadLinesConfig,
    *,
    asked: str | None = None,
    refuse: Refuse = None,
    qid: str | None = None,
    ranking: RankingConfig | None = None,
    against: Opened | None = None,
    quiet: bool = False,
    display: Display | None = None,
    valued: ValueConfig | None = None,
    regressor: Opened | None = None,
    learned: Sequence[str] = (),
    open_inputs: Callable[..., Inputs] = Inputs,
) -> JsonObject:
    """The metrics ``asked`` for, names of the metrics table with commas between them; None: all that fit.

    ``qid``: what tells queries apart, for metrics of rankings, which ``ranking`` says more of. ``against``: another
    model, which is measured on the same data and compared query by query. ``valued``: how a policy is, whose value
    is reported; ``regressor``: a model of costs for it, ``learned``: what of the data the policy has learned. The
    model only tests; one of classes shows its probabilities where it has any. ``refuse`` takes why metrics that were
    asked for are not there; without it that raises UsageError. Raises DataError without labelled examples.
    """
    read = partial(evaluate, quiet=quiet, display=display, open_inputs=open_inputs)
    if isinstance(model.learner, LoggedDecisions):
        if qid:
            raise UsageError(f"--qid {REPORTED}")
        names = metrics_of_list(asked) or []
        chosen = omit(names, {name: f"--metric {name} {REPORTED}" for name in names if name != LOSS}, refuse)
        from vwlite.evaluation.logged_value import Reading, measure_policy

        span = valued.span if valued else None
        reading = Reading(bad_lines, read, span, regressor, folds=asked is None and open_inputs is Inputs)
        report = measure_policy(Opened(config, model, learned), against, reading)
        return {**({LOSS: report["estimates"][0]["value"]} if chosen else {}), **report}
    if regressor or (valued and (valued.value or valued.cost_range)):
        option = "value" if valued and valued.value else "regressor" if regressor else "cost_range"
        raise UsageError(f"--{option} is for models of --cb and --cb_adf")
    if not has_simple_labels(model.learner):
        if qid or against:
            what = "several outputs" if output_names(model.learner) else "classes"
            raise UsageError(f"{'--qid' if qid else '--against'} does not go with a model of {what}")
        return measure_classes(config, model, bad_lines, asked, read, refuse)
    opened = Opened(config, model, learned)
    return measure_numbers(opened, bad_lines, read, asked, qid, ranking or RankingConfig(), against, refuse)


def measure_numbers(
    opened: Opened, bad_lines: BadLinesConfig, read: Callable[..., tuple[Counters, Outcomes]], asked: str | None,
    qid: str | None, ranking: RankingConfig, against: Opened | None, refuse: Refuse,
) -> JsonObject:
    """Measure a model whose labels are numbers or two classes; arguments are those of ``measure``.

    ``read``: ``evaluate`` with its options.
    """
    config, model, _ = opened
    names = metrics_of_list(asked)
    levels = LevelOutcomes(model.learner.levels) if model.learner.levels else None
    of_levels = [name for name in names or () if levels and name in OWN]
    by_row = [name for name in names if name not in of_levels] if names else None
    ranked, others = ranking_metrics.split_metrics(by_row, qid)
    check_ranked(ranked, ranking, against)
    rankings = rankings_of(config, qid, ranking) if ranked else None
    graded = bool(rankings and others is not None and {*others} <= {*names_of(ORDER)})
    collectors = [collector for collector in (rankings, levels) if collector]
    counters, outcomes = read(config, model, bad_lines, collectors=collectors, grades=graded)
    if not len(outcomes):
        raise DataError(NO_LABELS)
    columns, kind = comparable_columns(config, outcomes, graded)
    asked_constant = kind["output"] != "probability" if others is None else "best_constant_loss" in others
    constant_loss = loss_of_constant(config, outcomes) if asked_constant else None
    losses = {"loss": average(counters), "best_constant_loss": constant_loss}
    in_table = None if others is None else [name for name in others if name != MATCHING]
    report = metrics.evaluate(*columns, **kind, **losses, metrics=in_table, graded=bool(ranked), refuse=refuse)
    if others and MATCHING in others:
        measured = {**report, MATCHING: matching_loss(config.learner.link, columns)}
        report = {name: measured[name] for name in ("examples", "weight", *dict.fromkeys(others)) if name in measured}
    if levels:
        report |= levels.report(of_levels if names else None)
        in_order = ("examples", "weight", *(names or report))
        report = {name: report[name] for name in in_order if name in report}
    if rankings:
        found = rankings.ranking()
        report |= report_rankings(found, ranked, ranking)
        if against:
            others = rankings_of(against.config, qid, ranking)
            alone = replace(bad_lines, keep=None)
            read(against.config, against.model, alone, quiet=True, collectors=[others], grades=graded)
            report["against"] = compare_rankings(found, others.ranking(), ranked, ranking.bootstrap or SIGNS)
    if not names and len(outcomes) < ENOUGH:
        report.pop("calibration_bins", None)
    return report


def comparable_columns(
    config: RunConfig, outcomes: metrics.Outcomes, graded: bool = False
) -> tuple[tuple[np.ndarray, ...], dict[str, str]]:
    """The columns of ``outcomes``, labels on the scale of the predictions, and what ``metrics.evaluate`` is to take
    them for.

    ``graded``: labels are any numbers, whatever the loss is made for.
    """
    loss = config.learner.loss
    signs = config.learner.binary  # in place of probabilities
    shares = loss.name == "logistic" and config.learner.link == "logistic" and not (signs or graded)
    labels, *columns = outcomes.columns()
    if shares:
        labels = (labels - loss.logistic_min) / (loss.logistic_max - loss.logistic_min)
    binary = loss.loss.two_classes and not graded and metrics.are_binary(labels)
    kind = {"task": "binary" if binary else "regression", "output": "probability" if shares else "score"}
    return (labels, *columns), kind


def matching_loss(link: str, columns: tuple[np.ndarray, ...]) -> float:
    """The mean of the loss that matches a link f: the integral of f(u) - y from where f(u) = y to the sum z.

    ``columns`` are those of ``comparable_columns``. That is (p - y)^2 / 2 of predictions p without a link, p - y + y
    ln(y / p) of counts, and the relative entropy of a label from 0 to 1 to a probability. A label from -1 to 1 stands
    for the share (1 + y) / 2, so that the loss is that of tanh u, whose u is half the sum (Auer, Herbster, Warmuth,
    1996).

    Raises DataError for a label beyond the range of f.
    """
    labels, predictions, weights, scores = (column.astype(np.float64) for column in columns)
    low, high = LINK_RANGES[link]
    if len(beyond := labels[((labels < low) | (labels > high)) & (weights > 0)]):
        limits = f"from {low:g} to {high:g}" if high < math.inf else f"{low:g} or more"
        raise DataError(f"--metric matching_loss: with --link {link} labels are {limits}, and one is {beyond[0]:g}")
    if link in ("logistic", "glf1"):
        shares = labels if link == "logistic" else (1 + labels) / 2
        losses = np.logaddexp(0, scores) - shares * scores + entropy(shares) + entropy(1 - shares)
    elif link == "poisson":
        losses = predictions - labels - labels * np.log(predictions) + entropy(labels)
    else:
        losses = np.square(predictions - labels) / 2
    return float(np.average(losses, weights=np.maximum(weights, 0)))


def entropy(values: np.ndarray) -> np.ndarray:
    """x ln x of float64[n] of 0 or more, 0 at 0."""
    return values * np.log(np.where(values > 0, values, 1))


def loss_of_constant(config: RunConfig, outcomes: metrics.Outcomes) -> float | None:
    """The average loss of the best constant prediction; None where the loss is no measure of one."""
    labels, _, weights, _ = outcomes.columns()
    counted = weights > 0
    if config.learner.binary or config.learner.levels or config.learner.loss.name == "perceptron" or not counted.any():
        return None
    return fitted_constant(config.learner.loss, labels[counted], weights[counted])[1]


def average(counters: Counters) -> float | None:
    weight = counters.labeled_weight
    return counters.sum_loss / weight if weight else None


def rankings_of(config: RunConfig, qid: str | None, ranking: RankingConfig) -> ranking_metrics.RankingCollector:
    return ranking_metrics.RankingCollector(Queries(QueryConfig(qid), config.features, config.input.columns), ranking)


def check_ranked(ranked: list[str], ranking: RankingConfig, against: Opened | None) -> None:
    """Raises UsageError for options of rankings without a metric of rankings, and another model of classes."""
    declared = options_of(RankingConfig).values()
    needless = [option.display_name for option in declared if getattr(ranking, option.name) != option.default]
    needless += ["--against"] if against else []
    if needless and not ranked:
        raise UsageError(f"{needless[0]} is for metrics of rankings: {', '.join(names_of(QUERIES))}")
    if against and not has_simple_labels(against.model.learner):
        raise UsageError("--against does not go with a model of classes")


def report_rankings(found: ranking_metrics.Ranking, names: list[str], ranking: RankingConfig) -> JsonObject:
    """The number of queries and these metrics of rankings, with intervals if they are asked for."""
    report: JsonObject = {"queries": len(found.query)}
    report.update((name, found.measure(name)) for name in names)
    if ranking.bootstrap:
        report["intervals"] = intervals(found, names, ranking.bootstrap)
    return report


def intervals(found: ranking_metrics.Ranking, names: list[str], rounds: int) -> list[JsonObject]:
    """The ends of 95% intervals over queries."""
    rows = []
    for name in names:
        values, weights = found.values(name), found.weights(name)
        counted = ~np.isnan(values)
        low, high = interval(values[counted], weights[counted], rounds)
        rows.append({"metric": name, "low": low, "high": high})
    return rows


def compare_rankings(
    found: ranking_metrics.Ranking, other: ranking_metrics.Ranking, names: list[str], rounds: int
) -> list[JsonObject]:
    """Metrics of the other model, and how far the first is above it. Raises DataError for models of other queries."""
    if not (np.array_equal(found.query, other.query) and np.array_equal(found.size, other.size)):
        raise DataError("--against: the two models read other examples or other queries from the same data")
    rows = []
    for name in names:
        test = compare_pairs(found.values(name), other.values(name), found.weights(name), rounds)
        rows.append({"metric": name, "against": other.measure(name), **test._asdict()})
    return rows


def measure_classes(
    config: RunConfig, model: Restored, bad_lines: BadLinesConfig, asked: str | None, read: Callable[..., object],
    refuse: Refuse,
) -> JsonObject:
    names = metrics_of_list(asked)
    learner = model.learner
    outcomes = OutputOutcomes(learner) if output_names(learner) else ClassOutcomes(learner, names)
    read(config, model, bad_lines, collectors=[outcomes])
    if not len(outcomes):
        raise DataError(NO_LABELS)
    return outcomes.report(names, refuse)
