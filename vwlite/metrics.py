"""Metrics of predictions against labels, for ``vwlite evaluate`` and ``--json`` of training.

``METRICS`` is the one table the command line, its help and the tests read. All figures are
weighted by importance and computed once, at the end, in float64 from all rows: nothing depends on
how the rows were cut into batches, their order matters only to the last rounding, and weight 2
means the same as the row given twice. The price is memory: 12 bytes per labelled row while rows
are collected (``Outcomes``) and about 85 more while they are evaluated.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from vwlite.arrays import np
from vwlite.errors import DataError, Diverged, UsageError

BINS = 10
LOG_LOSS_EPS = float(np.finfo(np.float32).eps)  # scikit-learn >= 1.3: eps of the predictions' dtype


class Ties(NamedTuple):
    """Rows grouped by equal prediction, in ascending order of prediction; all float64[groups]."""

    prediction: np.ndarray
    positive: np.ndarray  # weight of the group's positive rows
    negative: np.ndarray  # weight of its other rows


@dataclass
class Sample:
    """Labelled rows to be measured; every weight is positive."""

    label: np.ndarray  # float32[n], 0 and 1 when the predictions are probabilities
    prediction: np.ndarray  # float32[n]
    weight: np.ndarray  # float32[n]
    threshold: float  # predictions above it say "positive"; NaN in regression
    loss: float  # the caller's average loss, NaN when not given

    @cached_property
    def total(self) -> float:
        return float(np.sum(self.weight, dtype=np.float64))

    @cached_property
    def positive(self) -> np.ndarray:
        return self.label > 0

    @cached_property
    def error(self) -> np.ndarray:
        return self.prediction.astype(np.float64) - self.label

    @cached_property
    def ties(self) -> Ties:
        order = np.argsort(self.prediction, kind="stable")
        prediction = self.prediction[order].astype(np.float64)
        first = np.flatnonzero(np.diff(prediction, prepend=np.nan) != 0)  # NaN != 0: row 0 too
        positive, weight = self.positive[order], self.weight[order].astype(np.float64)
        return Ties(
            prediction[first],
            np.add.reduceat(np.where(positive, weight, 0.0), first),
            np.add.reduceat(np.where(positive, 0.0, weight), first),
        )

    def mean(self, values: np.ndarray) -> float:
        """Weighted mean, NaN of no rows. NumPy's pairwise sum keeps the error near one rounding."""
        return _ratio(np.sum(values * self.weight, dtype=np.float64), self.total)


@dataclass(frozen=True)
class Metric:
    """One row of the table; ``needs`` says what it can be computed from.

    ``"any"``: labels and predictions of any kind. ``"score"``: binary labels and anything that
    orders the rows, margins or probabilities. ``"probability"``: binary labels and predictions
    in [0, 1].
    """

    name: str
    needs: str
    description: str
    compute: Callable[[Sample], Any]


METRICS: dict[str, Metric] = {}


def metric(needs: str, description: str) -> Callable:
    """Enter the decorated function into ``METRICS`` under its own name."""

    def register(compute: Callable[[Sample], Any]) -> Callable[[Sample], Any]:
        name = compute.__name__
        METRICS[name] = Metric(name, needs, description, compute)
        return compute

    return register


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator) / float(denominator) if denominator else math.nan


@metric("any", "average loss of the model's own loss function")
def loss(sample: Sample) -> float:
    return sample.loss


@metric("score", "share of rows on the right side of 0.5 (probabilities) or 0 (margins)")
def accuracy(sample: Sample) -> float:
    return sample.mean((sample.prediction > sample.threshold) == sample.positive)


@metric("score", "area under the ROC curve, exact; a tie counts half")
def auc(sample: Sample) -> float:
    """Mann-Whitney statistic: share of (positive, negative) pairs in order, in O(n log n)."""
    _, positive, negative = sample.ties
    below = np.cumsum(negative) - negative / 2
    return _ratio(np.sum(positive * below), np.sum(positive) * np.sum(negative))


@metric("probability", "negative log-likelihood, probabilities clipped to [2^-23, 1 - 2^-23]")
def log_loss(sample: Sample) -> float:
    """As scikit-learn computes it for float32 predictions: clipped by their machine epsilon."""
    chance = np.clip(sample.prediction.astype(np.float64), LOG_LOSS_EPS, 1 - LOG_LOSS_EPS)
    return sample.mean(-np.log(np.where(sample.positive, chance, 1 - chance)))


@metric("score", "log loss of always predicting the base rate")
def best_constant_log_loss(sample: Sample) -> float:
    rate = sample.mean(sample.positive)
    return float(sum(-p * math.log(p) if p > 0 else p for p in (rate, 1 - rate)))


@metric("any", "mean squared error (of probabilities: the Brier score)")
def mse(sample: Sample) -> float:
    return sample.mean(np.square(sample.error))


@metric("any", "root of the mean squared error")
def rmse(sample: Sample) -> float:
    return math.sqrt(mse(sample))


@metric("any", "mean absolute error")
def mae(sample: Sample) -> float:
    return sample.mean(np.abs(sample.error))


@metric("any", "share of the labels' variance explained, 1 - mse / variance")
def r2(sample: Sample) -> float:
    if len(sample.label) and sample.label.min() == sample.label.max():
        return math.nan  # rounding of the mean would stand in for the variance
    spread = np.square(sample.label.astype(np.float64) - mean_label(sample))
    return 1 - _ratio(mse(sample), sample.mean(spread))


@metric("any", "mean label (the base rate when labels are 0 and 1)")
def mean_label(sample: Sample) -> float:
    return sample.mean(sample.label.astype(np.float64))


@metric("any", "mean prediction")
def mean_prediction(sample: Sample) -> float:
    return sample.mean(sample.prediction.astype(np.float64))


@metric("probability", "mean prediction / base rate; 1 is calibrated, above 1 predicts too much")
def calibration(sample: Sample) -> float:
    return _ratio(mean_prediction(sample), mean_label(sample))


@metric("probability", f"mean prediction and observed rate in {BINS} bins of equal weight")
def calibration_bins(sample: Sample) -> list[dict[str, float]]:
    """From low to high predictions. Tied rows, or one heavy row, across a bin's edge are shared out
    by weight, so that the table does not depend on the order of the rows."""
    prediction, positive, negative = sample.ties
    weight = positive + negative
    if not len(weight):
        return []
    reached = np.concatenate(([0.0], np.cumsum(weight)))
    edges = np.linspace(0.0, reached[-1], BINS + 1)

    def per_bin(mass: np.ndarray) -> np.ndarray:
        return np.diff(np.interp(edges, reached, np.concatenate(([0.0], np.cumsum(mass)))))

    columns = (per_bin(prediction * weight), per_bin(positive), np.diff(edges))
    return [
        {"mean_prediction": p / w, "observed_rate": y / w, "weight": w}
        for p, y, w in zip(*(column.tolist() for column in columns), strict=True)
    ]


class Outcomes:
    """Collects labels, predictions and weights batch by batch, 12 bytes per row."""

    def __init__(self) -> None:
        self._columns = array("f"), array("f"), array("f")

    def __len__(self) -> int:
        return len(self._columns[0])

    def add(self, labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray) -> None:
        """Append the labelled rows of three float32[n] columns; a NaN label is no label."""
        labelled = ~np.isnan(labels)
        for column, values in zip(self._columns, (labels, predictions, weights), strict=True):
            column.frombytes(np.asarray(values, np.float32)[labelled].view(np.uint8))

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Labels, predictions, weights as float32[n] views; drop them before the next ``add``."""
        labels, predictions, weights = (np.asarray(c, np.float32) for c in self._columns)
        return labels, predictions, weights


def evaluate(
    labels: np.ndarray,
    predictions: np.ndarray,
    weights: np.ndarray,
    task: str = "binary",
    *,
    output: str = "probability",
    loss: float | None = None,
    metrics: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Measure float32[n] ``predictions`` against ``labels``, as plain numbers in a fixed order.

    ``task`` is ``"binary"`` (labels -1 and 1, or 0 and 1) or ``"regression"``; ``output`` says
    whether the predictions of a binary task are of the kind ``"probability"`` or ``"score"``
    (margins). ``loss`` is the average loss, which only the caller knows. ``metrics`` names the
    wanted ones, by default all that apply; ``examples`` and ``weight`` are always there. Rows
    whose weight is not positive count for nothing, as in training. A metric without a value (AUC
    of a single class, anything of no rows) is NaN.

    With probabilities the labels count as 0 and 1 in every metric, otherwise as they are.

    Raises ``DataError`` for missing labels and labels that are not binary, ``Diverged`` for
    predictions that are not finite, ``UsageError`` for predictions that are not probabilities
    and for metrics unknown or inapplicable.
    """
    if task not in ("binary", "regression") or output not in ("probability", "score"):
        raise ValueError(f"no such task or output: {task}, {output}")
    kind = output if task == "binary" else "any"
    chosen = _choose(metrics, kind, loss)
    columns = [np.asarray(column, np.float32) for column in (labels, predictions, weights)]
    counted = columns[2] > 0
    sample = _sample([column[counted] for column in columns], kind, loss)
    report: dict[str, Any] = {"examples": int(counted.sum()), "weight": sample.total}
    report.update((m.name, m.compute(sample)) for m in chosen)
    return report


def _choose(names: Iterable[str] | None, kind: str, loss: float | None) -> list[Metric]:
    ladder = ("any", "score", "probability")
    offered = ladder[: ladder.index(kind) + 1]
    if names is None:
        return [
            m
            for m in METRICS.values()
            if m.needs in offered and (m is not METRICS["loss"] or loss is not None)
        ]
    chosen = []
    for name in names:
        if name not in METRICS:
            raise UsageError(f"unknown metric {name!r}; known: {', '.join(METRICS)}, map, ndcg, ndcg@K")
        if METRICS[name].needs not in offered:
            wanted = {"score": "binary labels", "probability": "probabilities of binary labels"}
            raise UsageError(f"metric {name!r} needs {wanted[METRICS[name].needs]}")
        chosen.append(METRICS[name])
    return chosen


def _sample(columns: list[np.ndarray], kind: str, loss: float | None) -> Sample:
    label, prediction, weight = columns
    if np.isnan(label).any():
        raise DataError("unlabelled rows cannot be evaluated")
    if not np.isfinite(prediction).all():
        raise Diverged("predictions are not finite numbers, so there is nothing to evaluate")
    if kind != "any":
        _check_binary(label)
    if kind == "probability":
        outside = prediction[(prediction < 0) | (prediction > 1)]
        if len(outside):
            raise UsageError(f"prediction {outside[0]:g} is not a probability")
        label = (label > 0).astype(np.float32)
    threshold = {"probability": 0.5, "score": 0.0, "any": math.nan}[kind]
    return Sample(label, prediction, weight, threshold, math.nan if loss is None else float(loss))


def _check_binary(label: np.ndarray) -> None:
    strange = label[(label != 1) & (label != 0) & (label != -1)]
    if len(strange):
        raise DataError(f"label {strange[0]:g} is not binary: labels must be -1 and 1, or 0 and 1")
    if (label == 0).any() and (label == -1).any():
        raise DataError("labels mix -1 with 0: they must be -1 and 1, or 0 and 1")


def auc_of_grades(labels: np.ndarray, predictions: np.ndarray, weights: np.ndarray) -> float:
    """The AUC where labels above 0, whatever they are, are the positives; columns as for ``evaluate``."""
    counted = weights > 0
    return auc(Sample(labels[counted], predictions[counted], weights[counted], math.nan, math.nan))


def as_table(report: dict[str, Any]) -> str:
    """``report`` for the terminal: ``name  value`` lines, then tables with their headings.

    A value that does not exist prints as ``n/a``. No newline at the end.
    """
    single = {name: value for name, value in report.items() if not isinstance(value, list)}
    lines = _align([(name, _cell(value)) for name, value in single.items()])
    for name, rows in report.items():
        if isinstance(rows, list) and rows:
            body = [tuple(rows[0]), *(tuple(_cell(v) for v in row.values()) for row in rows)]
            lines += ["", name, *_align(body)]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        digits = 10 if abs(value) >= 1e5 else 6
        return f"{value:.{digits}g}" if math.isfinite(value) else "n/a"
    return str(value)


def _align(rows: list[tuple[str, ...]]) -> list[str]:
    """First column left in a two-column list, everything else right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first = str.ljust if len(widths) == 2 else str.rjust
    return [
        "  ".join((first if not i else str.rjust)(text, widths[i]) for i, text in enumerate(row))
        for row in rows
    ]


def as_json(report: dict[str, Any]) -> str:
    """``report`` as JSON in its own key order; numbers that are not finite become ``null``."""
    return json.dumps(finite(report), indent=2, allow_nan=False)


def finite(value: Any) -> Any:
    """``value`` with plain numbers only and ``None`` for those not finite, recursively."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
