"""Metrics of a probability for each of several labels, and of the numbers that stand for them."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from vwlite.evaluation.metric_table import MAX_UNASKED_CLASSES
from vwlite.evaluation.metrics import COMPUTED, Sample
from vwlite.learners.base import Learner

BY_BINS = ("ece", "calibration_bins")


class Distributions:
    """Collects of labelled rows label and importance and, where labels are numbers, the median and the mean of each.

    And the probabilities of all labels, where a metric that is ``asked`` for needs them.
    """

    def __init__(self, learner: Any, asked: Collection[str] | None) -> None:
        self.learner, self.asked = learner, asked
        few = learner.config.count <= MAX_UNASKED_CLASSES
        self.keeps_shares = few if asked is None else bool({*BY_BINS} & {*asked})
        self.shares: list[np.ndarray] = []
        self.columns: list[np.ndarray] = []

    def add(self, rows: np.ndarray, place: np.ndarray, weight: np.ndarray) -> None:
        """Rows int64[n] of the batch run last: the places int64[n] of their labels, and their importance."""
        columns = [place, weight]
        if self.learner.config.has_numbers:
            value = self.learner.label_numbers[place]
            columns += [value - self.learner.median_answers(rows), value - self.learner.mean_answers(rows)]
        self.columns.append(np.stack(columns).astype(np.float64))
        if self.keeps_shares:
            self.shares.append(self.learner.score[rows].copy())

    def report(self) -> dict[str, Any]:
        """The metrics by name; of the median the absolute error, which it has least, of the mean the squared one."""
        if not self.columns:
            return {}
        place, weight, *errors = np.concatenate(self.columns, axis=1)
        report: dict[str, Any] = {}
        if errors:
            report["mse"] = float(np.average(np.square(errors[1]), weights=weight))
            report["rmse"] = math.sqrt(report["mse"])
            report["mae"] = float(np.average(np.abs(errors[0]), weights=weight))
        if self.keeps_shares:
            samples = self.samples(place, weight)
            report["ece"] = float(np.mean([COMPUTED["ece"](sample) for sample in samples]))
            if self.asked and "calibration_bins" in self.asked:
                report["calibration_bins"] = self.bins(samples)
        return report

    def samples(self, place: np.ndarray, weight: np.ndarray) -> list[Sample]:
        """For each label, whether a row has it and the probability that it has."""
        shares = np.concatenate(self.shares)
        return [
            Sample((place == label).astype(np.float32), share, weight.astype(np.float32), share, math.nan, math.nan)
            for label, share in enumerate(shares.T)
        ]

    def bins(self, samples: list[Sample]) -> list[dict[str, Any]]:
        first = int(self.learner.get("first") != 0)
        name = self.learner.config.classes.display_name
        return [
            {"class": name(label + first), **row}
            for label, sample in enumerate(samples)
            for row in COMPUTED["calibration_bins"](sample)
        ]


def distributions_of(learner: Learner, asked: Collection[str] | None) -> Distributions | None:
    """Of a learner that has a probability for each label, in one model; None of others."""
    return Distributions(learner, asked) if learner.has_distributions else None
