"""Dual coordinate descent over rows in memory until the duality gap is small; see ``cython_ext/learners/dual.pyx``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import dual as kernel
from vwlite.data.csr import Csr
from vwlite.interrupts import STOP, obey
from vwlite.learners.configs.dual import LOSSES, DualConfig

BOUNDED = ("hinge", "logistic", "tube")  # losses whose a_i are at most the importance in size
OF_RESIDUALS = ("squared", "tube")
SETTLED = 0.1  # range of slopes, as a share of their unit, within which rows are taken for settled, at first
FINER = 0.1  # and from then on that times this
START = 1e-8  # share of the importance with which logistic rows begin, whose a_i are never 0
ROUNDING = 1e-12  # of the importance: an a_i that is nearer to a bound is there
MIX = 0xD1342543DE82EF95  # odd: makes the seeds of sweeps far from one another


class Objective(NamedTuple):
    """The primal, and the dual, which no weights' primal falls below."""

    primal: float
    dual: float
    norm: float  # |w|
    support: int  # rows whose a_i is not 0
    bound: int  # those among them that are at the bound

    @property
    def gap(self) -> float:
        """Relative to the primal."""
        return max(self.primal - self.dual, 0.0) / self.primal if self.primal > 0 else 0.0

    def report(self) -> dict[str, Any]:
        """As JSON data."""
        return {**self._asdict(), "gap": self.gap, "margin": 1 / self.norm if self.norm else None}


class DualSolver:
    """The problem of ``rows``, and where its solution stands; every row has a term, and none has a slot twice.

    ``label``, ``cost`` (importance, above 0) and ``base`` (initial prediction) float64[rows]; the columns of the rows
    are below ``slots``. ``a`` float64[rows] and ``w`` float64[slots] are the solution, ``prediction`` float64[rows] is
    what the weights said when ``evaluate`` was called last. The initial prediction is part of it.
    """

    def __init__(
        self,
        rows: Csr,
        label: np.ndarray,
        cost: np.ndarray,
        base: np.ndarray,
        config: DualConfig,
        *,
        slots: int,
        passes: int,
    ) -> None:
        """Raises ValueError for rows whose columns are not below ``slots``, or without terms."""
        if not rows.sizes.all() or not len(rows) or int(rows.indices.max()) >= slots:
            raise ValueError("rows need terms, and slots for them")
        self.rows, self.label, self.cost, self.base = rows, label, cost, base
        self.config, self.passes = config, passes
        name = config.loss.name
        self.loss, self.l2, self.tube = LOSSES.index(name), config.l2, config.loss.tube
        values = rows.values.astype(np.float64)
        self.square = np.add.reduceat(values * values, rows.indptr[:-1]) / config.l2
        self.w, self.prediction = np.zeros(slots), np.zeros(len(rows))
        self.a = START * cost if name == "logistic" else np.zeros(len(rows))
        self.order, self.active = np.arange(len(rows), dtype=np.uint32), len(rows)
        unit = float(np.abs(label - base).max()) if name in OF_RESIDUALS else 1.0
        self.settled, self.sweeps = SETTLED * unit, 0
        self.highest, self.lowest = math.inf, -math.inf
        kernel.sum_weights(self)

    def evaluate(self) -> Objective:
        loss, dual, square = kernel.evaluate(self, self.prediction)
        half = self.l2 / 2 * square
        return Objective(half + loss, dual - half, math.sqrt(square), int(self.support.sum()), int(self.bound.sum()))

    @property
    def support(self) -> np.ndarray:
        """bool[rows]: whether a_i is not 0."""
        return np.abs(self.a) > ROUNDING * self.cost

    @property
    def bound(self) -> np.ndarray:
        """bool[rows]: whether a_i is as large as it may be."""
        full = np.abs(self.a) >= (1 - ROUNDING) * self.cost
        return full if LOSSES[self.loss] in BOUNDED else np.zeros(len(full), bool)

    def run_pass(self) -> None:
        """As many steps as there are rows, or fewer where those left have settled. Raises Interrupted."""
        steps = 0
        while steps < len(self.rows):
            steps += self.active
            self.sweep()
            if self.highest - self.lowest <= self.settled:
                if self.active == len(self.rows):
                    self.settled *= FINER
                self.active, self.highest, self.lowest = len(self.rows), math.inf, -math.inf
                return
            self.highest = self.highest if self.highest > 0 else math.inf
            self.lowest = self.lowest if self.lowest < 0 else -math.inf

    def sweep(self) -> None:
        """A step for each row that is not left out."""
        seed = (self.config.random_seed * 2**32 + self.sweeps) * MIX % 2**64
        self.active = kernel.sweep(self, self.order, self.active, seed, STOP)
        self.sweeps += 1
        obey()

    def solve(self, tell: Callable[[int, Objective], None]) -> tuple[Objective, int]:
        """Pass after pass until the gap is small enough; answers where it ended, and after how many passes.

        ``tell`` hears of every pass. What is answered is of weights that are summed anew from all a_i. Raises
        Interrupted.
        """
        number, gap = 0, self.config.gap
        while number < self.passes:
            self.run_pass()
            number, found = number + 1, self.evaluate()
            if found.gap <= gap or number == self.passes:
                kernel.sum_weights(self)
                found = self.evaluate()
            tell(number, found)
            if found.gap <= gap:
                break
        return found, number
