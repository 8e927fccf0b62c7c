"""The structured hinge loss with an L2 penalty, by steps for one sequence at a time that are best for the dual."""

import numpy as np

from vwlite._native import frank_wolfe
from vwlite.data.shuffle import order_of
from vwlite.errors import Diverged
from vwlite.learners.base import NO_MEMORY
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.problems import Chains, obeyed
from vwlite.solvers.loglinear.structured import rule_of

CHUNK = 1 << 14  # steps between looks at signals


class FrankWolfe:
    """``weights`` float64[weights] are those of the dual variables, as ``cython_ext/solvers/frank_wolfe.pyx`` has them.

    They begin at the true labels, with no weight but 0.
    """

    STATE = ("weights", "node", "way", "loss")

    def __init__(self, config: L1Config, problem: Chains, rows: np.ndarray) -> None:
        self.config, self.problem, self.rows, self.passes = config, problem, rows, 0
        self.cost = rule_of(config).cost
        self.weights = np.zeros(problem.weights)
        self.loss = np.zeros(problem.examples)
        labels, true = problem.pairs.labels, problem.label
        self.node = np.zeros((len(true), labels))
        known = np.flatnonzero((true >= 0) & (true < labels))
        self.node[known, true[known]] = 1
        self.way = np.zeros((len(true) if problem.edge is not None else problem.examples, labels**2))
        self.begin_transitions()

    def begin_transitions(self) -> None:
        """Counts those of the true labels."""
        problem, labels, token = self.problem, self.problem.pairs.labels, self.problem.before
        sequence = np.repeat(np.arange(problem.examples), np.diff(problem.sequence))
        before = np.where(token >= 0, problem.label[token], -1)
        inner = np.flatnonzero((before >= 0) & (problem.label >= 0))
        row = inner if problem.edge is not None else sequence[inner]
        np.add.at(self.way, (row, before[inner] * labels + problem.label[inner]), 1)

    @property
    def dual(self) -> float:
        """What the objective, which is minimised, cannot be below."""
        return float(self.loss.sum() - self.config.l2 / 2 * (self.weights @ self.weights))

    def run_pass(self) -> None:
        """A step for each of the rows. Raises Diverged, MemoryError."""
        config, order = self.config, self.rows
        if config.shuffle:
            order = self.rows[order_of(len(self.rows), config.seed, self.passes)]
        state = (self.weights, self.node, self.way, self.loss)
        for first in range(0, len(order), CHUNK):
            last = min(first + CHUNK, len(order))
            done = frank_wolfe.steps(self.problem, self.problem.pairs, *state, order, self.cost, config.l2, first, last)
            if obeyed(done) == NO_MEMORY:
                raise MemoryError("a sequence is too long for the memory there is")
        if not np.isfinite(self.weights).all():
            raise Diverged(f"pass {self.passes + 1}: the weights are not finite numbers; scale the features")
        self.passes += 1
