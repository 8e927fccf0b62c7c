"""Metrics of models of classes, of costs and of sets of labels."""

from __future__ import annotations

from typing import Any

from vwlite.arrays import np
from vwlite.batch import INNER, Batch
from vwlite.errors import UsageError
from vwlite.learners.base import Learner
from vwlite.results import Results

NAMES = {
    "oaa": ("examples", "weight", "accuracy", "macro_f1", "log_loss"),
    "csoaa": ("examples", "weight", "loss"),
    "ldf": ("examples", "weight", "loss", "log_loss"),
    "multilabel_oaa": ("examples", "weight", "loss", "hamming_loss", "accuracy"),
}
COSTS = ("csoaa", "ldf")  # the loss is a cost, whatever the importance


class ClassOutcomes:
    """Collects labelled rows: label and answer (class numbers), loss, importance."""

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []

    def observe(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        counts = (batch.importance[begin:end] > 0) & (batch.flags[begin:end] & INNER == 0)
        rows = np.flatnonzero(~np.isnan(batch.label[begin:end]) & counts) + begin
        columns = (batch.label, results.prediction, results.loss, batch.importance)
        self.parts.append(np.stack([column[rows] for column in columns]).astype(np.float64))

    def report(self, learner: Learner, names: list[str] | None) -> dict[str, Any]:
        """The metrics by name; ``names`` chooses some. Raises UsageError for one there is not."""
        kind, count = learner.config.kind, learner.config.count
        label, answer, loss, weight = np.concatenate(self.parts, axis=1) if self.parts else np.zeros((4, 0))
        total = float(weight.sum())
        report: dict[str, Any] = {"examples": len(label), "weight": total}
        if total:
            report["loss"] = float(loss.sum() if kind in COSTS else loss.sum() / total)
            report["accuracy"] = float(weight[loss == 0].sum() / total)
            report["hamming_loss"] = report["loss"] / count
            report["macro_f1"] = macro_f1(label, answer, weight)
        if kind in COSTS and len(label):
            report["loss"] /= len(label)
        for _, log_loss in learner.summary_lines(held=False):
            report["log_loss"] = log_loss
        known = [name for name in NAMES[kind] if name in report]
        for name in names or ():
            if name not in known:
                raise UsageError(f"--metric {name}: a model of this kind has {', '.join(known)}")
        return {name: report[name] for name in names or known}


def macro_f1(label: np.ndarray, answer: np.ndarray, weight: np.ndarray) -> float:
    """The mean of F1 over the classes that labels or answers name; of three float64[n]."""
    numbers, place = np.unique(np.concatenate([label, answer]), return_inverse=True)
    true, said = place[: len(label)], place[len(label) :]
    size = len(numbers)
    named, meant = np.bincount(said, weight, size), np.bincount(true, weight, size)
    hits = np.bincount(true[true == said], weight[true == said], size)
    return float((2 * hits / (named + meant)).mean())
