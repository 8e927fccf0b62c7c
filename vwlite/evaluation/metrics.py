"""Metrics of predictions of a number against labels, those of ``metric_table.py`` that such models have.

All are weighted by importance and computed once, in float64 from all rows: batches change nothing, the order of rows
only the last digit. A labelled row takes 16 bytes (``Outcomes``), and about 85 more while it is evaluated.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.errors import DataError, Diverged, UsageError
from vwlite.evaluation.metric_table import NUMBERS, ORDER, PROBABILITIES, SIDES, Refuse, choose_names

BINS = 10
LOG_LOSS_EPS = float(np.finfo(np.float32).eps)  # scikit-learn >= 1.3: eps of the predictions' dtype


class Ties(NamedTuple):
    """Rows grouped by equal values, in ascending order of these; all float64[groups]."""

    value: np.ndarray
    positive: np.ndarray  # weight of the group's positive rows
    negative: np.ndarray  # weight of its other rows


@dataclass
class Sample:
    """Labelled rows to be measured; every weight is positive."""

    label: np.ndarray  # float32[n], 0 and 1 when the predictions are probabilities
    prediction: np.ndarray  # float32[n]
    weight: np.ndarray  # float32[n]
    score: np.ndarray  # float32[n], what orders the rows: predictions before clip and link
    threshold: float  # predictions above it say "positive"; NaN in regression
    loss: float  # the caller's average loss, NaN when not given
    best_constant_loss: float = math.nan  # that of the best constant, likewise

    @cached_property
    def total(self) -> float:
        return float(np.sum(self.weight, dtype=np.float64))

    @cached_property
    def positive(self) -> np.ndarray:
        return self.label > 0

    @cached_property
    def error(self) -> np.ndarray:
        return self.prediction.astype(np.float64) - self.label

    def ties(self, values: np.ndarray) -> Ties:
        """Rows grouped by equal ``values``, float32[n]."""
        order = np.argsort(values, kind="stable")
        value = values[order].astype(np.float64)
        first = np.flatnonzero(np.diff(value, prepend=np.nan) != 0)  # NaN != 0: row 0 too
        positive, weight = self.positive[order], self.weight[order].astype(np.float64)
        return Ties(
            value[first],
            np.add.reduceat(np.where(positive, weight, 0.0), first),
            np.add.reduceat(np.where(positive, 0.0, weight), first),
        )

    @cached_property
    def by_score(self) -> Ties:
        return self.ties(self.score)

    @cached_property
    def sides(self) -> tuple[float, float, float, float]:
        """Weights of true positives, false positives, false negatives and true negatives."""
        predicted, weight = self.prediction > self.threshold, self.weight.astype(np.float64)
        positive = self.positive
        cells = (predicted & positive, predicted & ~positive, ~predicted & positive, ~predicted & ~positive)
        return tuple(float(weight[cell].sum()) for cell in cells)

    @cached_property
    def bins(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums of predictions, of labels and of weight in bins of equal weight, from low to high predictions; float64.

        Tied rows, or one heavy row, across a bin's edge are shared out by weight, so that nothing depends on the order
        of the rows.
        """
        order = np.argsort(self.prediction, kind="stable")
        value, weight = self.prediction[order].astype(np.float64), self.weight[order].astype(np.float64)
        if not len(value):
            return value, value, value
        first = np.flatnonzero(np.diff(value, prepend=np.nan) != 0)
        labels = np.add.reduceat(self.label[order] * weight, first)
        weight = np.add.reduceat(weight, first)
        reached = np.concatenate(([0.0], np.cumsum(weight)))
        edges = np.linspace(0.0, reached[-1], BINS + 1)

        def per_bin(mass: np.ndarray) -> np.ndarray:
            return np.diff(np.interp(edges, reached, np.concatenate(([0.0], np.cumsum(mass)))))

        return per_bin(value[first] * weight), per_bin(labels), np.diff(edges)

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean, NaN of no rows. NumPy's pairwise sum keeps the error near one rounding."""
        return _ratio(np.sum(values * self.weight, dtype=np.float64), self.total)


COMPUTED: dict[str, Callable[[Sample], Any]] = {}  # by name of the metric


def computes(function: Callable[[Sample], Any]) -> Callable[[Sample], Any]:
    """Enter the metric of the decorated function's name."""
    COMPUTED[function.__name__] = function
    return function


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator) / float(denominator) if denominator else math.nan


@computes
def loss(sample: Sample) -> float:
    return sample.loss


@computes
def best_constant_loss(sample: Sample) -> float:
    return sample.best_constant_loss


@computes
def accuracy(sample: Sample) -> float:
    return sample.mean((sample.prediction > sample.threshold) == sample.positive)


@computes
def majority_accuracy(sample: Sample) -> float:
    return max(rate := sample.mean(sample.positive), 1 - rate)


@computes
def precision(sample: Sample) -> float:
    true_positives, false_positives, _, _ = sample.sides
    return _ratio(true_positives, true_positives + false_positives)


@computes
def recall(sample: Sample) -> float:
    true_positives, _, false_negatives, _ = sample.sides
    return _ratio(true_positives, true_positives + false_negatives)


@computes
def f1(sample: Sample) -> float:
    true_positives, false_positives, false_negatives, _ = sample.sides
    return _ratio(2 * true_positives, 2 * true_positives + false_positives + false_negatives)


@computes
def confusion_matrix(sample: Sample) -> dict[str, list]:
    true_positives, false_positives, false_negatives, true_negatives = sample.sides
    weight = [[true_negatives, false_positives], [false_negatives, true_positives]]
    return {"classes": ["negative", "positive"], "weight": weight}


@computes
def auc(sample: Sample) -> float:
    """Mann-Whitney statistic: share of (positive, negative) pairs in order, in O(n log n)."""
    _, positive, negative = sample.by_score
    below = np.cumsum(negative) - negative / 2
    return _ratio(np.sum(positive * below), np.sum(positive) * np.sum(negative))


@computes
def auc_loss(sample: Sample) -> float:
    return 1 - auc(sample)


@computes
def pr_auc(sample: Sample) -> float:
    """Average precision: the mean over positive rows of the precision of all rows down to their score."""
    _, positive, negative = (column[::-1] for column in sample.by_score)
    if not (positive.any() and negative.any()):
        return math.nan
    hits = np.cumsum(positive)
    return _ratio(np.sum(positive * hits / (hits + np.cumsum(negative))), hits[-1])


@computes
def log_loss(sample: Sample) -> float:
    """Compute log loss as scikit-learn does for float32 predictions: clipped by their machine epsilon."""
    chance = np.clip(sample.prediction.astype(np.float64), LOG_LOSS_EPS, 1 - LOG_LOSS_EPS)
    return sample.mean(-np.log(np.where(sample.positive, chance, 1 - chance)))


@computes
def best_constant_log_loss(sample: Sample) -> float:
    rate = sample.mean(sample.positive)
    return float(sum(-p * math.log(p) if p > 0 else p for p in (rate, 1 - rate)))


@computes
def mse(sample: Sample) -> float:
    return sample.mean(np.square(sample.error))


COMPUTED["rmse"] = lambda sample: math.sqrt(mse(sample))
COMPUTED["mae"] = lambda sample: sample.mean(np.abs(sample.error))


@computes
def r2(sample: Sample) -> float:
    if len(sample.label) and sample.label.min() == sample.label.max():
        return math.nan  # rounding of the mean would stand in for the variance
    spread = np.square(sample.label.astype(np.float64) - mean_label(sample))
    return 1 - _ratio(mse(sample), sample.mean(spread))


@computes
def mean_label(sample: Sample) -> float:
    return sample.mean(sample.label.astype(np.float64))


@computes
def mean_prediction(sample: Sample) -> float:
    return sample.mean(sample.prediction.astype(np.float64))


@computes
def calibration(sample: Sample) -> float:
    return _ratio(mean_prediction(sample), mean_label(sample))


@computes
def calibration_bins(sample: Sample) -> list[dict[str, float]]:
    return [
        {"mean_prediction": p / w, "observed_rate": y / w, "weight": w}
        for p, y, w in zip(*map(np.ndarray.tolist, sample.bins), strict=True)
    ]


@computes
def ece(sample: Sample) -> float:
    """Sum over the bins of |mean prediction - mean label|, each by its weight (Naeini, Cooper, Hauskrecht, AAAI 2015),
    but with bins of equal weight."""
    predicted, observed, weight = sample.bins
    return _ratio(np.sum(np.abs(predicted - observed)), np.sum(weight))


class Outcomes:
    """Collects labels, predictions, weights and scores batch by batch, 16 bytes per row."""

    def __init__(self) -> None:
        self._columns = array("f"), array("f"), array("f"), array("f")

    def __len__(self) -> int:
        return len(self._columns[0])

    def add(self, labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray, scores: np.ndarray) -> None:
        """Append the labelled rows of four float32[n] columns; a NaN label is no label."""
        labelled = ~np.isnan(labels)
        for column, values in zip(self._columns, (labels, predictions, weights, scores), strict=True):
            column.frombytes(np.asarray(values, np.float32)[labelled].view(np.uint8))

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Labels, predictions, weights, scores as float32[n] views; drop them before the next ``add``."""
        labels, predictions, weights, scores = (np.asarray(c, np.float32) for c in self._columns)
        return labels, predictions, weights, scores


def evaluate(
    labels: np.ndarray,
    predictions: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray | None = None,
    task: str = "binary",
    *,
    output: str = "probability",
    loss: float | None = None,
    best_constant_loss: float | None = None,
    metrics: Iterable[str] | None = None,
    graded: bool = False,
    refuse: Refuse = None,
) -> JsonObject:
    """Measure float32[n] ``predictions`` against ``labels``, as plain numbers in a fixed order.

    ``scores`` are the predictions before clip and link, which metrics of order go by; None: the predictions.
    ``task`` is ``"binary"`` (labels -1 and 1, or 0 and 1) or ``"regression"``; ``output`` says
    whether the predictions of a binary task are of the kind ``"probability"`` or ``"score"``
    (margins). A regression whose labels happen to be binary has the metrics of order too and, where they are named,
    those of two classes; where it is ``graded``, all labels above 0 are positives to metrics of order.
    ``loss`` is the average loss and ``best_constant_loss`` that of the best constant, which only the caller knows.
    ``metrics`` names the wanted ones, by default all that apply; ``examples`` and ``weight`` are always there. Rows
    whose weight is not positive count for nothing, as in training. A metric without a value (AUC of a single class,
    anything of no rows) is NaN. With probabilities the labels count as 0 and 1, otherwise as they are.

    Raises ``DataError`` for missing labels and labels that are not binary, ``Diverged`` for predictions that are not
    finite, ``UsageError`` for predictions that are not probabilities, and for metrics as ``omit``.
    """
    kind = _kind_of(task, output)
    columns = _counted(labels, predictions, weights, scores)
    unasked, asked = _levels_of(columns[0], graded) if kind == NUMBERS else (kind, kind)
    known = {"loss": loss, "best_constant_loss": best_constant_loss}
    untold = [name for name, value in known.items() if value is None]
    untold += ["best_constant_loss"] if kind == PROBABILITIES else []  # there is best_constant_log_loss
    chosen = choose_names(metrics, COMPUTED, (unasked, asked), untold, refuse)
    sample = _sample(columns, kind, **known)
    report: JsonObject = {"examples": len(sample.label), "weight": sample.total}
    report.update((name, COMPUTED[name](sample)) for name in chosen)
    return report


def sample(
    labels: np.ndarray,
    predictions: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray | None = None,
    task: str = "binary",
    *,
    output: str = "probability",
) -> Sample:
    """The rows that ``evaluate`` measures of the same columns; raises what it raises for them."""
    return _sample(_counted(labels, predictions, weights, scores), _kind_of(task, output))


def _kind_of(task: str, output: str) -> str:
    if task not in ("binary", "regression") or output not in ("probability", "score"):
        raise ValueError(f"no such task or output: {task}, {output}")
    return {"probability": PROBABILITIES, "score": SIDES}[output] if task == "binary" else NUMBERS


def _counted(
    labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray, scores: np.ndarray | None
) -> list[np.ndarray]:
    """The four columns of the rows of positive weight, float32[n]."""
    columns = labels, predictions, weights, predictions if scores is None else scores
    counted = np.asarray(weights, np.float32) > 0
    return [np.asarray(column, np.float32)[counted] for column in columns]


def _sample(columns: list[np.ndarray], kind: str, **losses: float | None) -> Sample:
    label, prediction, weight, score = columns
    _check(label, prediction, score, kind)
    threshold = 0.5 if kind == PROBABILITIES or (kind == NUMBERS and (label == 0).any()) else 0.0
    if kind == PROBABILITIES:
        label = (label > 0).astype(np.float32)
    known = (losses.get(name) for name in ("loss", "best_constant_loss"))
    return Sample(label, prediction, weight, score, threshold, *(math.nan if loss is None else loss for loss in known))


def are_binary(label: np.ndarray) -> bool:
    """Whether all labels are -1 and 1, or all 0 and 1."""
    return bool(((label == 1) | (label == 0)).all() or ((label == 1) | (label == -1)).all())


def _levels_of(label: np.ndarray, graded: bool) -> tuple[str, str]:
    """Tell how far up the ladder the metrics of a regression go: unasked, and where they are named."""
    several = bool((label != label[:1]).any())
    if are_binary(label):
        return (ORDER if several else NUMBERS), SIDES
    return NUMBERS, ORDER if graded or not several else NUMBERS


def _check(label: np.ndarray, prediction: np.ndarray, score: np.ndarray, kind: str) -> None:
    if np.isnan(label).any():
        raise DataError("unlabelled rows cannot be evaluated")
    if not (np.isfinite(prediction).all() and np.isfinite(score).all()):
        raise Diverged("predictions are not finite numbers, so there is nothing to evaluate")
    if kind != NUMBERS:
        _check_binary(label)
    outside = prediction[(prediction < 0) | (prediction > 1)]
    if kind == PROBABILITIES and len(outside):
        raise UsageError(f"prediction {outside[0]:g} is not a probability")


def _check_binary(label: np.ndarray) -> None:
    strange = label[(label != 1) & (label != 0) & (label != -1)]
    if len(strange):
        raise DataError(f"label {strange[0]:g} is not binary: labels must be -1 and 1, or 0 and 1")
    if (label == 0).any() and (label == -1).any():
        raise DataError("labels mix -1 with 0: they must be -1 and 1, or 0 and 1")
