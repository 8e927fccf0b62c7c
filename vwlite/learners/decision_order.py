"""The order in which the labels of a set are decided: as they are numbered, or by how many examples so far have them.

It is found anew whenever the number of examples learned is a power of two, so that it depends on the examples alone and
stands still long enough for learners that run over many rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.learners.configs.per_class import LABEL_ORDERS
from vwlite.learners.row_results import Results


class DecisionOrder:
    """``labels`` uint32[labels] in order; ``counts`` int64[labels] of the ``rows`` learned so far."""

    def __init__(self, count: int, order: str) -> None:
        self.kind = LABEL_ORDERS.index(order)
        self.labels = np.arange(count, dtype=np.uint32)
        self.counts, self.rows = np.zeros(count if self.kind else 0, np.int64), 0

    def run(
        self, batch: Batch, results: Results, begin: int, end: int, learning: bool, run: Callable[[int, int], int]
    ) -> int:
        """``run`` for parts of the rows ``[begin, end)``, between which the order may change; where it stopped."""
        if not (self.kind and learning):
            return run(begin, end)
        learned = ~np.isnan(batch.label[begin:end]) & (batch.importance[begin:end] > 0)
        if results.holdout_mask is not None:
            learned &= results.holdout_mask[begin:end] == 0
        reached = self.rows + np.cumsum(learned)
        at = begin
        while at < end:
            wanted = 1 << self.rows.bit_length()  # the next power of two
            last = min(begin + int(np.searchsorted(reached, wanted)) + 1, end)
            stopped = run(at, last)
            self.add(batch, learned[at - begin : stopped - begin], at)
            if stopped < last:
                return stopped
            at = last
        return end

    def add(self, batch: Batch, learned: np.ndarray, begin: int) -> None:
        """Count rows from ``begin`` on, those of bool[rows] that were learned."""
        if batch.lists is not None:
            rows = np.flatnonzero(learned) + begin
            named = batch.lists.take(rows).indices
            self.counts += np.bincount(named[named < len(self.counts)], minlength=len(self.counts))
        before, self.rows = self.rows, self.rows + int(learned.sum())
        if self.rows.bit_length() > before.bit_length():
            self.sort()

    def sort(self) -> None:
        """Labels of equal counts are in the order of their numbers."""
        sign = 1 if LABEL_ORDERS[self.kind] == "rare" else -1
        self.labels[:] = np.argsort(sign * self.counts, kind="stable")

    def header(self) -> dict[str, Any]:
        if not self.kind:
            return {}
        order = {"rows": self.rows, "counts": self.counts.tolist(), "labels": self.labels.tolist()}
        return {"label_order": order}

    def take_header(self, header: Mapping[str, Any]) -> None:
        """Raises ValueError where the header is of other labels."""
        if not self.kind:
            return
        found = header.get("label_order") or {"labels": [], "counts": []}
        if sorted(found["labels"]) != list(range(len(self.labels))) or len(found["counts"]) != len(self.labels):
            raise ValueError("the order of labels does not fit them")
        self.rows, self.counts[:], self.labels[:] = found["rows"], found["counts"], found["labels"]
