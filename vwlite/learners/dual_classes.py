"""The sequential dual method for the hinge loss of classes; see ``cython_ext/learners/dual_classes.pyx``."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vwlite._native import dual_classes as kernel
from vwlite.data.csr import Csr
from vwlite.interrupts import STOP, obey
from vwlite.learners.configs.dual import DualConfig
from vwlite.learners.dual_solver import MIX, ROUNDING, Objective, squares_of


class CrammerSinger:
    """The problem of ``rows``, all with terms, none with a slot twice; ``label`` uint32[rows], below ``classes``.

    ``a`` float64[rows, classes] and ``w`` float64[slots, classes] are the solution.
    """

    def __init__(
        self,
        rows: Csr,
        label: np.ndarray,
        cost: np.ndarray,
        config: DualConfig,
        *,
        classes: int,
        slots: int,
        passes: int,
    ) -> None:
        """Raises ValueError for rows without terms, for columns beyond ``slots``, and for labels beyond ``classes``."""
        if not rows.sizes.all() or not len(rows) or int(rows.indices.max()) >= slots or label.max() >= classes:
            raise ValueError("rows need terms, with slots for them, and labels")
        self.rows, self.label, self.cost, self.config = rows, label, cost, config
        self.l2, self.passes, self.sweeps = config.l2, passes, 0
        self.square = squares_of(rows) / config.l2
        self.a, self.w = np.zeros((len(rows), classes)), np.zeros((slots, classes))
        self.prediction, self.scratch = np.zeros((len(rows), classes)), np.zeros((2, classes))
        self.order = np.arange(len(rows), dtype=np.uint32)

    def evaluate(self) -> Objective:
        loss, dual = kernel.evaluate(self, self.prediction)
        half = self.l2 / 2 * float(np.einsum("ij,ij", self.w, self.w))
        own = self.a[np.arange(len(self.label)), self.label]
        support, bound = own > ROUNDING * self.cost, own >= (1 - ROUNDING) * self.cost
        norm = math.sqrt(2 * half / self.l2)
        return Objective(half + loss, dual - half, norm, int(support.sum()), int(bound.sum()))

    def run_pass(self) -> None:
        """A step for every row. Raises Interrupted."""
        seed = (self.config.random_seed * 2**32 + self.sweeps) * MIX % 2**64
        kernel.sweep(self, self.order, seed, STOP, self.scratch)
        self.sweeps += 1
        obey()

    def solve(self, tell: Callable[[int, Objective], None]) -> tuple[Objective, int]:
        """As ``DualSolver.solve``."""
        number, ended = 0, False
        while not ended:
            self.run_pass()
            number, found = number + 1, self.evaluate()
            if number == self.passes or found.gap <= self.config.gap:
                kernel.sum_weights(self)
                found = self.evaluate()
                ended = number == self.passes or found.gap <= self.config.gap
            tell(number, found)
        return found, number
