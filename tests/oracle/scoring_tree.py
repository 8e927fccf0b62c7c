"""Scoring filter trees in float64: each contest is an example of two classes for the difference of two scores."""

from dataclasses import dataclass, field

import numpy as np

from .dyadic import Row, merged
from .dyadic_flow import Flow, Loss, Term
from .lfl import Lfl


@dataclass
class ScoringTree(Lfl):
    """The parameters are those of ``Lfl``."""

    loss: Loss = field(default_factory=lambda: Loss("hinge"))

    def contest(self, row: Row, left: int, right: int, label: float) -> Flow:
        """The flow of the margin. A score that is taken away is one whose second vectors have the other sign."""
        linear, x2 = self.linear(row)
        terms = []
        for one in self.terms(row):
            terms += [one[left], Term(one[right].alpha, one[right].xa, -one[right].beta, one[right].xb)]
        return Flow(terms, float(linear[left] - linear[right]), 2 * x2, self.rate, self.l2, self.loss, label)

    def learn_contest(self, row: Row, left: int, right: int, label: float, h: float) -> None:
        flow = self.contest(row, left, right, label)
        s, used = flow.solve(h)
        for slot, x in merged(row.linear).items():
            self.w[slot] = self.w[slot].copy()
            self.w[slot][left] -= s * x
            self.w[slot][right] += s * x
        for at, (pair, sides) in enumerate(self.merged_sides(row)):
            for term, place, sign in ((flow.terms[2 * at], left, 1), (flow.terms[2 * at + 1], right, -1)):
                alpha, beta = term.moved(s, flow.damping(used))
                for side, moved in enumerate((alpha, sign * beta)):
                    for slot, vector in zip(sides[side], moved, strict=True):
                        self.latent[pair, side, slot] = self.latent[pair, side, slot].copy()
                        self.latent[pair, side, slot][place] = vector

    def merged_sides(self, row: Row) -> list:
        """Of every dot product the number of the pair and the slots of both sides."""
        result = [(pair, [*map(merged, sides)]) for pair, sides in enumerate(row.pairs)]
        return [(pair, sides) for pair, sides in result if all(sides)]

    def learn(self, row: Row, costs: np.ndarray, h: float = 1.0) -> np.ndarray:
        """Moves the parameters; returns the scores made before."""

        def learned(left, right):
            apart = costs[left] - costs[right]
            if apart and np.isfinite(apart):
                self.learn_contest(row, left, right, 1.0 if apart < 0 else -1.0, abs(apart) * h)
            return self.scores(row)

        before = self.scores(row)
        champion(len(before), learned)
        return before


def champion(classes: int, scores_in) -> int:
    """Who wins a tournament in which ``scores_in(left, right)`` gives the scores of a contest; leaves come first."""
    winner = {classes + number: number for number in range(classes)}
    for node in range(classes - 1, 0, -1):
        left, right = winner[2 * node], winner[2 * node + 1]
        scores = scores_in(left, right)
        winner[node] = max((left, right), key=lambda one: (scores[one], -one))
    return winner[1]
