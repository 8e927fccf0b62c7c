"""Labels that are distributions over classes: ``1:0.7 3:0.3``, or a class alone."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.class_labels import Classes, ListLabels, LogFunction, text_of
from vwlite.data.csr import Csr
from vwlite.data.text_format import EMPTY_SET

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
        found = [self.entry(word) for word in words]
        if None in found:
            bad = words[found.index(None)]
            self.malformed[row] = f"bad label word {bad!r}: expected class:share words like 1:0.7 3:0.3"
        return iter([] if row in self.malformed else [entry for entry in found if entry])

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
