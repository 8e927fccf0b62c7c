"""Metrics of predictions that are levels, beside those of the numbers before they were levels."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.evaluation.confusion_table import Contingency
from vwlite.evaluation.metric_table import LEVELS, MAX_UNASKED_CLASSES, NUMBERS, names_of
from vwlite.learners.levels import Levels
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

OWN = tuple(name for name in names_of(LEVELS) if name not in names_of(NUMBERS))


class LevelOutcomes(Listener):
    """Collects of labelled rows label, level, number and importance, float64[4, n]."""

    def __init__(self, levels: Levels) -> None:
        self.levels, self.parts = levels, [np.zeros((4, 0))]

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        columns = (batch.label, results.prediction, self.levels.numbers, batch.importance)
        part = np.stack([column[begin:end] for column in columns]).astype(float)
        self.parts.append(part[:, ~np.isnan(part[0]) & (part[3] > 0)])

    def report(self, names: Collection[str] | None) -> dict[str, Any]:
        """The metrics by name; ``names`` chooses some of ``OWN``."""
        label, level, number, weight = np.concatenate(self.parts, axis=1)
        if not len(label):
            return {name: math.nan for name in names or OWN if name != "confusion_matrix"}
        report: dict[str, Any] = {
            "accuracy": float(np.average(label == level, weights=weight)),
            "mae_raw": float(np.average(np.abs(label - number), weights=weight)),
            "rmse_raw": math.sqrt(np.average(np.square(label - number), weights=weight)),
        }
        values = self.levels.values
        if len(values) <= MAX_UNASKED_CLASSES if names is None else "confusion_matrix" in names:
            places = map(self.levels.places, (label, level))
            report["confusion_matrix"] = Contingency(*places, weight, lambda place: f"{values[place]:g}").matrix()
        return {name: report[name] for name in OWN if name in report and (names is None or name in names)}
