"""The structured hinge loss with an L2 penalty, by steps for one sequence at a time that are best for the dual."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import structured_losses
from vwlite.data.shuffle import order_of
from vwlite.errors import Diverged
from vwlite.learners.base import NO_MEMORY
from vwlite.solvers.loglinear.config import COSTS, L1Config
from vwlite.solvers.loglinear.problems import Chains, unless_stopped
from vwlite.storage.model_file import numbers


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
    """What the steps of a loss need beside weights and the longest sequence, at most: arrays of ``Difference`` in
    worst_labels.pxd, and of ``Dual`` in structured_losses.pyx.
    """
    if config.loss == "log":
        return 0.0
    return 17.0 * chains.weights + (ROOM * (4.0 * len(chains.label) + 8.0 * chains.examples) if config.dual else 0.0)


def of_loss(chains: Chains, config: L1Config) -> Chains:
    """The same sequences with the loss of ``config``."""
    if config.loss == "log":
        return chains
    return Structured(
        chains.pairs, chains.sequence, chains.state, chains.edge, chains.label, chains.weight, chains.tree,
        rule=rule_of(config),
    )


CHUNK = 1 << 14  # steps between looks at signals
ROOM = 64  # label sequences that are kept of each sequence, at most


class FrankWolfe:
    """``weights`` float64[weights] are those of the dual variables of ``cython_ext/solvers/structured_losses.pyx``.

    They begin at the true labels, with no weight but 0. ``label`` int32[ROOM, tokens], ``share`` float64[examples,
    ROOM] and ``cost`` float64[examples] are as in ``Dual`` there.
    """

    def __init__(self, config: L1Config, problem: Chains, rows: np.ndarray) -> None:
        self.config, self.problem, self.rows, self.passes = config, problem, rows, 0
        self.weights = np.zeros(problem.weights)
        self.label = np.zeros((ROOM, len(problem.label)), np.int32)
        self.label[0] = problem.label
        self.share = np.full((problem.examples, ROOM), -1.0)
        self.share[:, 0] = 1
        self.cost = np.zeros(problem.examples)

    @property
    def dual(self) -> float:
        """What the objective, which is minimised, cannot be below."""
        return float(self.cost.sum() - self.config.l2 / 2 * (self.weights @ self.weights))

    def run_pass(self) -> None:
        """Steps for each of the rows. Raises Diverged, MemoryError."""
        config, order = self.config, self.rows
        if config.shuffle:
            order = self.rows[order_of(len(self.rows), config.seed, self.passes)]
        state = self.weights, self.label, self.share, self.cost
        for first in range(0, len(order), CHUNK):
            part = order, rule_of(config).cost, config.l2, first, min(first + CHUNK, len(order))
            done = structured_losses.dual_steps(self.problem, self.problem.pairs, *state, *part)
            if unless_stopped(done) == NO_MEMORY:
                raise MemoryError("a sequence is too long for the memory there is")
        if not np.isfinite(self.weights).all():
            raise Diverged(f"pass {self.passes + 1}: the weights are not finite numbers; scale the features")
        self.passes += 1

    def state(self) -> dict[str, np.ndarray]:
        """Copies of what ``restore`` takes."""
        used = int((self.share >= 0).sum(axis=1).max())
        label, share = self.label[:used].copy(), self.share[:, :used].copy()
        return {"weights": self.weights.copy(), "label": label, "share": share, "cost": self.cost.copy()}

    @staticmethod
    def check(arrays: Mapping[str, Any], problem: Chains) -> None:
        """Raises KeyError, ValueError for what is no ``state`` of the problem."""
        numbers(arrays, "weights", np.float64, (problem.weights,))
        numbers(arrays, "cost", np.float64, (problem.examples,))
        label = numbers(arrays, "label", np.int32, (-1, len(problem.label)))
        numbers(arrays, "share", np.float64, (problem.examples, len(label)))
        labels, true = problem.pairs.labels, problem.label
        known = label[:, (true >= 0) & (true < labels)]
        if not 0 < len(label) <= ROOM or (known < 0).any() or (known >= labels).any():
            raise ValueError("the array label")

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from a ``state`` that has been checked."""
        used = len(arrays["label"])
        self.weights[:], self.cost[:] = arrays["weights"], arrays["cost"]
        self.label[:used], self.share[:, :used] = arrays["label"], arrays["share"]
