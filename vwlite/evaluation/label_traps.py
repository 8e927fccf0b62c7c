"""Warnings about text that is well-formed but seldom intended: sorted labels, labels that were read as tags."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, SAVE, TAGGED, Batch
from vwlite.data.label_forms import NAMES, NUMBERS
from vwlite.data.label_order import LabelOrder
from vwlite.escapes import escaped
from vwlite.numerals import DECIMAL_BYTES


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

    def sentences(self, report: dict[str, Any]) -> list[str]:
        """``report``: of the census of the same batches."""
        warnings = []
        if self.tagged:
            warnings.append(
                f"{self.location}: '{self.tag}|' is an example without a label, tagged {self.tag} ({self.tagged} such "
                "lines): a label needs a blank before the bar"
            )
        if report["labels_are"] in (NUMBERS, NAMES) and (found := self.order.sorted_by_label()):
            warnings.append(f"{found}: shuffle them, or train --shuffle-first; what is learned last counts most")
        names = Counter(space["name"].lower() for space in report["namespaces"])
        for name in sorted(name for name, count in names.items() if count > 1):
            alike = sorted(escaped(space["name"]) for space in report["namespaces"] if space["name"].lower() == name)
            warnings.append(f"the namespaces {' and '.join(alike)} differ by case only, and are different ones")
        return warnings
