"""Stochastic gradient steps with an L1 penalty."""

from dataclasses import dataclass

import numpy as np

from vwlite._native.logistic_l1 import settle_table
from vwlite.data.shuffle import order_of
from vwlite.errors import Diverged
from vwlite.learners.base import NO_MEMORY, UNSTABLE
from vwlite.solvers.loglinear.config import PENALTIES, RATES, L1Config
from vwlite.solvers.loglinear.norms import norm_of
from vwlite.solvers.loglinear.problems import Problem

CHUNK = 1 << 14  # steps between looks at signals


@dataclass(slots=True)
class Schedule:
    """Step sizes and penalties of one pass, in the words of ``cython_ext/solvers/l1_penalties.pxd``."""

    penalty: int
    rate: int
    start: float
    decay: float
    begin: float  # passes before
    examples: float  # N
    share: float  # C / N
    cumulative_penalty: float  # u
    before_mean: float  # updates before the mean begins; below 0: there is no mean


class Sgd:
    """``table`` float64[2, weights]: weights, and what they remember of penalties; ``cumulative_penalty`` is u_k."""

    def __init__(self, config: L1Config, table: np.ndarray, cumulative_penalty: float = 0.0, passes: int = 0) -> None:
        self.config, self.table, self.cumulative_penalty, self.passes = config, table, cumulative_penalty, passes
        self.before_mean, self.averaged = -1, 0  # updates before the mean, in it

    def begin(self, examples: int) -> None:
        """The passes begin, over so many examples."""
        config = self.config
        if config.penalty_applied == "none":
            self.table[1] = 0
        if config.averaged:
            self.before_mean = self.passes * examples + config.steps_before_mean(examples)

    @property
    def weights(self) -> np.ndarray:
        """float64[weights]: the very ones, or their mean."""
        return self.table[0] - self.table[1] / self.averaged if self.averaged else self.table[0]

    def kept(self, *, copy: bool = False) -> np.ndarray:
        """float64[2, weights]: the table that a model has; of a mean that and the last weights."""
        if self.config.averaged:
            return np.stack([self.weights, self.table[0]])
        return self.table.copy() if copy else self.table

    def schedule(self, examples: int) -> Schedule:
        config = self.config
        return Schedule(
            len(PENALTIES) if config.group else PENALTIES.index(config.penalty_applied),
            RATES.index(config.rate),
            config.initial_learning_rate,
            config.decay,
            float(self.passes),
            float(examples),
            config.strength / examples,
            self.cumulative_penalty,
            float(self.before_mean),
        )

    def run_pass(self, problem: Problem, rows: np.ndarray) -> None:
        """A step for each of ``rows``, int64[examples]; in the end every weight receives what is outstanding.

        Raises Diverged, MemoryError.
        """
        order = rows
        if self.config.shuffle:
            order = rows[order_of(len(rows), self.config.seed, self.passes)]
        for first in range(0, len(order), CHUNK):
            schedule = self.schedule(len(order))
            last = min(first + CHUNK, len(order))
            status, self.cumulative_penalty = problem.steps(self.table, order, schedule, first, last)
            if status == NO_MEMORY:
                raise MemoryError("a sequence is too long for the memory there is")
            if status == UNSTABLE:
                raise Diverged(self.sentence())
        self.settle(problem, self.schedule(len(order)))
        if not np.isfinite(self.table).all():
            raise Diverged(self.sentence())
        self.passes += 1
        self.averaged = max(0, self.passes * len(order) - self.before_mean) if self.config.averaged else 0

    def settle(self, problem: Problem, schedule: Schedule) -> None:
        """What is outstanding in the end."""
        if not self.config.group:
            settle_table(self.table, schedule)
            return
        weights, memory = self.table
        unpenalised = weights - memory
        weights[:] = norm_of(self.config, problem).shrunk(unpenalised, schedule.cumulative_penalty)
        memory[:] = weights - unpenalised

    def sentence(self) -> str:
        return (
            f"pass {self.passes + 1}: the weights are not finite numbers; "
            "try a smaller learning rate (-l) or scale the features"
        )
