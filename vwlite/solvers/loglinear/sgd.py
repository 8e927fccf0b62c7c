"""Stochastic gradient steps with an L1 penalty, or an L2 one."""

import math
from dataclasses import dataclass

import numpy as np

from vwlite._native.logistic_l1 import settle_table
from vwlite.data.shuffle import order_of
from vwlite.errors import Diverged
from vwlite.learners.base import NO_MEMORY, UNSTABLE
from vwlite.solvers.loglinear.config import PENALTIES, RATES, L1Config
from vwlite.solvers.loglinear.norms import norm_of
from vwlite.solvers.loglinear.problems import Problem
from vwlite.solvers.loglinear.stages import EVERYTHING, Stages

CHUNK = 1 << 14  # steps between looks at signals


@dataclass(slots=True)
class Schedule:
    """Step sizes and penalties of one pass, in the words of ``cython_ext/solvers/l1_penalties.pxd``."""

    penalty: int
    rate: int
    start: float
    decay: float
    begin: float  # passes before
    examples: float  # of the pass
    share: float  # C / N, or lambda / N, of a step
    cumulative_penalty: float  # u
    mean_begins: float  # update of the pass that the mean begins with; infinite: there is no mean


class Sgd:
    """``table`` float64[2, weights]: weights, and what they remember of penalties; ``cumulative_penalty`` is u_k."""

    def __init__(
        self,
        config: L1Config,
        table: np.ndarray,
        cumulative_penalty: float = 0.0,
        passes: int = 0,
        stages: Stages = EVERYTHING,
    ) -> None:
        self.config, self.table, self.cumulative_penalty, self.passes = config, table, cumulative_penalty, passes
        self.stages = stages
        self.number, self.steps = 0, 0  # passes and steps since ``begin``
        self.before_mean, self.averaged = 0, 0  # steps before the mean, in it

    def begin(self, examples: int) -> None:
        """The passes begin, over so many examples."""
        config = self.config
        if config.penalty_applied == "none":
            self.table[1] = 0
        if config.averaged:
            self.before_mean = config.steps_before_mean(self.stages.steps(config.most_passes, self.places(examples)))

    def places(self, examples: int) -> np.ndarray:
        """int64[examples], in the order of the next pass."""
        if self.config.shuffle:
            return order_of(examples, self.config.seed, self.passes)
        return np.arange(examples, dtype=np.int64)

    @property
    def weights(self) -> np.ndarray:
        """float64[weights]: the very ones, or their mean."""
        return self.table[0] - self.table[1] / self.averaged if self.averaged else self.table[0]

    def kept(self, *, copy: bool = False) -> np.ndarray:
        """float64[2, weights]: the table that a model has; of a mean that and the last weights."""
        if self.config.averaged:
            return np.stack([self.weights, self.table[0]])
        return self.table.copy() if copy else self.table

    @property
    def penalty_code(self) -> int:
        config = self.config
        if config.l2:
            return len(PENALTIES) + 1
        return len(PENALTIES) if config.group else PENALTIES.index(config.penalty_applied)

    def schedule(self, steps: int, share: float) -> Schedule:
        """Of a pass of so many steps, each of which brings ``share`` of the penalty."""
        config = self.config
        return Schedule(
            self.penalty_code,
            RATES.index(config.rate),
            config.initial_learning_rate,
            config.decay,
            float(self.passes),
            float(steps),
            share,
            self.cumulative_penalty,
            float(self.before_mean - self.steps) if config.averaged else math.inf,
        )

    def run_pass(self, problem: Problem, rows: np.ndarray) -> None:
        """A step for each of ``rows``, int64[examples], that takes part; in the end every weight receives what is
        outstanding.

        Raises Diverged, MemoryError.
        """
        self.number += 1
        stage = self.stages.stage(self.number, self.places(len(rows)))
        problem, order = stage.of(problem, rows)
        share = (self.config.l2 or self.config.strength) / len(rows) * stage.mean_weight
        for first in range(0, len(order), CHUNK):
            schedule = self.schedule(len(order), share)
            last = min(first + CHUNK, len(order))
            status, self.cumulative_penalty = problem.steps(self.table, order, schedule, first, last)
            if status == NO_MEMORY:
                raise MemoryError("a sequence is too long for the memory there is")
            if status == UNSTABLE:
                raise Diverged(self.sentence())
        self.settle(problem, self.schedule(max(len(order), 1), share))
        if not np.isfinite(self.table).all():
            raise Diverged(self.sentence())
        self.passes += 1
        self.steps += len(order)
        self.averaged = max(0, self.steps - self.before_mean) if self.config.averaged else 0

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
