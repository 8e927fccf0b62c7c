"""Labels of logged decisions: ``action:cost:probability``, the cost observed of the action that was shown."""

from __future__ import annotations

import math

import numpy as np

from vwlite._native.label_lists import read_words
from vwlite.data.batch import BLANK, INNER, SHARED, Batch, Csr
from vwlite.data.class_labels import MAX_CLASS, Classes, ClassLabels, LogFunction, text_of, with_others
from vwlite.data.multiline import UNKNOWN_COST
from vwlite.data.plain_text import words_of
from vwlite.errors import DataError
from vwlite.options import read_decimal

EXPECTED = "expected action:cost:probability"
Entry = tuple[int, float, float]  # an action, its cost and probability; the cost infinite where none was observed


MANY_ALIKE = 2 / 3  # of costs


def offset_advice(share: float, highest: float) -> list[str]:
    """Advice on costs of which this ``share`` are the ``highest``; empty if it is small."""
    if share <= MANY_ALIKE or not highest:
        return []
    sentence = f"{share:.0%} of the costs are the highest, {highest:g}, and what was never shown counts as 0"
    return [f"{sentence}: --cost_offset max learns differences to it"]


class WrongLabel(Exception):
    """Its text says what is wrong with a label."""


class DecisionLabels(ClassLabels):
    """Reads the labels of ``--cb``: of one word at most with a probability, and of the actions that were possible.

    A row without an observation has the label NaN. Without ``log``, rows whose labels are wrong are ``malformed``, with
    what is wrong; with it labels are taken as vw takes them.
    """

    def __init__(self, actions: int, log: LogFunction | None = None) -> None:
        super().__init__(Classes(actions), log)
        self.actions = actions
        self.malformed: dict[int, str] = {}

    def check(self, batch: Batch) -> np.ndarray:
        """Fills ``batch.lists`` and ``batch.probability``. The labels, float32[n], are 1 or NaN."""
        self.malformed = {}
        return self.read(batch, ~np.isnan(batch.label) & batch.is_example)

    def read(self, batch: Batch, labelled: np.ndarray) -> np.ndarray:
        size = len(batch)
        action, status = np.zeros(size, np.uint32), np.zeros(size, np.uint8)
        cost, probability = np.zeros(size, np.float32), np.full(size, np.nan, np.float32)
        read_words(batch, labelled.view(np.uint8), action, cost, probability, status)
        read = (status != 0) & ((action >= 1) & (action <= self.actions) if self.actions else True)
        probability[~read] = np.nan
        sizes = read.astype(np.int64) - (labelled & ~read)
        batch.probability = probability
        batch.lists = with_others(sizes, action[read], cost[read], lambda row: self.entries(batch, row))
        return np.where(np.isnan(probability), np.float32(np.nan), np.float32(1)).astype(np.float32)

    def entries(self, batch: Batch, row: int) -> list[tuple[int, float]]:
        """The actions that a label names, with their costs; the probability goes to the batch."""
        try:
            read = [self.entry(word) for word in words_of(text_of(batch, row))]
            observed = [place for place, (_, cost, _) in enumerate(read) if math.isfinite(cost)]
            if len(observed) > 1 and not (self.log and self.actions):
                raise WrongLabel("two costs of one event")
        except WrongLabel as error:
            if self.log:
                raise DataError(f"{batch.location(row)}: {error}") from error
            self.malformed[row] = str(error)
            return []
        if observed:
            batch.probability[row] = read[observed[0]][2]
        return [(action, math.inf if place in observed[1:] else cost) for place, (action, cost, _) in enumerate(read)]

    def entry(self, word: str) -> Entry:
        """Raises WrongLabel. A cost without a probability is no observation."""
        parts = word.split(":")
        if len(parts) > 3 or not parts[0]:
            raise WrongLabel(f"bad label word {word!r}, {EXPECTED}")
        action = self.classes.number(parts[0]) if self.actions else 1
        if self.actions and not (1 <= action <= min(self.actions, MAX_CLASS)):
            raise WrongLabel(f"action {parts[0]} of {word!r} is none of 1 to {self.actions}")
        numbers = [self.value(word, part) for part in parts[1:]]
        if len(numbers) < 2:
            return action, math.inf, math.nan
        cost, probability = numbers
        if self.log:
            probability = min(probability, 1.0)
            return (action, cost, probability) if probability > 0 else (action, math.inf, math.nan)
        if not 0 < probability <= 1:
            raise WrongLabel(f"the probability of {word!r} is not above 0 and at most 1")
        return action, cost, probability

    def value(self, word: str, text: str) -> float:
        """A float32. To vw what is not a number is 0."""
        try:
            with np.errstate(over="ignore"):
                value = float(np.float32(read_decimal(text)))
        except ValueError:
            value = 0.0 if self.log else math.nan
        if not math.isfinite(value):
            raise WrongLabel(f"bad label word {word!r}, {EXPECTED}, finite numbers")
        return value


class EvaluationLabels(DecisionLabels):
    """Reads the labels of ``--eval``: an action to be valued, then as those of ``--cb``. All examples have one."""

    def check(self, batch: Batch) -> np.ndarray:
        none = np.isnan(batch.label) & batch.is_example
        if none.any():
            raise self.missing(batch, int(none.argmax()))
        return super().check(batch)

    def read(self, batch: Batch, labelled: np.ndarray) -> np.ndarray:
        batch.probability = np.full(len(batch), np.nan, np.float32)
        none = np.zeros(0, np.uint32), np.zeros(0, np.float32)
        batch.lists = with_others(-labelled.astype(np.int64), *none, lambda row: self.entries(batch, row))
        return np.where(labelled, np.float32(1), np.float32(np.nan)).astype(np.float32)

    def entries(self, batch: Batch, row: int) -> list[tuple[int, float]]:
        entries = super().entries(batch, row)
        costs = [math.isfinite(cost) for _, cost in entries]
        if costs[:1] == [True] or not any(costs):
            raise self.missing(batch, row)
        return entries

    @staticmethod
    def missing(batch: Batch, row: int) -> DataError:
        return DataError(f"{batch.location(row)}: no action to be valued and, behind it, action:cost:probability")


class GroupDecisionLabels(DecisionLabels):
    """Reads the labels of ``--cb_adf``, where one line of a group at most has an observation.

    What stands before its first colon is not looked at. A group with a line that is wrong is left out whole.
    """

    def __init__(self, log: LogFunction | None = None) -> None:
        super().__init__(0, log)

    def check(self, batch: Batch) -> np.ndarray:
        self.malformed = {}
        present = batch.is_example
        labelled = present & ~np.isnan(batch.label) & (batch.flags & SHARED == 0)
        known = ~np.isnan(self.read(batch, labelled))
        ends = present & (batch.flags & INNER == 0)
        group = np.cumsum(ends) - ends
        count = 1 + int(ends.sum())
        costs, lines, shared = (
            np.bincount(group[which], minlength=count)
            for which in (known, present & (batch.flags & SHARED == 0), present & (batch.flags & SHARED != 0))
        )
        for number in np.flatnonzero((costs > 1) | ((lines == 0) & (shared > 0))).tolist():
            two = costs[number] > 1
            row = int(np.flatnonzero((known if two else present) & (group == number))[int(two)])
            sentence = "two costs of one event" if two else "a shared line without lines of actions"
            if self.log:
                raise DataError(f"{batch.location(row)}: {sentence}")
            self.malformed.setdefault(row, sentence)
        labels = np.where(present & (costs == 1)[group], np.float32(1), np.float32(np.nan)).astype(np.float32)
        if self.log is None:
            labels[np.isin(group, group[present & (batch.label == UNKNOWN_COST)])] = np.nan
            self.leave_out(batch, group, present)
        return labels

    def leave_out(self, batch: Batch, group: np.ndarray, shown: np.ndarray) -> None:
        """Blank the groups with a line that is wrong or was left out; each has one gap, or is ``malformed`` once."""
        gaps = {int(group[row]): gap for gap in reversed(batch.gaps) for row in (gap - 1, gap) if self.has(shown, row)}
        wrong = {int(group[row]): row for row in sorted(self.malformed, reverse=True) if int(group[row]) not in gaps}
        if not gaps and not wrong:
            return
        self.malformed = {row: self.malformed[row] for row in sorted(wrong.values())}
        left_out = shown & np.isin(group, [*gaps, *wrong])
        batch.flags = np.where(left_out, batch.flags | BLANK, batch.flags).astype(np.uint8)
        alone = [gap for gap in batch.gaps if not (self.has(shown, gap - 1) or self.has(shown, gap))]
        batch.gaps = tuple(sorted([*alone, *gaps.values()]))

    @staticmethod
    def has(shown: np.ndarray, row: int) -> bool:
        return 0 <= row < len(shown) and bool(shown[row])

    def entry(self, word: str) -> Entry:
        if word.split(":")[0] in ("shared", "***shared***"):
            raise WrongLabel("a shared line that is not the group's first, or has a label")
        return super().entry(word)


def clear_labels(batch: Batch) -> None:
    """Have a batch whose labels were not read say nothing."""
    size = len(batch)
    batch.lists = Csr(np.zeros(size + 1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.float32))
    batch.probability = np.full(size, np.nan, np.float32)
