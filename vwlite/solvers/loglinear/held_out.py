"""Measures weights on held-out examples, and decides which of two passes is better.

The log loss of a sequence grows with every wrong label that the model is too confident of, and may begin to rise while
the share of right labels still grows. So passes are compared by the F1 or accuracy of named labels.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from vwlite.errors import UsageError
from vwlite.evaluation.phrases import evaluate, rule_for
from vwlite.solvers.loglinear.problems import Chains, Part
from vwlite.solvers.loglinear.structured import Structured

MEASURES = ("f1", "accuracy", "log_loss")
TITLES = {"f1": "phrase F1", "accuracy": "accuracy", "log_loss": "log loss"}


class HeldOut:
    """Measures weights on ``part``. Entries of the history have its ``figures``."""

    def __init__(self, part: Part, measure: str | None = None, scheme: str | None = None) -> None:
        """``measure`` None: F1 where labels mark phrases, accuracy of other names, else log loss. ``scheme``: of these.

        Raises UsageError for a measure that does not go with the labels.
        """
        self.part = part
        problem = part.problem
        self.chains = problem.only(part.rows) if isinstance(problem, Chains) else None
        along = self.chains is not None and self.chains.pairs.transitions
        self.rule = rule_for(self.chains.pairs.names, scheme) if along else None
        fitting = MEASURES if self.rule else MEASURES[1:] if self.chains else MEASURES[2:]
        if isinstance(problem, Structured):
            fitting = fitting[:-1]
        self.measure = measure or fitting[0]
        if self.measure not in fitting:
            raise UsageError(f"--holdout-metric {measure} does not go with these labels: it is {' or '.join(fitting)}")
        if scheme not in (None, "none") and self.measure != "f1":
            raise UsageError(f"--scheme {scheme} counts phrases, and passes are compared by {TITLES[self.measure]}")
        self.title = TITLES[self.measure]
        if self.measure == "f1":
            found = evaluate(self.labels(self.chains.label, self.chains.label), self.rule)
            self.title += f" ({found['scheme']}, {found['counting']})"
        self.columns = ["held-out", *([] if self.measure == "log_loss" else [self.measure])]

    def figures(self, weights: np.ndarray) -> dict[str, float]:
        """``held_out``, the mean loss, and the measure. Raises MemoryError, Diverged."""
        log_loss = {"held_out": -self.part.value(weights) / self.part.total_weight}
        if self.measure == "log_loss":
            return log_loss
        true, (best, _) = self.chains.label, self.chains.decode(weights)
        if self.measure == "f1":
            return log_loss | {"f1": evaluate(self.labels(true, best), self.rule)["f1"]}
        weight = np.repeat(self.chains.weight, np.diff(self.chains.sequence))
        return log_loss | {"accuracy": float(weight[true == best].sum() / weight.sum())}

    def labels(self, true: np.ndarray, best: np.ndarray) -> Iterable[tuple[str, str] | None]:
        """Pairs of names, None after each sequence."""
        names, ends = self.chains.pairs.names, set(self.chains.sequence.tolist())
        for place, (one, other) in enumerate(zip(true.tolist(), best.tolist(), strict=True), 1):
            yield names[one], names[other]
            if place in ends:
                yield None

    def cells(self, entry: dict[str, Any]) -> list[str]:
        """Of the table's columns."""
        shown = {"f1": "{:10.2f}", "accuracy": "{:10.4f}"}
        more = [] if self.measure == "log_loss" else [shown[self.measure].format(entry[self.measure])]
        return [f"{entry['held_out']:10.5f}", *more]

    def better(self, one: dict[str, Any], other: dict[str, Any]) -> bool:
        """Of equals that with the lesser log loss."""
        return self.rank(one) < self.rank(other)

    def rank(self, entry: dict[str, Any]) -> tuple[float, float]:
        return -entry.get(self.measure, 0.0), entry["held_out"]
