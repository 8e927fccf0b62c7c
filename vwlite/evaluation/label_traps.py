"""What is well-formed in a text, and seldom meant."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, SAVE, TAGGED, Batch
from vwlite.data.label_forms import NAMES, NUMBERS
from vwlite.escapes import escaped
from vwlite.numerals import DECIMAL_BYTES

ENOUGH = 100  # examples of which an order can be told
FEW = 0.1  # of the changes of label that a random order has


class Traps:
    """Looks at batch after batch."""

    def __init__(self) -> None:
        self.changes = self.tagged = 0
        self.last: float | None = None  # label
        self.place = self.tag = ""  # of the first example without a label that is tagged with a number

    def add(self, batch: Batch) -> None:
        known = batch.label[~np.isnan(batch.label)]
        if len(known):
            self.changes += int((known[1:] != known[:-1]).sum()) + (self.last not in (None, float(known[0])))
            self.last = float(known[-1])
        odd = np.isnan(batch.label) & (batch.flags & (BLANK | SAVE | TAGGED) == TAGGED)
        for row in np.flatnonzero(odd).tolist():
            tag, start = batch.tag(row), int(batch.tag_start[row])
            meant = start > 0 and batch.text[start - 1] == ord("'")
            if DECIMAL_BYTES.fullmatch(tag) and not meant:
                self.tagged += 1
                self.place, self.tag = self.place or batch.location(row), self.tag or tag.decode()

    def sentences(self, report: dict[str, Any]) -> list[str]:
        """``report``: of the census of the same batches."""
        said = []
        if self.tagged:
            said.append(
                f"{self.place}: '{self.tag}|' is an example without a label, tagged {self.tag} ({self.tagged} such "
                "lines): a label needs a blank before the bar"
            )
        one_by_one = report["labels_are"] in (NUMBERS, NAMES)
        counts = list((report["labels"] or {}).values()) if one_by_one else []
        total = sum(counts)
        if len(counts) > 1 and total >= ENOUGH:
            usual = total - sum(count * count for count in counts) / total
            if self.changes < FEW * usual:
                times = "once" if self.changes == 1 else f"{self.changes} times"
                said.append(
                    f"the lines are sorted by label: it changes {times}, {usual:.0f} times in random "
                    "order: shuffle them, or train --shuffle-first; what is learned last counts most"
                )
        names = Counter(space["name"].lower() for space in report["namespaces"])
        for name in sorted(name for name, count in names.items() if count > 1):
            alike = sorted(escaped(space["name"]) for space in report["namespaces"] if space["name"].lower() == name)
            said.append(f"the namespaces {' and '.join(alike)} differ by case only, and are different ones")
        return said
