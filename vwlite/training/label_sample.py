"""What labels a run has learned: the loss of their best constant or class, and whether examples come sorted by them."""

from __future__ import annotations

import math
from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.learners.base import Learner
from vwlite.learners.best_constant import fitted_constant
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

MOST = 1 << 15  # labels that are kept
MIXED = np.uint64(0x9E3779B97F4A7C15)  # an odd factor: the high bits of its multiples are in no order
SQUARES = ("squared", "classic")  # of which sums are kept, and no labels


class ClassCounts(Listener):
    """How much the examples of each class weigh, in the first pass and without those held out."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.weights: Counter[float] = Counter()
        self.whole = self.first_pass = True

    @classmethod
    def concerns(cls, learner: Learner) -> bool:
        """Whether labels and answers are one class for each example, and the loss is 1 of wrong answers."""
        config = learner.config
        numbers = learner.simple_labels or learner.outputs or learner.logs_decisions or learner.multiline
        return not (numbers or learner.shows_actions or config.label_words) and config.kind == "oaa"

    def begin_pass(self, number: int) -> None:
        self.first_pass = number == 1

    def restore(self, state: dict[str, Any]) -> None:
        self.whole = False  # what was learned before is not known

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.first_pass and self.whole:
            label, importance = batch.label[begin:end], batch.importance[begin:end]
            used = ~np.isnan(label)
            if results.holdout_mask is not None:
                used &= results.holdout_mask[begin:end] == 0
            values, places = np.unique(label[used], return_inverse=True)
            for value, weight in zip(values.tolist(), np.bincount(places, importance[used]).tolist(), strict=True):
                self.weights[value] += weight

    @property
    def majority(self) -> tuple[str, float] | None:
        """The class of most weight and the loss of always giving it, after the run; None where it is not known."""
        total = sum(self.weights.values())
        if not self.whole or not total > 0:
            return None
        label, weight = max(self.weights.items(), key=lambda pair: pair[1])
        return self.learner.config.classes.display_name(int(label)), 1 - weight / total


class LabelSample(Listener):
    """Labels of the first pass: sums for the squared loss, else all of the first MOST, then a half, a quarter..."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.sums = learner.config.loss.name in SQUARES
        self.weight = self.mean = self.squares = 0.0  # of distances from the mean
        self.seen = self.size = self.share = 0  # one label in 2^share is kept
        self.kept: list[tuple[np.ndarray, ...]] = []  # marks, labels and their importance
        self.whole = self.first_pass = True

    @classmethod
    def concerns(cls, learner: Learner) -> bool:
        """Whether the learner's average loss is that of a number for each example."""
        config = learner.config
        return learner.simple_labels and not (config.binary or config.loss.name == "perceptron")

    def begin_pass(self, number: int) -> None:
        self.first_pass = number == 1

    def restore(self, state: dict[str, Any]) -> None:
        self.whole = False  # what was learned before is not known

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if not (self.first_pass and self.whole):
            return
        counted = self.learner.counted(batch)
        label, importance = counted.label[begin:end], counted.importance[begin:end]
        used = ~np.isnan(label) & (importance > 0)
        if results.holdout_mask is not None:
            used &= results.holdout_mask[begin:end] == 0
        if self.sums:
            self.add(label[used].astype(float), importance[used].astype(float))
        else:
            self.sample(label, importance, used)

    def add(self, label: np.ndarray, importance: np.ndarray) -> None:
        weight = importance.sum()
        if weight > 0:
            mean = importance @ label / weight
            apart, share = mean - self.mean, weight / (self.weight + weight)
            self.squares += importance @ np.square(label - mean) + apart * apart * share * self.weight
            self.mean += apart * share
            self.weight += weight

    def sample(self, label: np.ndarray, importance: np.ndarray, used: np.ndarray) -> None:
        marks = np.arange(self.seen, self.seen + len(label), dtype=np.uint64) * MIXED
        self.seen += len(label)
        used &= self.chosen(marks)
        self.kept.append((marks[used], label[used], importance[used]))
        self.size += len(self.kept[-1][0])
        while self.size > MOST:
            self.share += 1
            columns = self.columns()
            self.kept = [tuple(column[self.chosen(columns[0])] for column in columns)]
            self.size = len(self.kept[0][0])

    def chosen(self, marks: np.ndarray) -> np.ndarray:
        return marks < np.uint64(1 << (64 - self.share)) if self.share else np.ones(len(marks), bool)

    def columns(self) -> list[np.ndarray]:
        return [np.concatenate(column) for column in zip(*self.kept, strict=True)]

    @cached_property
    def best(self) -> tuple[float, float] | None:
        """The best constant and its loss, after the run; None where they are not known."""
        if not self.whole:
            return None
        if self.sums:
            found = (self.mean, self.squares / self.weight) if self.weight else None
        else:
            _, labels, importance = self.columns() if self.size else (None, np.zeros(0), np.zeros(0))
            found = fitted_constant(self.learner.config.loss, labels, importance) if len(labels) else None
        return found if found and np.isfinite(found).all() else None


MIN_EXAMPLES = 100  # fewer examples give no warning
MIN_SHARE_OF_CHANGES = 0.1  # of the label, relative to a random order; fewer mean that the examples are sorted
MAX_LABELS = 1000  # different ones; more are values, which seldom repeat


class LabelOrder:
    """Counts how often the label changes from one example to the next, and how many examples have which label."""

    def __init__(self) -> None:
        self.changes = 0
        self.last: float | None = None
        self.counts: Counter[float] = Counter()

    def add(self, labels: np.ndarray) -> None:
        """``labels``: float32[n], NaN where an example has none."""
        known = labels[~np.isnan(labels)]
        if not len(known):
            return
        starts = np.flatnonzero(known[1:] != known[:-1]) + 1  # of runs of one label, but the first
        self.changes += len(starts) + (self.last not in (None, float(known[0])))
        self.last = float(known[-1])
        if len(self.counts) <= MAX_LABELS:
            edges = np.concatenate(([0], starts, [len(known)]))
            values, run = np.unique(known[edges[:-1]], return_inverse=True)
            sizes = np.bincount(run.ravel(), weights=np.diff(edges)).astype(np.int64)
            for value, size in zip(values[: MAX_LABELS + 1].tolist(), sizes.tolist(), strict=False):
                self.counts[value] += size

    def expected(self) -> float:
        """Changes in a random order."""
        total = sum(self.counts.values())
        return total - sum(count * count for count in self.counts.values()) / total if total else 0.0

    def share_of_changes(self) -> float:
        """Relative to a random order; 0 as long as there is but one label, infinite for labels that are too many."""
        if len(self.counts) > MAX_LABELS:
            return math.inf
        expected = self.expected()
        return self.changes / expected if expected else 0.0

    def sorted_by_label(self) -> str:
        """A sentence where they are, else empty."""
        few = len(self.counts) < 2 or sum(self.counts.values()) < MIN_EXAMPLES
        if few or self.share_of_changes() >= MIN_SHARE_OF_CHANGES:
            return ""
        times = "once" if self.changes == 1 else f"{self.changes} times"
        return f"the lines are sorted by label: it changes {times}, {self.expected():.0f} times in random order"

    def state(self) -> dict[str, Any]:
        """JSON data."""
        return {"changes": self.changes, "last": self.last, "counts": sorted(self.counts.items())}

    def restore(self, state: dict[str, Any]) -> None:
        self.changes, self.last = state["changes"], state["last"]
        self.counts = Counter({label: count for label, count in state["counts"]})
