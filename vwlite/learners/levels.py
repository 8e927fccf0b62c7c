"""Predictions of labels that are levels, such as ratings of 1 to 5: the nearest one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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
