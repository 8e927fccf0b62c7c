"""Whether examples come sorted by label, so that what is learned last, one label, counts most."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

MIN_EXAMPLES = 100  # fewer examples give no warning
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

    def state(self) -> dict[str, Any]:
        """JSON data."""
        return {"changes": self.changes, "last": self.last, "counts": sorted(self.counts.items())}

    def restore(self, state: dict[str, Any]) -> None:
        self.changes, self.last = state["changes"], state["last"]
        self.counts = Counter({label: count for label, count in state["counts"]})
