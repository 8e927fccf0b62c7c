"""The loss of the best constant, or of always giving one class, of the labels that a run has learned."""

from __future__ import annotations

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
