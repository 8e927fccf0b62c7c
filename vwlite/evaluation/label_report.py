"""Readers of labels for 'vwlite check': they count labels and collect wrong ones instead of raising errors."""

from __future__ import annotations

import math
from collections import Counter
from typing import ClassVar

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK, FIRST, INNER, SAVE, SHARED, TAGGED, Batch, LabelVocabulary
from vwlite.data.class_labels import MAX_CLASS, Classes, ClassLabels, ListLabels, text_of
from vwlite.data.label_forms import (
    COSTS,
    DECISION_GROUPS,
    DECISIONS,
    GROUPS,
    LISTS,
    NAMES,
    NUMBER,
    NUMBERS,
    SEQUENCES,
    VECTORS,
)
from vwlite.data.logged_decisions import DecisionLabels, GroupDecisionLabels
from vwlite.data.malformed_lines import named_labels
from vwlite.data.multiline import LineLabels
from vwlite.data.plain_text import words_of
from vwlite.data.text_format import EMPTY_SET, Code
from vwlite.errors import DataError, escaped
from vwlite.learners.label_check import LabelCheck
from vwlite.learners.losses import LossConfig
from vwlite.learners.outputs import OutputLabels
from vwlite.options import DECIMAL_BYTES, is_count
from vwlite.training.label_sample import LabelOrder

ANY = Classes(MAX_CLASS)  # the number of classes is unknown
MAX_NAMES_CHARACTERS = 20_000  # longer lists of names are no classes, and no option that could be typed


class Numbers:
    """Labels of any value. ``check`` is as a ``LabelCheck``'s; ``wrong`` has what is wrong with rows of the last batch.

    ``counts``: how often each class is met, None where labels are no classes. ``groups``: how many
    sequences or groups of lines there are.
    """

    negative = None
    hints: ClassVar[dict[int, str]] = {}
    form, multiline = NUMBERS, False
    counts: Counter[str] | None = None
    groups = 0

    def __init__(self) -> None:
        self.wrong: dict[int, str] = {}

    def check(self, batch: Batch) -> np.ndarray:
        return batch.label

    def advice(self) -> str:
        """Options that learn from such labels, empty where there is nothing to say."""
        return ""

    def sentences(self) -> list[str]:
        """Warnings."""
        return []

    def class_counts(self) -> dict[str, int]:
        """The counts of classes, in numeric order where they are numbers, else in that of appearance."""
        counts = self.counts or {}
        return dict(sorted(counts.items(), key=lambda pair: int(pair[0])) if all(map(is_count, counts)) else counts)

    def report(self) -> JsonObject:
        return {
            "labels_are": self.form,
            "classes": None if self.counts is None else len(self.counts),
            "groups": self.groups if self.multiline else None,
        }


class TwoClasses(Numbers):
    """As 'vwlite l1' has them."""

    def __init__(self) -> None:
        super().__init__()
        self.rule = LabelCheck(LossConfig("logistic"))

    def check(self, batch: Batch) -> np.ndarray:
        labels, self.wrong = batch.label, {}
        try:
            self.rule.check(batch)
        except DataError:
            wrong = ~np.isnan(labels) & (labels != 1) & (labels != self.rule.negative)
            pair = {None: "0/1 or -1/1", 0.0: "0/1", -1.0: "-1/1"}[self.rule.negative]
            rows = np.flatnonzero(wrong).tolist()
            self.wrong = {row: f"label {labels[row]:g}: labels of two classes must be {pair}" for row in rows}
        return without_labels(labels, self.wrong)


class ClassNumbers(Numbers):
    """Labels of ``--oaa``: numbers, or names that are typed."""

    hints = ClassLabels.hints

    def __init__(self, classes: Classes) -> None:
        super().__init__()
        self.rule = ClassLabels(classes)
        if classes.names:
            self.form, self.counts = NAMES, Counter()

    def check(self, batch: Batch) -> np.ndarray:
        labels = self.rule.named(batch) if self.rule.classes.names else batch.label
        wrong = self.rule.wrong(labels)
        rows = [] if wrong is None else np.flatnonzero(wrong).tolist()
        self.wrong = {row: escaped(self.rule.refusal(batch, row)) for row in rows}
        labels = without_labels(labels, self.wrong)
        if self.counts is not None:
            numbers = labels[~np.isnan(labels)].astype(np.int64).tolist()
            self.counts.update(self.rule.classes.display_name(number) for number in numbers)
        return labels


class Names(Numbers):
    """Names of lines or, with ``sequences``, of lines that belong together up to the next blank one."""

    hints = dict.fromkeys((Code.BAD_LABEL_WORDS, Code.BAD_LABEL_NUMBER), " (a name, then its importance)")

    def __init__(self, sequences: bool = False) -> None:
        super().__init__()
        self.book, self.counts = LabelVocabulary(), Counter()
        self.form, self.multiline = SEQUENCES if sequences else NAMES, sequences
        self.after_blank = True  # the line before was a blank one, or there was none

    def check(self, batch: Batch) -> np.ndarray:
        numbers = self.book.numbers(batch)
        self.counts.update(self.book.texts[number] for number in numbers[numbers >= 0].tolist())
        if len(batch):
            blank, first = batch.flags & BLANK != 0, batch.flags & FIRST != 0
            self.groups += int((~blank & (first | np.append(self.after_blank, blank[:-1]))).sum())
            self.after_blank = bool(blank[-1])
        return np.where(numbers < 0, np.nan, numbers.astype(np.float64))

    def advice(self) -> str:
        if self.multiline:
            return "vwlite l1 --model crf"
        if outputs := length_of_lists(self.counts):
            return f"--outputs {outputs}"
        return f"--oaa {len(self.counts)}{names_of(self.counts)}, or vwlite l1 --model multinomial"


class Words(Numbers):
    """Costs or, with ``sets``, lists of classes."""

    def __init__(self, classes: Classes = ANY, *, sets: bool) -> None:
        super().__init__()
        self.form, self.counts = LISTS if sets else COSTS, Counter()
        self.rule = ListLabels(classes, sets=sets)

    def check(self, batch: Batch) -> np.ndarray:
        labels, self.wrong = np.array(batch.label), {}
        for row in np.flatnonzero(~np.isnan(labels)).tolist():
            costs = self.costs(batch, row)
            if row in self.wrong or not (self.rule.sets or any(map(math.isfinite, costs))):
                labels[row] = np.nan
        return labels

    def costs(self, batch: Batch, row: int) -> list[float]:
        try:
            entries = list(self.rule.entries(batch, row))
        except DataError as error:
            self.wrong[row] = escaped(str(error).removeprefix(f"{batch.location(row)}: "))
            return []
        text = text_of(batch, row)
        words = [] if text in ("", EMPTY_SET) else text.split(",") if self.rule.sets else words_of(text)
        if self.rule.classes is not ANY:
            if self.rule.strays(np.array([number for number, _ in entries], np.uint32)).any():
                self.wrong[row] = escaped(self.rule.stray(batch, row))
        elif self.rule.sets and not all(map(is_count, words)):
            self.wrong[row] = f"label {escaped(','.join(words))}: expected whole numbers like 1,3"
        if row in self.wrong:
            return []
        self.counts.update(dict.fromkeys((word.partition(":")[0] for word in words), 1))
        return [cost for _, cost in entries]

    def advice(self) -> str:
        if self.rule.sets:
            return f"--multilabel_oaa {number_of_classes(self.counts, from_zero=True)}"
        named = "" if all(map(is_count, self.counts)) else names_of(self.counts)
        return f"--csoaa {number_of_classes(self.counts, from_zero=False)}{named}"


class Groups(Numbers):
    """Labels of ``--csoaa_ldf``: lines of groups."""

    form, multiline = GROUPS, True

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.rule = LineLabels()

    def check(self, batch: Batch) -> np.ndarray:
        labels, self.wrong = np.array(batch.label), {}
        self.groups += int((batch.flags & (BLANK | SAVE | INNER) == 0).sum())
        for row in batch.example_rows(without=SHARED).tolist():
            try:
                ((_, cost),) = self.rule.entries(batch, row)
            except DataError as error:
                self.wrong[row] = escaped(str(error).removeprefix(f"{batch.location(row)}: "))
                cost = math.inf
            else:
                self.counts[text_of(batch, row).partition(":")[0]] += 1
            labels[row] = 1 if math.isfinite(cost) else np.nan
        return labels

    def advice(self) -> str:
        return "--csoaa_ldf mc"


class Decisions(Numbers):
    """Labels of ``--cb``, one a line; the counts are of the actions that were shown."""

    form = DECISIONS
    rule: DecisionLabels | OutputLabels

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.rule = DecisionLabels(MAX_CLASS)

    def check(self, batch: Batch) -> np.ndarray:
        labels = self.rule.check(batch)
        self.wrong = {row: escaped(sentence) for row, sentence in self.rule.malformed.items()}
        lists = batch.lists
        self.counts.update(map(str, lists.indices[np.isfinite(lists.values)].tolist()))
        return labels

    def advice(self) -> str:
        return f"--cb {number_of_classes(self.counts, from_zero=False)}"


class Vectors(Decisions):
    """Labels of ``--outputs``; the counts are of the numbers that each output has."""

    form = VECTORS

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.rule = OutputLabels(LossConfig(), outputs)


class DecisionGroups(Numbers):
    """Labels of ``--cb_adf``: groups of lines, at most one of which has been observed."""

    form, multiline = DECISION_GROUPS, True

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.rule = GroupDecisionLabels()
        self.has_shared = False  # features
        self.elsewhere, self.first_elsewhere = 0, ""  # labels that name another action than that of their line
        self.actions, self.excess = Moments(), Moments()  # of decisions with a cost; of 1 / probability over these

    def check(self, batch: Batch) -> np.ndarray:
        """The counts are of places of lines in their groups, from 0."""
        labels = self.rule.check(batch)
        self.wrong = {row: escaped(sentence) for row, sentence in self.rule.malformed.items()}
        present = batch.is_example
        ends, actions = present & (batch.flags & INNER == 0), present & (batch.flags & SHARED == 0)
        self.groups += int(ends.sum())
        before = np.cumsum(actions) - actions  # lines of actions
        group = np.cumsum(ends) - ends
        first = np.full(int(ends.sum()) + 1, len(batch))
        np.minimum.at(first, group[present], before[present])
        observed = actions & ~np.isnan(batch.probability)
        places = (before[observed] - first[group[observed]]).tolist()
        self.counts.update(map(str, places))
        for row, place in zip(np.flatnonzero(observed).tolist(), places, strict=True):
            named = text_of(batch, row).partition(":")[0]
            if named not in ("0", str(place)):
                self.elsewhere += 1
                example = f"{batch.location(row)}, which names {escaped(named)} on line {place}"
                self.first_elsewhere = self.first_elsewhere or example
        count = np.bincount(group[actions], minlength=len(first))[group[observed]].astype(float)
        self.actions.add(count)
        self.excess.add(1 / batch.probability[observed].astype(float) - count)
        edges = batch.namespace_start[batch.row_namespace].astype(np.int64)
        self.has_shared |= bool((np.diff(edges)[present & ~actions] > 0).any())
        return labels

    def advice(self) -> str:
        """Advise on shared lines: without crossed features those of shared lines are of no use."""
        return "--cb_adf -q ::" if self.has_shared else "--cb_adf"

    def report(self) -> JsonObject:
        return {**super().report(), "mean_actions": self.actions.mean if self.actions.count else None}

    def sentences(self) -> list[str]:
        sentences = []
        if self.elsewhere:
            labels = "1 label names" if self.elsewhere == 1 else f"{self.elsewhere} labels name"
            rule = "the place of its line counts, from 0, whatever stands before the first colon"
            sentences.append(f"{labels} another action than that of the line, first {self.first_elsewhere}: {rule}")
        if self.excess.is_far_from_0:
            inverse = self.excess.mean + self.actions.mean
            finding = f"1 / probability is {inverse:.4g} on average, and the number of actions {self.actions.mean:.4g}"
            sentences.append(f"{finding}: are the probabilities right?")
        return sentences


class Moments:
    """Moments of a sequence of numbers."""

    def __init__(self) -> None:
        self.count, self.sum, self.squares = 0, 0.0, 0.0

    def add(self, numbers: np.ndarray) -> None:
        self.count += len(numbers)
        self.sum, self.squares = self.sum + float(numbers.sum()), self.squares + float(np.square(numbers).sum())

    @property
    def mean(self) -> float:
        return self.sum / self.count

    @property
    def is_far_from_0(self) -> bool:
        """Whether the mean is, beyond chance: by more than four standard errors."""
        if self.count < 2:
            return False
        variance = max(self.squares / self.count - self.mean**2, 0.0)
        return abs(self.mean) > 4 * math.sqrt(variance / (self.count - 1)) + 1e-6


def without_labels(labels: np.ndarray, wrong: dict[int, str]) -> np.ndarray:
    """The labels with NaN, no label, in the rows ``wrong``."""
    if wrong:
        labels = np.array(labels)
        labels[list(wrong)] = np.nan
    return labels


def number_of_classes(counts: Counter[str], from_zero: bool) -> int:
    """The number of classes up to the highest, from 0 or 1 on; of names, how many there are."""
    if not counts or not all(map(is_count, counts)):
        return len(counts)
    numbers = list(map(int, counts))
    return max(numbers) + (from_zero or min(numbers) == 0)


def length_of_lists(counts: Counter[str]) -> int:
    """The length of the labels, if all are lists of the same length in which some numbers may be missing; else 0."""
    lists = [label.split(",") for label in counts]
    lengths = {len(words) for words in lists}
    if len(lengths) != 1 or lengths == {1}:
        return 0
    return lengths.pop() if all(not word or NUMBER.fullmatch(word) for row in lists for word in row) else 0


def names_of(counts: Counter[str]) -> str:
    """The option that names them, ready to be typed; empty where they are too many, and training has to find them."""
    fits = sum(map(len, counts)) + len(counts) <= MAX_NAMES_CHARACTERS
    return f" {named_labels(counts)}" if fits else ""


class Traps:
    """Looks at batch after batch."""

    def __init__(self) -> None:
        self.order, self.tagged = LabelOrder(), 0
        self.location = self.tag = ""  # of the first example without a label that is tagged with a number

    def add(self, batch: Batch) -> None:
        self.order.add(batch.label)
        mistaken = np.isnan(batch.label) & (batch.flags & (BLANK | SAVE | TAGGED) == TAGGED)
        for row in np.flatnonzero(mistaken).tolist():
            tag, start = batch.tag(row), int(batch.tag_start[row])
            meant = start > 0 and batch.text[start - 1] == ord("'")
            if DECIMAL_BYTES.fullmatch(tag) and not meant:
                self.tagged += 1
                self.location, self.tag = self.location or batch.location(row), self.tag or tag.decode()

    def sentences(self, report: JsonObject) -> list[str]:
        """``report``: of the census of the same batches."""
        warnings = []
        if self.tagged:
            warnings.append(
                f"{self.location}: '{self.tag}|' is an example without a label, tagged {self.tag} ({self.tagged} such "
                "lines): a label needs a blank before the bar"
            )
        if report["labels_are"] in (NUMBERS, NAMES) and (sentence := self.order.sorted_by_label()):
            warnings.append(f"{sentence}: shuffle them, or train --shuffle-first; the last examples count most")
        names = Counter(space["name"].lower() for space in report["namespaces"])
        for name in sorted(name for name, count in names.items() if count > 1):
            alike = sorted(escaped(space["name"]) for space in report["namespaces"] if space["name"].lower() == name)
            warnings.append(f"the namespaces {' and '.join(alike)} differ by case only, and are different ones")
        return warnings
