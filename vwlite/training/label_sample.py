"""What labels a run has learned: the loss of their best constant or class, whether they are two classes, and whether
examples come sorted by them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.learners.abilities import LoggedDecisions
from vwlite.learners.base import Learner, counted_rows, has_simple_labels, output_names
from vwlite.learners.best_constant import average_loss, fitted_constant
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results
from vwlite.training.config import RunConfig
from vwlite.training.counters import Counters
from vwlite.training.listener import Display, Listener

MOST = 1 << 15  # labels that are kept
MIXED = np.uint64(0x9E3779B97F4A7C15)  # an odd factor: the high bits of its multiples are in no order
MOST_OUTPUTS = 256  # whose labels are looked at
SQUARES = ("squared", "classic")  # of which sums are kept, and no labels


class ClassCounts(Listener):
    """The weight of the examples of each class, in the first pass and without those held out."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.weights: Counter[float] = Counter()
        self.whole = self.first_pass = True

    @classmethod
    def concerns(cls, learner: Learner) -> bool:
        """Whether labels and answers are one class for each example, and the loss is 1 of wrong answers."""
        config = learner.config
        other = output_names(learner) or isinstance(learner, LoggedDecisions) or config.multiline
        return not (has_simple_labels(learner) or other or config.label_words) and config.kind == "oaa"

    def begin_pass(self, number: int) -> None:
        self.first_pass = number == 1

    def restore(self, state: JsonObject) -> None:
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


class Labels:
    """Numbers: sums for the squared loss, else all of the first MOST, then a half, a quarter..."""

    def __init__(self, loss: LossConfig) -> None:
        self.loss, self.sums = loss, loss.name in SQUARES
        self.weight = self.mean = self.squares = 0.0  # of distances from the mean
        self.seen = self.size = self.share = 0  # one label in 2^share is kept
        self.kept: list[tuple[np.ndarray, ...]] = []  # marks, labels and their importance

    def add(self, label: np.ndarray, importance: np.ndarray, used: np.ndarray) -> None:
        """Add the labels, float32[n], where ``used``, bool[n]."""
        weights = importance[used].astype(float)
        weight = weights.sum()
        if self.sums and weight > 0:
            labels = label[used].astype(float)
            mean = weights @ labels / weight
            apart, share = mean - self.mean, weight / (self.weight + weight)
            self.squares += weights @ np.square(labels - mean) + apart * apart * share * self.weight
            self.mean += apart * share
        self.weight += weight
        if not self.sums:
            self.sample(label, importance, used)

    def sample(self, label: np.ndarray, importance: np.ndarray, used: np.ndarray) -> None:
        marks = np.arange(self.seen, self.seen + len(label), dtype=np.uint64) * MIXED
        self.seen += len(label)
        used = used & self.chosen(marks)
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
        """The best constant and its loss; None where there is none that is finite."""
        if self.sums:
            best = (self.mean, self.squares / self.weight) if self.weight else None
        else:
            best = fitted_constant(self.loss, *self.columns()[1:]) if self.size else None
        return best if best and np.isfinite(best).all() else None

    def loss_of(self, constant: float) -> float:
        """The average loss of a constant prediction, before the link; 0 where there is no label."""
        if not self.weight:
            return 0.0
        if self.sums:
            return self.squares / self.weight + (self.mean - constant) ** 2
        return average_loss(self.loss, constant, *self.columns()[1:])


class LabelSample(Listener):
    """Labels of the first pass, ``learned`` and ``held`` out, by output."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        loss = learner.config.loss
        losses = [loss.of_output(number) for number in range(len(output_names(learner)))] or [loss]
        self.learned, self.held = ([Labels(loss) for loss in losses] for _ in range(2))
        self.weights = [0.0, 0.0]  # of labelled rows, learned and held out
        self.whole = self.first_pass = True

    @classmethod
    def concerns(cls, learner: Learner) -> bool:
        """Whether the learner's average loss is that of a number for each example, or of a few."""
        config = learner.config
        numbers = has_simple_labels(learner) or 0 < len(output_names(learner)) <= MOST_OUTPUTS
        return numbers and not (config.binary or config.loss.name == "perceptron")

    def begin_pass(self, number: int) -> None:
        self.first_pass = number == 1

    def restore(self, state: JsonObject) -> None:
        self.whole = False  # what was learned before is not known

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if not (self.first_pass and self.whole):
            return
        counted = counted_rows(self.learner, batch)
        label, importance = counted.label[begin:end], counted.importance[begin:end]
        used, mask = ~np.isnan(label) & (importance > 0), results.holdout_mask
        held = np.zeros(len(label), bool) if mask is None else mask[begin:end] != 0
        columns = columns_of(counted, begin, end, len(self.learned))
        for place, (labels, rows) in enumerate(((self.learned, used & ~held), (self.held, used & held))):
            self.weights[place] += importance[rows].sum(dtype=float)
            for own, column in zip(labels, columns if mask is not None or not place else (), strict=False):
                own.add(column, importance, rows & ~np.isnan(column))

    @cached_property
    def best(self) -> tuple[float | None, float] | None:
        """The best constant, None of several outputs, and its loss, summed over outputs; None where it is not known."""
        best = [learned.best for learned in self.learned if learned.weight]
        if not self.whole or not best or None in best:
            return None
        if len(self.learned) == 1:
            return best[0]
        return None, self.summed(self.learned, self.weights[0])

    @property
    def held_loss(self) -> float | None:
        """The loss of the best constant on the held-out examples; None if it is not known."""
        return self.summed(self.held, self.weights[1]) if self.best and self.weights[1] else None

    def summed(self, labels: Sequence[Labels], weight: float) -> float:
        """The loss of a row on average, of the best constants of what was learned."""
        pairs = ((own, learned.best) for own, learned in zip(labels, self.learned, strict=True))
        return sum(own.loss_of(best[0]) * own.weight for own, best in pairs if best) / weight


def columns_of(batch: Batch, begin: int, end: int, outputs: int) -> np.ndarray:
    """float32[outputs, end - begin], NaN where a row has no label of an output."""
    if batch.lists is None:
        return batch.label[None, begin:end].repeat(outputs, axis=0)
    columns = np.full((outputs, len(batch)), np.nan, np.float32)
    columns[batch.lists.indices, batch.lists.owner] = batch.lists.values
    return columns[:, begin:end]


MIN_EXAMPLES = 100  # fewer examples give no warning
LOGISTIC = "--loss_function logistic"


def advise(options: str) -> str:
    return f"{options} may learn these data better"


class TwoClasses(Listener):
    """Advises the logistic loss after the first pass, where labels that were learned as numbers are two classes."""

    def __init__(self, counters: Counters, display: Display) -> None:
        self.counters, self.display = counters, display

    @staticmethod
    def concerns(config: RunConfig) -> bool:
        """Whether linear weights learn labels as numbers, and nobody has asked for that."""
        learner = config.learner
        plain = learner.learner == GdConfig.learner and learner.loss.name == "squared"
        open = plain and not (config.loss_chosen or learner.levels or learner.link != "identity")
        return open and config.learning and not config.vw_compat

    def pass_read(self, number: int) -> None:
        counters = self.counters
        if number == 1 and counters.example_number >= MIN_EXAMPLES and counters.labels().two_classes:
            self.display.note(advise(LOGISTIC))


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

    def state(self) -> JsonObject:
        """JSON data."""
        return {"changes": self.changes, "last": self.last, "counts": sorted(self.counts.items())}

    def restore(self, state: JsonObject) -> None:
        self.changes, self.last = state["changes"], state["last"]
        self.counts = Counter({label: count for label, count in state["counts"]})
