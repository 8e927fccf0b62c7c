"""Label sequences whose loss is that of the best sequence, not of the sum over all."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import structured_losses
from vwlite.solvers.loglinear.config import COSTS, L1Config
from vwlite.solvers.loglinear.problems import Chains, obeyed


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
        return obeyed(structured_losses.steps(self, self.pairs, table, order, schedule, self.rule, first, last))

    def value(self, weights: np.ndarray, rows: np.ndarray) -> float:
        return -obeyed(structured_losses.losses(self, self.pairs, weights, rows, self.rule.cost))


def bytes_of(config: L1Config, chains: Chains) -> float:
    """What the steps of a loss need beside weights and the longest sequence: arrays of ``Difference`` in
    label_difference.pxd, and of ``Dual`` in frank_wolfe.pyx.
    """
    if config.loss == "log":
        return 0.0
    tokens, labels = len(chains.label), float(chains.pairs.labels)
    ways = tokens if chains.edge is not None else chains.examples
    return 17 * chains.weights + (8 * labels * (tokens + labels * ways) if config.l2 else 0.0)


def of_loss(chains: Chains, config: L1Config) -> Chains:
    """The same sequences with the loss of ``config``."""
    if config.loss == "log":
        return chains
    return Structured(
        chains.pairs, chains.sequence, chains.state, chains.edge, chains.label, chains.weight, chains.tree,
        rule=rule_of(config),
    )
