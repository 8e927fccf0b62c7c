"""Labels that are classes: numbers from 0 or 1, names, lists of classes with costs, sets of classes.

Where they are lists or sets, the text span of a row's tag in a batch begins with the label's words (as in
``vwlite/data/batch.py``); a comma alone, or no word, is the empty set. The classes and costs that were read
are in ``Batch.lists``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import mmh3
import numpy as np

from vwlite._native.counters import all_integers, label_range
from vwlite._native.label_lists import read_lists
from vwlite.data.batch import TAGGED, Batch, Csr, offsets, tag_of
from vwlite.data.text_format import EMPTY_SET, Code
from vwlite.errors import DataError
from vwlite.options import DIGITS, read_decimal

MAX_CLASS = 2**32 - 1
LogFunction = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of a model: ``count`` numbers from ``first`` on. None: 0 or 1, whichever the labels show.

    Classes with ``names`` have the numbers from 1; those of ``sets`` from 0, unless there are fewer names than classes.
    """

    count: int
    names: tuple[str, ...] = ()
    first: int | None = None
    sets: bool = False

    @property
    def first_name(self) -> int:
        """The number of the class that is named first."""
        return int(not self.sets or len(self.names) < self.count)

    def number(self, word: str) -> int:
        """The class of a label word; no class's for an unknown name. Without names words are hashed, as in vw."""
        if self.names:
            unknown = 0 if self.first_name else self.count
            return self.names.index(word) + self.first_name if word in self.names else unknown
        if word.isascii() and word.isdigit():
            return int(word) if len(word) <= DIGITS else MAX_CLASS + 1
        return mmh3.hash(word.encode("utf-8", "surrogateescape"), signed=False)  # mmh3 fails for text that is not UTF-8

    def display_name(self, number: int) -> str:
        """The class as users write it; empty for a number that no name has."""
        if not self.names:
            return str(number)
        place = number - self.first_name
        return self.names[place] if 0 <= place < len(self.names) else ""


class ClassLabels:
    """Checks and reads the labels of batches. A label that is no class ends the run; with ``log`` it is logged.

    ``negative`` and ``hints`` are those of ``LabelCheck``.
    """

    negative = None
    hints: ClassVar[dict[int, str]] = {Code.BAD_LABEL_NUMBER: " (--named_labels?)"}

    def __init__(self, classes: Classes, log: LogFunction | None = None, *, silent: bool = True) -> None:
        """``silent``: nothing is logged of which number the classes begin with, and of numbers that are no class."""
        self.classes, self.log, self.silent = classes, log, silent
        self.first = 1 if classes.names and log is None else classes.first
        self.logged_first: int | None = None  # which number the log has as the first

    def check(self, batch: Batch) -> np.ndarray:
        """The labels as numbers, float32[n]. Raises DataError for a label outside the classes."""
        labels = self.named(batch) if self.classes.names else batch.label
        if self.log is None:
            self.refuse_others(batch, labels)
        elif not self.silent:
            self.tell(labels[labels >= 0], self.log)
        return labels

    def tell(self, numbers: np.ndarray, log: LogFunction) -> None:
        """Log what vw does of the classes that labels name, in their order."""
        count = self.classes.count
        if self.logged_first is None:
            ends = np.flatnonzero((numbers == 0) | (numbers == count))
            if not len(ends):
                return
            numbers = numbers[ends[0] :]
            self.logged_first = int(numbers[0] == count)
            log(f"[info] label {numbers[0]:g} found -- labels are now considered {self.logged_first}-indexed.")
        first, last = self.logged_first, self.logged_first + count - 1
        for number in numbers[(numbers < first) | (numbers > last)].tolist():
            indexed = f"This won't work for {first}-indexed actions."
            log(f"[warning] label {number:g} is not in {{{first},{last}}}. {indexed}")

    def named(self, batch: Batch) -> np.ndarray:
        labels = batch.label.copy()
        for row in np.flatnonzero(~np.isnan(labels)).tolist():
            labels[row] = self.classes.number(text_of(batch, row).partition(" ")[0])
        return labels

    def refuse_others(self, batch: Batch, labels: np.ndarray) -> None:
        wrong = self.wrong(labels)
        if wrong is not None and wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(f"{batch.location(row)}: {self.refusal(batch, row)}")

    def refusal(self, batch: Batch, row: int) -> str:
        label = text_of(batch, row) if self.classes.names else f"{batch.label[row]:g}"
        return f"label {label} is no class: {self.allowed()}"

    def wrong(self, labels: np.ndarray) -> np.ndarray | None:
        """bool[rows]: those that are no class; None where there is none."""
        count, whole, (low, high) = self.classes.count, all_integers(labels), label_range(labels)
        if self.first is None and whole and low >= 0 and high <= count and (low == 0) != (high == count):
            self.first = int(high == count)
        bottom, top = (1, count - 1) if self.first is None else (self.first, self.first + count - 1)
        if whole and not (low < bottom or high > top):
            return None
        known = ~np.isnan(labels)
        wrong = known & ((labels != np.floor(labels)) | (labels < 0) | (labels > count))
        if self.first is None and (ends := known & ~wrong & ((labels == 0) | (labels == count))).any():
            self.first = int(labels[np.argmax(ends)] == count)
        if self.first is not None:
            wrong |= known & ((labels < self.first) | (labels >= self.first + count))
        return wrong

    def allowed(self) -> str:
        if self.classes.names:
            return f"--named_labels has {', '.join(self.classes.names)}"
        first = self.first
        if first is None:
            return f"expected whole numbers from 0 to {self.classes.count - 1} or from 1 to {self.classes.count}"
        return f"expected whole numbers from {first} to {first + self.classes.count - 1}"


class ListLabels(ClassLabels):
    """Labels of several words: ``class:cost class:cost`` or, with ``sets``, ``class,class``."""

    def __init__(self, classes: Classes, log: LogFunction | None = None, *, sets: bool) -> None:
        super().__init__(classes, log, silent=sets or bool(classes.names))
        self.sets = sets

    def check(self, batch: Batch) -> np.ndarray:
        """Fills ``batch.lists``. The labels, float32[n], are 1 or, where none or no cost is known, NaN."""
        labels = batch.label.copy()
        labelled = ~np.isnan(labels)
        batch.lists = lists = self.lists(batch, labelled)
        if not self.sets:
            priced = np.bincount(lists.owner[np.isfinite(lists.values)], minlength=len(batch))
            labels[labelled & (priced == 0)] = np.nan
        if self.log is None:
            self.refuse_numbers(batch, lists.indptr)
        elif not self.silent:
            self.tell(lists.indices, self.log)
        return labels

    def lists(self, batch: Batch, labelled: np.ndarray) -> Csr:
        if self.classes.names:
            sizes, named, cost = -labelled.astype(np.int64), np.zeros(0, np.uint32), np.zeros(0, np.float32)
        else:
            room = int((batch.tag_end - batch.tag_start)[labelled].sum(dtype=np.int64)) // 2 + len(batch)
            named, cost = np.empty(room, np.uint32), np.empty(room, np.float32)
            sizes = np.empty(len(batch), np.int64)
            read_lists(batch, labelled.view(np.uint8), self.sets, sizes, named, cost)
        return with_others(sizes, named, cost, lambda row: list(self.entries(batch, row)))

    def entries(self, batch: Batch, row: int) -> Iterator[tuple[int, float]]:
        text = text_of(batch, row)
        if text in ("", EMPTY_SET):
            return iter(())
        words = text.split(",") if self.sets else text.split(" ")
        if not self.sets or self.log:
            words = [word for word in words if word]
        members = [self.entry(word) for word in words]
        if None in members:
            bad = words[members.index(None)]
            message = f"{batch.location(row)}: bad label word {bad!r}: expected " + (
                "classes like 1,3" if self.sets else "class:cost words like 1:0.5 2:1"
            )
            if self.log is None:
                raise DataError(message)
            self.log(f"[warning] {message}")
        entries = [entry for entry in members if entry]
        return iter(sorted(set(entries)) if self.sets else entries)

    def entry(self, word: str) -> tuple[int, float] | None:
        name, colon, price = word.partition(":")
        if not name and self.log is None:
            return None
        if self.sets or not colon:
            number = self.classes.number(word)
            return None if colon or number > MAX_CLASS else (number, math.inf)
        try:
            value = read_cost(price)
        except ValueError:
            return None
        number = self.classes.number(name)
        return (number, value) if math.isfinite(value) and number <= MAX_CLASS else None

    def refuse_numbers(self, batch: Batch, start: np.ndarray) -> None:
        wrong = self.strays(batch.lists.indices)
        if wrong.any():
            at = int(np.argmax(wrong))
            row = int(np.searchsorted(start, at, side="right")) - 1
            raise DataError(f"{batch.location(row)}: {self.stray(batch, row)}")

    def stray(self, batch: Batch, row: int) -> str:
        return f"label {text_of(batch, row)} names no class: {self.allowed()}"

    def strays(self, named: np.ndarray) -> np.ndarray:
        """bool[...]: those that are no class."""
        count = self.classes.count
        ends = (named == 0) | (named == count)
        if self.sets:
            self.first = 0
        elif self.first is None and ends.any():
            self.first = int(named[np.argmax(ends)] == count)
        low, high = (0, count) if self.first is None else (self.first, self.first + count - 1)
        return (named < low) | (named > high)


def with_others(
    sizes: np.ndarray, named: np.ndarray, cost: np.ndarray, entries: Callable[[int], list[tuple[int, float]]]
) -> Csr:
    """Classes and costs that a kernel read, row behind row; ``sizes`` int64[rows], -1: take ``entries``."""
    others = {row: entries(row) for row in np.flatnonzero(sizes < 0).tolist()}
    if not others:
        start = offsets(sizes)
        return Csr(start, named[: start[-1]].copy(), cost[: start[-1]].copy())
    read = np.maximum(sizes, 0)
    sizes = read.copy()
    sizes[list(others)] = [len(members) for members in others.values()]
    start = offsets(sizes)
    lists = Csr(start, np.zeros(start[-1], np.uint32), np.zeros(start[-1], np.float32))
    total = int(read.sum())
    places = np.arange(total) + np.repeat(start[:-1] - offsets(read)[:-1], read)
    lists.indices[places], lists.values[places] = named[:total], cost[:total]
    for row, members in others.items():
        for place, (number, value) in enumerate(members, start[row]):
            lists.indices[place], lists.values[place] = number, value
    return lists


def read_cost(text: str) -> float:
    """A float32, infinite beyond its range. Raises ValueError."""
    with np.errstate(over="ignore"):
        return float(np.float32(read_decimal(text)))


def text_of(batch: Batch, row: int) -> str:
    """The label's words."""
    span = batch.tag(row)
    if batch.flags[row] & TAGGED:
        span = span.removesuffix(tag_of(batch, row)).removesuffix(b"'")
    return span.decode("utf-8", "surrogateescape").rstrip(" ")


TOLERANCE = 1e-4  # by which strict sums differ from 1 at most


class ShareLabels(ListLabels):
    """Fills ``Batch.lists`` with classes and their shares, which are divided by their sum; with ``strict`` that is 1.

    ``malformed`` has, by row of the batch checked last, what is wrong: a word that is no ``class:share``, a class that
    is none, a share below 0, a sum that is not above 0.
    """

    def __init__(self, classes: Classes, log: LogFunction | None = None, *, strict: bool) -> None:
        super().__init__(classes, log, sets=False)
        self.strict = strict
        self.malformed: dict[int, str] = {}

    def check(self, batch: Batch) -> np.ndarray:
        """The labels, float32[n], are the classes with the largest share, the first of several; NaN without a label."""
        self.malformed = {}
        labelled = ~np.isnan(batch.label)
        lists = self.lists(batch, labelled)
        share = np.where(np.isinf(lists.values), np.float32(1), lists.values).astype(np.float64)
        owner, rows = lists.owner, len(batch)
        sums = np.bincount(owner, share, minlength=rows)
        self.find_faults(batch, lists, share, sums)
        labels = np.full(rows, np.nan, np.float32)
        order = np.lexsort((-np.arange(len(owner)), share, owner))  # the last of a row is the first of its largest
        labels[owner[order]] = lists.indices[order]
        labels[[*self.malformed]] = np.nan
        with np.errstate(all="ignore"):
            batch.lists = Csr(lists.indptr, lists.indices, (share / sums[owner]).astype(np.float32))
        if self.log:
            for row, sentence in sorted(self.malformed.items()):
                self.log(f"[warning] {batch.location(row)}: {sentence}")
        return labels

    def entries(self, batch: Batch, row: int) -> Iterator[tuple[int, float]]:
        words = [word for word in text_of(batch, row).split(" ") if word not in ("", EMPTY_SET)]
        entries = [self.entry(word) for word in words]
        if None in entries:
            bad = words[entries.index(None)]
            self.malformed[row] = f"bad label word {bad!r}: expected class:share words like 1:0.7 3:0.3"
        return iter([] if row in self.malformed else [entry for entry in entries if entry])

    def find_faults(self, batch: Batch, lists: Csr, share: np.ndarray, sums: np.ndarray) -> None:
        owner = lists.owner
        for row in np.unique(owner[self.strays(lists.indices)]).tolist():
            self.malformed.setdefault(row, self.stray(batch, row))
        for row in np.unique(owner[share < 0]).tolist():
            self.malformed.setdefault(row, f"label {text_of(batch, row)} has a share below 0")
        met = np.unique(owner)
        wrong = ~(sums[met] > 0) | ~np.isfinite(sums[met])
        if self.strict:
            wrong |= abs(sums[met] - 1) > TOLERANCE
        rule = f"1 within {TOLERANCE:g} (--strict_shares)" if self.strict else "a number above 0"
        for row in met[wrong].tolist():
            total = float(sums[row])
            shown = f"{total:g}" if math.isfinite(total) else "too much"
            self.malformed.setdefault(row, f"the shares of label {text_of(batch, row)} add up to {shown}, not {rule}")
