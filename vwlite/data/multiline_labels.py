"""Labels of groups of lines: ``class:cost`` a line, ``class`` where the cost is not known."""

from __future__ import annotations

import math

import numpy as np

from vwlite._native.multiline_costs import read_costs
from vwlite.data.batch import BLANK, INNER, SAVE, SHARED, TAGGED, Batch
from vwlite.data.class_labels import MAX_CLASS, Classes, ClassLabels, LogFunction, read_cost, text_of, with_others
from vwlite.data.multiline import SHARED_WORDS, UNKNOWN_COST
from vwlite.data.plain_text import words_of
from vwlite.errors import DataError

MIXED = "[warning] ldf example has mix of train/test data; assuming test"


class LineLabels(ClassLabels):
    """Reads the labels of batches of whole groups. Without ``log``, a line that has not one class ends the run.

    With ``by_place``, the lines of a group none of which has a label are of the classes 1, 2 and so on.
    """

    def __init__(self, log: LogFunction | None = None, *, by_place: bool = False) -> None:
        super().__init__(Classes(0), log)
        self.by_place = by_place

    def check(self, batch: Batch) -> np.ndarray:
        """Fills ``batch.lists``, a row's class and cost. Raises DataError.

        The labels, float32[n], are 1 for the rows of groups of which all costs are known, else NaN.
        """
        size, lines = len(batch), batch.flags & (BLANK | SAVE | SHARED) == 0
        number, cost, found = np.zeros(size, np.uint32), np.zeros(size, np.float32), np.zeros(size, np.uint8)
        bare = lines & np.isnan(batch.label)
        read_costs(batch, (lines & ~bare).astype(np.uint8), number, cost, found)
        if self.by_place and bare.any():
            numbered = number_places(batch, lines, bare)
            found |= numbered > 0
            number, cost = np.where(numbered, numbered, number), np.where(numbered, np.float32(np.inf), cost)
        read = found != 0
        sizes = read.astype(np.int64) - (lines & ~read)
        batch.lists = with_others(sizes, number[read], cost[read], lambda row: self.entries(batch, row))
        return self.known(batch)

    def entries(self, batch: Batch, row: int) -> list[tuple[int, float]]:
        words = words_of(text_of(batch, row)) if batch.label[row] == batch.label[row] else []
        found = [self.entry(word) for word in words]
        if self.log is None and (len(found) != 1 or None in found):
            said = f"bad label {' '.join(words)!r}" if words else "no label"
            hint = " (what touches the bar is a tag)" if batch.flags[row] & TAGGED and not words else ""
            raise DataError(f"{batch.location(row)}: {said}: expected one word class:cost, or class{hint}")
        for word, entry in zip(words, found, strict=True):
            if entry is None:
                self.log(f"[warning] malformed cost specification on '{word}'")
        return [entry for entry in found if entry]

    def entry(self, word: str) -> tuple[int, float] | None:
        name, colon, price = word.partition(":")
        if not name and self.log is None:
            return None
        number = 0 if name == "label" and colon else self.classes.number(name)
        if not colon and name.encode("utf-8", "surrogateescape") not in SHARED_WORDS:
            return None if number > MAX_CLASS else (number, math.inf)
        try:
            value = read_cost(price)
        except ValueError:
            return None
        return (number, value) if math.isfinite(value) and number <= MAX_CLASS else None

    def known(self, batch: Batch) -> np.ndarray:
        lists, rows = batch.lists, batch.flags & (BLANK | SAVE) == 0
        single = lists.sizes == 1
        has_cost = single & (batch.label != UNKNOWN_COST)
        has_cost[single] &= np.isfinite(lists.values[lists.indptr[:-1][single]])
        lines = rows & (batch.flags & SHARED == 0)
        ends = rows & (batch.flags & INNER == 0)
        group = np.cumsum(ends) - ends
        groups = 1 + int(ends.sum())
        missing, total = (np.bincount(group[which], minlength=groups) for which in (lines & ~has_cost, lines))
        mixed = (missing > 0) & (missing < total)
        if self.log:
            for _ in range(int(mixed.sum())):
                self.log(MIXED)
        good = (missing == 0) & ((total > 0) | (self.log is not None))
        return np.where(rows & good[group], np.float32(1), np.float32(np.nan)).astype(np.float32)


def number_places(batch: Batch, lines: np.ndarray, bare: np.ndarray) -> np.ndarray:
    """uint32[n]: from 1 the place of a line in its group, where all ``lines`` of this are ``bare``; else 0.

    A line whose tag looks like a label, which touches the bar by mistake, is none of these.
    """
    mistaken = [row for row in np.flatnonzero(bare & (batch.flags & TAGGED != 0)).tolist() if b":" in batch.tag(row)]
    bare = bare & ~np.isin(np.arange(len(bare)), mistaken)
    ends = (batch.flags & (BLANK | SAVE) == 0) & (batch.flags & INNER == 0)
    group = np.cumsum(ends) - ends
    total, without = (np.bincount(group[which], minlength=group[-1] + 1) for which in (lines, bare))
    before = np.cumsum(lines) - lines  # lines before a row
    first = np.zeros(group[-1] + 1, np.int64)
    first[group[lines][::-1]] = before[lines][::-1]
    return np.where(bare & (total == without)[group], before - first[group] + 1, 0).astype(np.uint32)
