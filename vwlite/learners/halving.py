"""Steps of batch optimisation as Vowpal Wabbit takes them: halved where the loss did not fall as the slope promised."""

from __future__ import annotations

import numpy as np

from vwlite.learners.gd import CONSTANT
from vwlite.learners.quasi_newton import Pair, Problem, dot, two_loops

MIN_DECREASE = 0.01  # of the loss, as a share of what the slope promises (Wolfe's first condition)
MAX_RATIO = 1e4  # of the preconditioner's largest to its smallest entry
NO_CURVATURE = "the curvature is not positive: more regularisation (--l2) or other scales of features would help"


class Halving:
    """What the passes of ``learner`` are for, and where its weights go between them."""

    measured = True

    def __init__(self, learner: Problem) -> None:
        self.learner, self.config = learner, learner.config
        self.previous_loss, self.step = 0.0, 0.0
        self.last: Pair | None = None  # weights and gradient one step ago
        self.pairs: list[Pair] = []  # their differences, the latest first

    def begin_pass(self) -> None:
        """Weights have moved when the pass before ended."""

    def end_pass(self) -> bool:
        """Answers whether to go on."""
        after_step = self.learner.gradient and not self.learner.first
        return self.step_back_or_on() if after_step else self.step_first_or_along()

    def column(self, number: int) -> np.ndarray:
        return self.learner.weights[:, number]

    def regularize(self) -> None:
        """Add the regularisation to gradient and loss."""
        if self.config.l2:
            w = self.column(0)
            self.learner.weights[:, 1] += np.float32(self.config.l2) * w
            self.learner.sums[0] += 0.5 * self.config.l2 * dot(w, w)
            if self.config.no_bias_regularization:  # but for the curvature and the preconditioner, as in vw
                constant = self.learner.weights[CONSTANT % len(w)]
                constant[1] -= np.float32(self.config.l2) * constant[0]
                self.learner.sums[0] -= 0.5 * self.config.l2 * float(constant[0]) ** 2

    def begin_row(self) -> None:
        g, sums = self.column(1), self.learner.sums
        size, conditioned = dot(g, g) / sums[1] ** 2, dot(g, g, self.column(3)) / sums[1]
        self.learner.begin_row(sums[0] / sums[1], size, conditioned)

    def move(self, length: float) -> None:
        self.learner.weights[:, 0] += np.float32(length) * self.column(2)

    def remember(self) -> None:
        """The weights and the gradient of now; the next pass takes a new gradient."""
        self.last = self.column(0).copy(), self.column(1).copy()
        self.learner.weights[:, 1] = 0

    def step_first_or_along(self) -> bool:
        """After the first gradient, or a pass for the curvature along the direction. Answers whether to go on."""
        if not self.learner.first:
            return self.step_along()
        self.precondition()
        self.regularize()
        with np.errstate(all="ignore"):
            self.begin_row()
        self.learner.line += " " * 10 + ("\t" + " " * 10) * 2 + "\t"
        self.learner.weights[:, 2] = -self.column(3) * self.column(1)
        self.previous_loss, self.learner.sums[0], self.learner.sums[2] = self.learner.sums[0], 0.0, 0.0
        self.remember()
        # as in vw, where all but the regularisation is lost after the first pass
        self.learner.weights[:, 3] = 1 / self.config.l2 if self.config.l2 else 0
        self.learner.gradient = False
        return True

    def precondition(self) -> None:
        diagonal = self.column(3)
        diagonal += np.float32(self.config.l2)
        largest = float(diagonal.max())
        bound = np.float32(MAX_RATIO / largest if largest else 0)
        with np.errstate(divide="ignore"):
            self.learner.weights[:, 3] = np.where(diagonal > 0, np.minimum(1 / diagonal, bound), 0)

    def step_along(self) -> bool:
        """A step as long as slope and curvature in the direction say."""
        direction = self.column(2)
        curvature = self.learner.sums[2] + self.config.l2 * dot(direction, direction)
        slope = dot(self.last[1], direction)
        going_on = curvature != 0 and slope != 0
        self.step = -slope / curvature if going_on else 0.0
        self.move(self.step)
        length = dot(direction, direction)
        self.learner.tell(f"{curvature / self.learner.sums[1]:<10.5f}\t{length:<10.5f}\t{self.step:.5f}")
        if not going_on:
            self.learner.say("note: the gradient is 0" if slope == 0 else f"note: {NO_CURVATURE}")
        self.learner.sums[0] = self.learner.sums[2] = 0.0
        self.learner.gradient = True
        return going_on

    def step_back_or_on(self) -> bool:
        """After the gradient at a step's end: half of it where the loss did not fall as it should, else the next."""
        self.regularize()
        self.begin_row()
        loss, slope = self.learner.sums[0], dot(self.last[1], self.column(2))
        with np.errstate(all="ignore"):
            wolfe = np.float64(loss - self.previous_loss) / (self.step * slope)
            other = np.float64(dot(self.column(1), self.column(2))) / slope
        self.learner.line += f" {wolfe:<10f}\t{other:<10f}\t"
        self.learner.sums[0] = self.learner.sums[2] = 0.0
        if np.isnan(wolfe):
            self.learner.tell("")
            self.learner.say("note: the gradient is 0")
            self.step = 0.0
            return False
        if wolfe < MIN_DECREASE or loss > self.previous_loss:
            self.move(-self.step / 2)
            self.step /= 2
            self.learner.tell(f"{'':10}\t(revise x 0.5)\t{self.step:.5f}")
            self.learner.weights[:, 1] = 0
            return True
        enough = abs(self.previous_loss - loss) / self.previous_loss < self.config.termination
        self.previous_loss, self.step = loss, 1.0
        going_on = self.turn() and not enough
        if self.config.curved and going_on:
            self.learner.gradient = False
        elif not self.config.curved:
            self.learner.tell(f"{'':10}\t{dot(self.column(2), self.column(2)):<10.5f}\t{self.step:.5f}")
            self.move(self.step)
        if not going_on and not enough:
            self.learner.say(f"note: {NO_CURVATURE}")
        if enough:
            share = f"{self.config.termination:.3%}"
            self.learner.say(f"note: the loss fell by less than {share}; --termination asks for more")
        return going_on

    def turn(self) -> bool:
        """The next direction; False, and no step, where there is none."""
        if self.config.memory == 0:
            self.turn_conjugate()
            return True
        w, g, diagonal = self.column(0), self.column(1), self.column(3)
        pair = w - self.last[0], g - self.last[1]
        self.learner.line += " " * 10 + "\t"
        self.learner.weights[:, 2] = g
        both, conditioned = dot(*pair), dot(pair[1], pair[1], diagonal)
        if both <= 0 or conditioned <= 0:
            self.step = 0.0
            return False
        self.pairs = [pair, *self.pairs[: self.config.memory - 1]]
        self.learner.weights[:, 2] = -two_loops(g.astype(np.float64), both / conditioned * diagonal, self.pairs)
        self.remember()
        return True

    def turn_conjugate(self) -> None:
        g, diagonal, before = self.column(1), self.column(3), self.last[1]
        with np.errstate(all="ignore"):
            share = np.float64(dot(g, g - before, diagonal)) / dot(before, before, diagonal)
        share = share if share > 0 else 0.0
        self.learner.weights[:, 2] = np.float32(share) * self.column(2) - diagonal * g
        self.learner.line += f"{share:f}\t"
        self.remember()
