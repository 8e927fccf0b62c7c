"""How often which class was answered for which label."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from vwlite.errors import UsageError
from vwlite.evaluation.metric_table import MAX_UNASKED_CLASSES

MAX_MATRIX_CLASSES = 1000
TABLES = ("per_class", "confusion_matrix")


class Contingency:
    """Weights by label and by answer, from numbers[n] of labels and answers and float64[n] weights.

    ``display_name`` gives a class's name. The classes are those that are a label or an answer. As in scikit-learn, a
    class without answers, or without labels, counts as 0 in a mean over the classes.
    """

    def __init__(
        self, label: np.ndarray, answer: np.ndarray, weight: np.ndarray, display_name: Callable[[int], str] = str
    ) -> None:
        numbers, index = np.unique(np.concatenate([label, answer]), return_inverse=True)
        self.names = list(map(display_name, numbers.astype(np.int64).tolist()))
        self.weight, self.true, self.said = weight, index[: len(label)], index[len(label) :]
        right, size = self.true == self.said, len(numbers)
        self.meant, self.named = np.bincount(self.true, weight, size), np.bincount(self.said, weight, size)
        self.hits = np.bincount(self.true[right], weight[right], size)

    def report(self, names: Iterable[str] | None, count: int) -> dict[str, Any]:
        """The means over classes, and the tables among ``names``; None: both tables if there are few classes."""
        report: dict[str, Any] = means(self.hits, self.named, self.meant)
        wanted = names if names is not None else TABLES if count <= MAX_UNASKED_CLASSES else ()
        tables = zip(TABLES, (self.per_class, self.matrix), strict=True)
        return {**report, **{name: table() for name, table in tables if name in wanted}}

    def per_class(self) -> list[dict[str, Any]]:
        columns = {
            "precision": shares(self.hits, self.named),
            "recall": shares(self.hits, self.meant),
            "f1": f1(self.hits, self.named, self.meant),
            "weight": self.meant,
        }
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [
            {"class": name, **dict(zip(columns, row, strict=True))} for name, row in zip(self.names, rows, strict=True)
        ]

    def matrix(self) -> dict[str, Any]:
        """Raises UsageError where there are too many classes for one."""
        size = len(self.names)
        if size > MAX_MATRIX_CLASSES:
            limit = f"takes {MAX_MATRIX_CLASSES} classes at most, not {size}"
            raise UsageError(f"--metric confusion_matrix {limit}: see per_class")
        weight = np.bincount(self.true * size + self.said, self.weight, size * size).reshape(size, size)
        return {"classes": self.names, "weight": weight.tolist()}


def shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """float64[n], NaN of nothing."""
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def f1(hits: np.ndarray, named: np.ndarray, meant: np.ndarray) -> np.ndarray:
    return shares(2 * hits, named + meant)


def means(hits: np.ndarray, named: np.ndarray, meant: np.ndarray) -> dict[str, float]:
    """Over the classes that labels or answers name: float64[classes], the weight answered right, answered, labelled."""
    there = named + meant > 0
    hits, named, meant = hits[there], named[there], meant[there]
    columns = {"macro_precision": shares(hits, named), "macro_recall": shares(hits, meant)}
    columns["macro_f1"] = f1(hits, named, meant)
    return {name: float(np.nan_to_num(values).mean()) if len(values) else np.nan for name, values in columns.items()}
