"""Lines whose sides of a dot product differ in length, so that ``--rank 0`` cannot pair their features by position."""

from __future__ import annotations

import numpy as np

from vwlite._native.expand import group_sizes
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan


class PairedSides:
    """Of the dot products of ``plan``."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.numbers = np.array(plan.pairs, np.int32).reshape(-1)

    def faults(self, batch: Batch) -> dict[int, str]:
        """By row, what is wrong with it. Raises MemoryError."""
        sizes = np.zeros((len(batch), len(self.numbers)), np.uint32)
        group_sizes(batch, self.plan, self.numbers, sizes)
        left, right = sizes[:, ::2], sizes[:, 1::2]
        found = {}
        for row in np.flatnonzero((left != right).any(axis=1)).tolist():
            pair = int(np.argmax(left[row] != right[row]))
            told = f"sides of {left[row, pair]} and {right[row, pair]} features"
            found[row] = f"--dotproduct {self.plan.config.dotproduct[pair]} has {told}, --rank 0 needs as many"
        return found
