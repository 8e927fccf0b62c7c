"""The structured hinge loss with an L2 penalty, by steps for one sequence at a time that are best for the dual."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import structured_losses
from vwlite.data.shuffle import order_of
from vwlite.errors import Diverged
from vwlite.learners.base import NO_MEMORY
from vwlite.solvers.loglinear.config import COSTS, L1Config
from vwlite.solvers.loglinear.problems import Chains, unless_stopped


class Rule(NamedTuple):
    """Losses and step sizes, in the words of ``cython_ext/solvers/structured_losses.pyx``."""

    cost: int
    margin: bool
    most: float


def rule_of(config: L1Config) -> Rule:
    cost = 0 if config.loss == "perceptron" else 1 + COSTS.index(config.cost_applied)
    return Rule(cost, config.loss == "margin", config.aggressiveness if config.loss == "mira" else 0.0)


@dataclass(slots=True)
class Structured(Chains):
    """Chains that learn by ``rule``; probabilities, and what needs them, are those of ``Chains``."""

    rule: Rule = field(kw_only=True)

    def steps(self, table: np.ndarray, order: np.ndarray, schedule: Any, first: int, last: int) -> tuple[int, float]:
        return unless_stopped(structured_losses.steps(self, self.pairs, table, order, schedule, self.rule, first, last))

    def value(self, weights: np.ndarray, rows: np.ndarray) -> float:
        return -unless_stopped(structured_losses.losses(self, self.pairs, weights, rows, self.rule.cost))


def bytes_of(config: L1Config, chains: Chains) -> float:
    """What the steps of a loss need beside weights and the longest sequence: arrays of ``Difference`` in
    worst_labels.pxd, and of ``Dual`` in structured_losses.pyx.
    """
    if config.loss == "log":
        return 0.0
    tokens, labels = len(chains.label), float(chains.pairs.labels)
    ways = tokens if chains.edge is not None else chains.examples
    return 17 * chains.weights + (8 * labels * (tokens + labels * ways) if config.dual else 0.0)


def of_loss(chains: Chains, config: L1Config) -> Chains:
    """The same sequences with the loss of ``config``."""
    if config.loss == "log":
        return chains
    return Structured(
        chains.pairs, chains.sequence, chains.state, chains.edge, chains.label, chains.weight, chains.tree,
        rule=rule_of(config),
    )


CHUNK = 1 << 14  # steps between looks at signals


class FrankWolfe:
    """``weights`` float64[weights] are those of the dual variables of ``cython_ext/solvers/structured_losses.pyx``.

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
            part = order, self.cost, config.l2, first, last
            done = structured_losses.dual_steps(self.problem, self.problem.pairs, *state, *part)
            if unless_stopped(done) == NO_MEMORY:
                raise MemoryError("a sequence is too long for the memory there is")
        if not np.isfinite(self.weights).all():
            raise Diverged(f"pass {self.passes + 1}: the weights are not finite numbers; scale the features")
        self.passes += 1
