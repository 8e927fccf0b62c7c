"""Whether any feature of the data changes a prediction of a model."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import BLANK, Batch
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener


class Unmoved(Listener):
    """Looks at predictions before clip and link until one differs from the first."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget what was seen."""
        self.first: float | None = None
        self.all_same = True
        self.rows = 0

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.all_same:
            self.look(batch, results.raw, begin, end)

    def look(self, batch: Batch, raw: np.ndarray, begin: int, end: int) -> None:
        shown = raw[begin:end][batch.flags[begin:end] & BLANK == 0]
        if not len(shown):
            return
        if self.first is None:
            self.first = float(shown[0])
        self.all_same = bool((shown == self.first).all())
        self.rows += len(shown)

    def warning(self, learner: Learner, plan: Plan, text: TextFormat) -> str:
        """Empty unless all predictions were that of a line without features."""
        if not (self.all_same and self.rows) or self.first != without_features(learner, plan, text):
            return ""
        several = f"all {self.rows} predictions are" if self.rows > 1 else "the prediction is"
        return (
            f"no feature of the data changed a prediction: {several} that of a line without features; was the model "
            "trained on other data? (namespaces and names must be the same)"
        )


def without_features(learner: Learner, plan: Plan, text: TextFormat) -> float:
    """What a line without features has, before clip and link."""
    batch, results = parse_text(b"|", text), Results()
    results.reserve(1)
    learner.run(batch, plan, results, 0, 1)
    return float(results.raw[0])
