"""Warnings about text that is well-formed but seldom intended: sorted labels, labels that were read as tags."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, SAVE, TAGGED, Batch
from vwlite.data.label_forms import NAMES, NUMBERS
from vwlite.escapes import escaped
from vwlite.numerals import DECIMAL_BYTES

MIN_EXAMPLES = 100  # fewer examples give no warning about their order
MIN_SHARE_OF_CHANGES = 0.1  # of the label, relative to a random order; fewer mean that the text is sorted


class Traps:
    """Looks at batch after batch."""

    def __init__(self) -> None:
        self.changes = self.tagged = 0
        self.last: float | None = None  # label
        self.location = self.tag = ""  # of the first example without a label that is tagged with a number

    def add(self, batch: Batch) -> None:
        known = batch.label[~np.isnan(batch.label)]
        if len(known):
            self.changes += int((known[1:] != known[:-1]).sum()) + (self.last not in (None, float(known[0])))
            self.last = float(known[-1])
        mistaken = np.isnan(batch.label) & (batch.flags & (BLANK | SAVE | TAGGED) == TAGGED)
        for row in np.flatnonzero(mistaken).tolist():
            tag, start = batch.tag(row), int(batch.tag_start[row])
            meant = start > 0 and batch.text[start - 1] == ord("'")
            if DECIMAL_BYTES.fullmatch(tag) and not meant:
                self.tagged += 1
                self.location, self.tag = self.location or batch.location(row), self.tag or tag.decode()

    def sentences(self, report: dict[str, Any]) -> list[str]:
        """``report``: of the census of the same batches."""
        warnings = []
        if self.tagged:
            warnings.append(
                f"{self.location}: '{self.tag}|' is an example without a label, tagged {self.tag} ({self.tagged} such "
                "lines): a label needs a blank before the bar"
            )
        one_by_one = report["labels_are"] in (NUMBERS, NAMES)
        counts = list((report["labels"] or {}).values()) if one_by_one else []
        total = sum(counts)
        if len(counts) > 1 and total >= MIN_EXAMPLES:
            usual = total - sum(count * count for count in counts) / total
            if self.changes < MIN_SHARE_OF_CHANGES * usual:
                times = "once" if self.changes == 1 else f"{self.changes} times"
                warnings.append(
                    f"the lines are sorted by label: it changes {times}, {usual:.0f} times in random "
                    "order: shuffle them, or train --shuffle-first; what is learned last counts most"
                )
        names = Counter(space["name"].lower() for space in report["namespaces"])
        for name in sorted(name for name, count in names.items() if count > 1):
            alike = sorted(escaped(space["name"]) for space in report["namespaces"] if space["name"].lower() == name)
            warnings.append(f"the namespaces {' and '.join(alike)} differ by case only, and are different ones")
        return warnings
