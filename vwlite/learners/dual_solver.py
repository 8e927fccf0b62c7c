"""Dual coordinate descent over rows in memory until the duality gap is small; see ``cython_ext/learners/dual.pyx``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vwlite._native import dual as kernel
from vwlite.config_check import JsonObject
from vwlite.data.batch import Csr
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.learners.configs.dual import LOSSES, DualConfig

BOUNDED = ("hinge", "logistic", "tube")  # losses whose a_i are at most the importance in size
OF_RESIDUALS = ("squared", "tube")
SWEEPS, MAX_SWEEPS = 2, 32  # of a pass, at least and at most
START = 1e-8  # share of the importance with which logistic rows begin, whose a_i are never 0
ROUNDING = 1e-12  # of the importance: an a_i that is nearer to a bound is there
STEPS, FREE_SWEEPS = 100_000, 10_000  # of a pass without bounds, at least and at most
TOUCHING = 1e-6  # length of a sum of vectors that is 0, as a share of the sum of their lengths
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
        if math.isinf(self.primal):
            return 1.0
        return max(self.primal - self.dual, 0.0) / self.primal if self.primal > 0 else 0.0

    def report(self) -> JsonObject:
        """The figures as JSON data."""
        primal = None if math.isinf(self.primal) else self.primal
        return {**self._asdict(), "primal": primal, "gap": self.gap, "margin": 1 / self.norm if self.norm else None}


def squares_of(rows: Csr) -> np.ndarray:
    """float64[rows], the squared lengths of rows."""
    squares = np.zeros(len(rows))
    kernel.row_squares(rows.indptr, rows.values, squares)
    return squares


class DualSolver:
    """The problem of ``rows``, and where its solution stands; every row has a term, and none has a slot twice.

    ``label``, ``cost`` (importance, above 0) and ``base`` (initial prediction) float64[rows]; the columns of the rows
    are below ``slots``. ``a`` float64[rows] and ``w`` float64[slots] are the solution, ``prediction`` float64[rows] is
    what the weights said when ``evaluate`` was called last. The initial prediction is part of it.
    """

    max_sweeps = MAX_SWEEPS
    separable: bool | None = None  # whether a plane parts the classes, where that was asked for and is known

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
        self.loss, self.l2, self.tube = LOSSES.index(name), config.l2 or 1.0, config.loss.tube
        self.square = squares_of(rows) / self.l2
        self.w, self.prediction = np.zeros(slots), np.zeros(len(rows))
        self.a = START * cost if name == "logistic" else np.zeros(len(rows))
        self.steps = len(rows)  # of a pass
        self.order, self.active = np.arange(len(rows), dtype=np.uint32), len(rows)
        self.sweeps = 0
        kernel.sum_weights(self)

    def evaluate(self) -> Objective:
        loss, dual, square, self.active = kernel.evaluate(self, self.prediction)
        half = self.l2 / 2 * square
        return Objective(half + loss, dual - half, math.sqrt(square), int(self.support.sum()), int(self.bound.sum()))

    @property
    def support(self) -> np.ndarray:
        """bool[rows]: whether a_i is not 0."""
        return np.abs(self.a) > ROUNDING * np.minimum(self.cost, max(self.a.max(), 1.0))

    @property
    def bound(self) -> np.ndarray:
        """bool[rows]: whether a_i is as large as it may be."""
        full = np.abs(self.a) >= (1 - ROUNDING) * self.cost
        return full if LOSSES[self.loss] in BOUNDED else np.zeros(len(full), bool)

    @property
    def of_residuals(self) -> bool:
        return LOSSES[self.loss] in OF_RESIDUALS

    @property
    def margin(self) -> np.ndarray:
        """float64[rows]: y p of what was predicted last, or y - p."""
        return self.label - self.prediction if self.of_residuals else self.label * self.prediction

    def run_pass(self) -> None:
        """Make the steps of a pass: sweeps over the rows that had not settled when ``evaluate`` was called last.

        Raises Interrupted.
        """
        steps, before = 0, self.sweeps
        while steps < self.steps or self.sweeps < before + SWEEPS:
            steps += max(self.active, self.steps // self.max_sweeps, 1)
            self.sweep()

    def sweep(self) -> None:
        """A step for each of these rows."""
        seed = (self.config.random_seed * 2**32 + self.sweeps) * MIX % 2**64
        kernel.sweep(self, self.active, seed, STOP)
        self.sweeps += 1
        raise_if_stopped()

    def solve(self, tell: Callable[[int, Objective], None]) -> tuple[Objective, int]:
        """Pass after pass until the gap is small enough; answers where it ended, and after how many passes.

        ``tell`` hears of every pass. What is answered is of weights that are summed anew from all a_i. Raises
        Interrupted.
        """
        number, ended = 0, False
        while not ended:
            self.run_pass()
            number, objective = number + 1, self.evaluate()
            if number == self.passes or self.is_done(objective):
                kernel.sum_weights(self)
                objective = self.evaluate()
                ended = number == self.passes or self.is_done(objective)
            tell(number, objective)
        return objective, number

    def is_done(self, found: Objective) -> bool:
        return found.gap <= self.config.gap


class HardMargin(DualSolver):
    """The same without bounds of a_i: 1 / |w| is the largest margin of a plane through 0 that parts the classes.

    The least margin of the weights found is made 1, where they part the classes at all. These are not separable where
    a_i of 0 or more have a sum of 0 of a_i y_i x_i (Gordan's theorem).
    """

    max_sweeps = FREE_SWEEPS

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
        """As ``DualSolver``, whose ``cost`` and ``base`` do not matter."""
        free = np.full(len(cost), math.inf)
        super().__init__(rows, label, free, np.zeros(len(base)), config, slots=slots, passes=passes)
        self.steps = max(len(rows), STEPS)
        self.lengths = np.sqrt(self.square * self.l2)

    def evaluate(self) -> Objective:
        """The primal is that of the weights with a least margin of 1, the dual that of the best multiple of all a_i."""
        _, _, square, self.active = kernel.evaluate(self, self.prediction)
        half, margin = self.l2 / 2 * square, float((self.label * self.prediction).min())
        total = float(self.a.sum())
        self.separable = True if margin > 0 else None
        if self.l2 * math.sqrt(square) < TOUCHING * float(self.a @ self.lengths):
            self.separable = False
        primal = half / margin**2 if margin > 0 else math.inf
        norm = math.sqrt(square) / margin if margin > 0 else 0.0
        return Objective(primal, total**2 / (4 * half) if half else 0.0, norm, int(self.support.sum()), 0)

    def is_done(self, found: Objective) -> bool:
        return self.separable is False or super().is_done(found)

    def solve(self, tell: Callable[[int, Objective], None]) -> tuple[Objective, int]:
        solution = super().solve(tell)
        if self.separable:
            margin = float((self.label * self.prediction).min())
            for values in (self.w, self.a, self.prediction):
                values /= margin
        return solution
