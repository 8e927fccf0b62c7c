"""Labels of combined regression and ranking: classes, grades or probabilities, by the loss."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import DataError
from vwlite.learners.losses import LossConfig


class GradedLabels:
    """Takes any number, but for logistic -1/1, or 0 to 1, or what lies between limits that were given. Hinge, modified
    Huber: labels above 0 are the upper class, pairs go by order.
    """

    hints: ClassVar[dict[int, str]] = {}

    def __init__(self, loss: LossConfig) -> None:
        self.loss = loss
        self.limited = loss.soft
        self.low, self.zero, self.between = False, False, False
        self.negative: float | None = None

    def check(self, batch: Batch) -> np.ndarray:
        """The labels as they are, float32[n]. Raises DataError at the first that does not fit."""
        labels = batch.label
        if self.loss.name != "logistic":
            self.low, self.zero = self.low or bool((labels < 0).any()), self.zero or bool((labels == 0).any())
            return labels
        if self.limited:
            wrong = ~self.loss.accepts(labels)
        else:
            self.low = self.low or bool((labels == -1).any())
            self.zero = self.zero or bool((labels == 0).any())
            self.between = self.between or bool(((labels > 0) & (labels < 1)).any())
            wrong = (labels < 0) & (labels != -1) | (labels > 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            rule = self.loss.label_rule if self.limited else "-1 and 1, or from 0 to 1"
            raise DataError(
                f"{batch.location(row)}: label {labels[row]:g} does not fit --loss_function logistic: "
                f"labels must be {rule} (--logistic_min and --logistic_max give other limits)"
            )
        return labels

    def settle(self) -> None:
        """After the last label. Raises DataError when labels -1 are mixed with labels from 0."""
        if self.loss.name != "logistic" or self.limited:
            if self.loss.name in ("hinge", "modified_huber"):
                self.negative = -1.0 if self.low else 0.0 if self.zero else None
            return
        if self.low and (self.zero or self.between):
            raise DataError("labels mix -1 with labels from 0 to 1: use either -1 and 1, or 0 to 1")
        if self.between:
            self.loss = replace(self.loss, logistic_min=0.0, logistic_max=1.0)
        else:
            self.negative = -1.0 if self.low else 0.0 if self.zero else None

    @property
    def ends(self) -> tuple[float, float]:
        """The labels that mean probability 0 and 1."""
        if self.loss.name == "logistic" and self.negative is not None:
            return self.negative, 1.0
        return self.loss.logistic_min, self.loss.logistic_max
