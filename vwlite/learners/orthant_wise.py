"""Steps of batch optimisation with a penalty on absolute weights: OWL-QN (Andrew and Gao, ICML 2007)."""

from __future__ import annotations

import numpy as np

from vwlite.learners.line_search import LineSearch
from vwlite.learners.quasi_newton import Pair, two_loops
from vwlite.learners.wolfe import BLANK, Wolfe


def pseudo_gradient(weights: np.ndarray, gradient: np.ndarray, penalty: float) -> np.ndarray:
    """Of f(w) + penalty |w|, by equation 4: the one-sided slope of steepest descent; 0 where neither side descends."""
    right, left = gradient + penalty, gradient - penalty
    at_zero = np.where(right < 0, right, np.where(left > 0, left, 0.0))
    return np.where(weights > 0, right, np.where(weights < 0, left, at_zero))


class OrthantWise(Wolfe):
    """Steps that halve until the objective falls enough; no weight changes its sign in one. Gradients are those of
    ``pseudo_gradient``; only the differences between steps are of the smooth part.
    """

    smooth: np.ndarray  # the gradient of the loss alone, where the last pass was
    smooth_at_start: np.ndarray

    def begin_pass(self) -> None:
        if self.moving:
            weights, gradient = self.start
            orthant = np.where(weights != 0, np.sign(weights), -np.sign(gradient))
            moved = weights + self.step * self.direction
            self.learner.weights[self.slots, 0] = np.where(moved * orthant > 0, moved, 0)
            self.moving = False

    def gather(self) -> tuple[float, Pair]:
        loss, (weights, self.smooth) = super().gather()
        penalty = self.config.l1
        return loss + penalty * float(np.abs(weights).sum()), (weights, pseudo_gradient(weights, self.smooth, penalty))

    def judge(self, search: LineSearch, loss: float, here: Pair) -> bool:
        learner, moved = self.learner, here[0] - self.start[0]
        promised, slope = float(self.start[1] @ moved), float(here[1] @ moved)
        share = (loss - search.loss) / promised if promised else 0.0
        learner.line += f" {share:<10f}\t{BLANK}\t"
        self.measured = promised < 0 and LineSearch(search.loss, promised, self.least).falls(1.0, loss, slope)
        if self.measured:
            return self.stay(search.loss, loss, here)
        learner.weights[self.slots, 0] = self.start[0]
        if -promised <= learner.standstill * abs(loss):
            return self.give_up()
        self.step, self.moving = self.step / 2, True
        learner.tell(f"{BLANK}\t(revised)\t{self.step:.5f}")
        return True

    def turn(self, loss: float, here: Pair) -> bool:
        weights, gradient = here
        if self.search is not None:
            self.remember(weights - self.start[0], self.smooth - self.smooth_at_start)
        self.start, self.smooth_at_start, self.least = here, self.smooth, min(self.least, loss)
        self.learner.line += f"{BLANK}\t"
        if not self.pairs:
            return self.set_out(-self.diagonal * gradient, loss)
        direction = -two_loops(gradient.copy(), self.scale * self.diagonal, self.pairs)
        return self.set_out(np.where(direction * gradient < 0, direction, 0), loss)
