"""Labels are checked before anything is learned from them (outside of ``vwlite vw``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NoReturn

import numpy as np

from vwlite._native.counters import MINUS_ONE, OTHER, ZERO, label_flags, label_range
from vwlite.data.batch import BLANK, Batch
from vwlite.errors import DataError
from vwlite.learners.losses import LossConfig


class Levels:
    """``values`` float32[n], ascending; ``numbers``: of the batch run last, the predictions before they were levels."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = np.array(values, np.float32)
        self.middles = (self.values[:-1].astype(float) + self.values[1:]) / 2
        self.numbers = np.zeros(0, np.float32)

    def have(self, labels: np.ndarray) -> np.ndarray:
        """bool[n]: which labels, float32[n], are levels or missing."""
        return np.isin(labels, self.values) | np.isnan(labels)

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """int64[n]: the levels nearest to numbers, the higher of two that are as near."""
        return np.searchsorted(self.middles, numbers, side="right")

    def answer(self, prediction: np.ndarray, begin: int, end: int) -> None:
        """Replace the predictions ``[begin, end)`` by levels, and keep them in ``numbers``; NaN stays."""
        if len(self.numbers) < len(prediction):
            self.numbers = np.zeros(len(prediction), np.float32)
        numbers = self.numbers[begin:end] = prediction[begin:end]
        prediction[begin:end] = np.where(np.isnan(numbers), numbers, self.values[self.places(numbers)])


MAX_SHOWN = 10  # levels that a message lists
BOTH = ZERO | MINUS_ONE


class LabelCheck:
    """Accepts what the loss is made for; for two-class losses 0/1 as well as -1/1, but never a mixture.

    ``negative`` is the label of the lower class, None as long as only upper ones were met. ``malformed`` has, by row of
    the batch checked last, what is wrong with labels that are no ``levels``: their lines are malformed.
    """

    hints: ClassVar[dict[int, str]] = {}  # what may be meant where a label cannot be read

    def __init__(self, loss: LossConfig, negative: float | None = None, levels: Sequence[float] = ()) -> None:
        self.loss, self.levels = loss, Levels(levels) if levels else None
        self.malformed: dict[int, str] = {}
        self.two_classes = loss.loss.two_classes and not loss.soft
        self.negative = negative

    def check(self, batch: Batch) -> np.ndarray:
        """The labels the learner gets, float32[n]: 0 becomes -1 for two-class losses.

        Raises DataError at the first label the loss is not made for.
        """
        labels = batch.label
        if self.levels:
            labels = self.of_levels(self.levels, batch)
        if not self.two_classes:
            if not all(map(self.loss.accepts, label_range(labels))):  # labels in between are accepted too
                self.refuse(batch, int(np.argmin(self.loss.accepts(labels))))
            return labels
        kinds = label_flags(labels)
        lower = kinds & BOTH
        if self.negative is None and lower:
            first = labels[int(np.argmax((labels == 0) | (labels == -1)))] if lower == BOTH else -(lower == MINUS_ONE)
            self.negative = float(first)
        if kinds & OTHER or lower not in (0, ZERO if self.negative == 0 else MINUS_ONE):
            fitting = np.isnan(labels) | (labels == 1) | (labels == self.negative)
            self.refuse(batch, int(np.argmin(fitting)))
        return np.where(labels == 0, np.float32(-1), labels) if lower == ZERO else labels

    def of_levels(self, levels: Levels, batch: Batch) -> np.ndarray:
        """The labels that are levels; NaN in place of others, which ``malformed`` names."""
        known = levels.have(batch.label) | (batch.flags & BLANK != 0)
        more = " ..." if len(levels.values) > MAX_SHOWN else ""
        expected = ", ".join(f"{value:g}" for value in levels.values[:MAX_SHOWN]) + more
        rows = np.flatnonzero(~known).tolist()
        self.malformed = {row: f"label {batch.label[row]:g} is no level, expected {expected}" for row in rows}
        return np.where(known, batch.label, np.float32(np.nan)) if self.malformed else batch.label

    def refuse(self, batch: Batch, row: int) -> NoReturn:
        label = float(batch.label[row])
        place = f"{batch.location(row)}: "
        if self.two_classes and label in (0.0, -1.0):
            other = "-1/1" if label == 0 else "0/1"
            raise DataError(f"{place}label {label:g} after {other} labels: use either 0/1 or -1/1, not both")
        rule = "0/1 or -1/1" if self.two_classes else self.loss.label_rule
        limits = "; 'vwlite train' takes others between limits, such as --logistic_min -1 --logistic_max 1"
        way_out = limits if self.two_classes and self.loss.name == "logistic" else ""
        raise DataError(
            f"{place}label {label:g} does not fit --loss_function {self.loss.name}: labels must be {rule}{way_out}"
        )
