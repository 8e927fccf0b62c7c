"""Metrics of models of several outputs: those of each, and their means."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.batch import INNER, Batch
from vwlite.evaluation.class_metrics import ALWAYS, choose
from vwlite.evaluation.metric_table import OUTPUTS, names_of
from vwlite.evaluation.metrics import COMPUTED, Outcomes, sample
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

OF_EACH = ("mse", "rmse", "mae", "r2")  # as of models of one number


class OutputOutcomes(Listener):
    """Collects labels, predictions and importance of labelled rows by output."""

    def __init__(self, learner: Any) -> None:
        self.learner, self.rows, self.weight = learner, 0, 0.0
        self.each = [Outcomes() for _ in learner.outputs]

    def __len__(self) -> int:
        """How many rows are collected."""
        return self.rows

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        counts = (batch.importance[begin:end] > 0) & (batch.flags[begin:end] & INNER == 0)
        rows = np.flatnonzero(~np.isnan(batch.label[begin:end]) & counts) + begin
        labels = np.full((len(batch), len(self.each)), np.nan, np.float32)
        labels[batch.lists.owner, batch.lists.indices] = batch.lists.values
        weight = batch.importance[rows]
        self.rows, self.weight = self.rows + len(rows), self.weight + float(weight.sum(dtype=np.float64))
        for place, outcomes in enumerate(self.each):
            found = self.learner.score[rows, place], weight, self.learner.raw[rows, place]
            outcomes.add(labels[rows, place], *found)

    def of_each(self) -> list[dict[str, Any]]:
        """A row of metrics for each output, NaN of one without labels."""
        losses, table = self.learner.average_losses(held=False).tolist(), []
        for name, outcomes, loss in zip(self.learner.outputs, self.each, losses, strict=True):
            of_it = sample(*outcomes.columns(), "regression")
            found = {metric: COMPUTED[metric](of_it) for metric in OF_EACH}
            table.append({"output": name, "weight": of_it.total, "loss": loss, **found})
        return table

    def report(self, names: list[str] | None) -> dict[str, Any]:
        """The metrics by name; ``names`` chooses some. Raises UsageError for one there is not."""
        table = self.of_each()
        means = {name: mean([row[name] for row in table]) for name in ("loss", *OF_EACH)}
        report = {"examples": self.rows, "weight": self.weight, **means, "outputs": table}
        return choose(report, (*ALWAYS, *names_of(OUTPUTS)), names)


def mean(values: list[float]) -> float:
    """Of those that are there, NaN where none is."""
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")
