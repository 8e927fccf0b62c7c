"""The inverse Hessian's estimate from the last steps (Nocedal 1980, the recursion of section 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from vwlite.errors import DataError, Diverged

Pair = tuple[np.ndarray, np.ndarray]  # differences of weights and of gradients


class Problem(Protocol):
    """The interface of a problem to optimise: ``vwlite.learners.bfgs.Bfgs``, where its members are described."""

    config: Any
    weights: np.ndarray
    vectors: np.ndarray
    sums: np.ndarray
    gradient: bool
    first: bool
    line: str
    standstill: float

    def begin_row(self, loss: float, size: float, conditioned: float) -> None: ...
    def tell(self, text: str) -> None: ...
    def say(self, text: str) -> None: ...


def dot(one: np.ndarray, other: np.ndarray, diagonal: np.ndarray | None = None) -> float:
    """In float64, of ``one`` and ``diagonal`` times ``other``."""
    arrays = (one, other) if diagonal is None else (one, other, diagonal)
    return float(np.einsum("i,i" if diagonal is None else "i,i,i", *(array.astype(np.float64) for array in arrays)))


def two_loops(q: np.ndarray, diagonal: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """The estimate times ``q``, float64, which changes.

    ``diagonal`` is the estimate without ``pairs``, the latest of which is the first.
    """
    shares = []
    for step, change in pairs:
        share = dot(step, q) / dot(step, change)
        shares.append(share)
        q -= share * change
    q *= diagonal
    for (step, change), share in zip(pairs[::-1], shares[::-1], strict=True):
        q += (share - dot(change, q) / dot(step, change)) * step
    return q


MIN_DECREASE = 1e-4  # of the loss, as a share of what the slope promises
MAX_SLOPE = 0.9  # that may be left at a step's end, as a share of that at its beginning
NOISE = 1e-7  # of a loss, relatively: losses of examples are of single precision


class LineSearch:
    """The bracket of a line search: at ``low`` the loss has fallen as it should, at ``high`` it has not."""

    def __init__(self, loss: float, slope: float, least: float) -> None:
        """Start at the loss and the slope of the first point; ``least`` is the least loss so far."""
        self.loss, self.slope = loss, slope
        self.ceiling = least + NOISE * abs(least)
        self.low, self.low_slope = 0.0, slope
        self.high, self.high_slope = math.inf, math.inf

    def falls(self, step: float, loss: float, slope: float) -> bool:
        """Where rounding hides a decrease the slope tells of it (Hager and Zhang, 2005, the approximate conditions)."""
        if loss <= self.loss + MIN_DECREASE * step * self.slope:
            return True
        return loss <= self.ceiling and slope <= (2 * MIN_DECREASE - 1) * self.slope

    def take(self, step: float, loss: float, slope: float) -> bool:
        """Learn what has come of a step; True when it is one to stay at."""
        if not self.falls(step, loss, slope):
            self.high, self.high_slope = step, slope
            return False
        self.low, self.low_slope = step, slope
        return slope >= MAX_SLOPE * self.slope

    def next(self) -> float:
        """The step to try: where the slope would be 0, as far as is known."""
        if math.isinf(self.high):
            turned = self.low_slope - self.slope
            return self.low * (min(max(-self.slope / turned, 2), 10) if turned > 0 else 10)
        width = self.high - self.low
        uphill = 0 < self.high_slope < math.inf
        share = self.low_slope / (self.low_slope - self.high_slope) if uphill else 0.5
        return self.low + width * min(max(share, 0.1), 0.9)

    @property
    def left(self) -> float:
        """An upper bound of the gain left between the two, if the loss is convex."""
        return (self.high - self.low) * -self.low_slope


MAX_RATIO = 1e8  # of the preconditioner's largest to its smallest entry: with vw's 1e4 rare features hardly move
GRADIENT, DIRECTION, DIAGONAL = range(3)  # columns of the vectors
BLANK = " " * 10


class Wolfe:
    """What the passes of ``learner`` are for, and where its weights go when a pass begins.

    Between passes the weights are the best that were met. All arrays are of the features there are: ``slots``.
    """

    def __init__(self, learner: Problem) -> None:
        self.learner, self.config = learner, learner.config
        self.measured = True  # whether the last pass was one with the weights of now
        self.moving = False  # whether the next pass begins a step away
        self.step, self.least = 0.0, math.inf
        self.search: LineSearch | None = None
        self.pairs: list[Pair] = []  # differences of weights and gradients, the latest first

    def begin_pass(self) -> None:
        if self.moving:
            self.learner.weights[self.slots, 0] = self.start[0] + self.step * self.direction
            self.moving = False

    def end_pass(self) -> bool:
        """Answers whether to go on."""
        learner, weight = self.learner, self.learner.sums[1]
        self.measured = learner.gradient
        if not learner.gradient:
            return self.step_along()
        if learner.first and not self.look_around():
            return self.converged()
        loss, here = self.gather()
        size, conditioned = here[1] @ here[1], here[1] @ (self.diagonal * here[1])
        learner.begin_row(loss / weight, size / weight**2, conditioned / weight)
        if self.search is None:
            learner.line += f"{BLANK}\t{BLANK}\t"
            return self.turn(loss, here)
        return self.judge(self.search, loss, here)

    def look_around(self) -> bool:
        """Find the features that occur and the curvature of the loss in each, after the first pass. False if there
        are none.

        Raises DataError where it is flat for every example, which no step from here changes.
        """
        learner, l2 = self.learner, self.config.l2
        self.slots = np.flatnonzero((learner.vectors[:, DIRECTION] > 0) | (learner.weights[:, 0] != 0))
        bend = learner.vectors[self.slots, DIAGONAL]
        if learner.sums[0] > 0 and not bend.any():
            raise DataError(
                f"--loss_function {self.config.loss.name} is flat at every example where learning begins: nothing can "
                "be learned from there; a larger --loss_scale or other start values may help"
            )
        if not (bend + l2).any():
            return False
        with np.errstate(divide="ignore"):
            self.diagonal = np.minimum(1 / (bend + l2), MAX_RATIO / (bend + l2).max())
        return True

    def gather(self) -> tuple[float, Pair]:
        """The sums of a pass with regularisation: the loss, the weights and the gradient."""
        learner, l2 = self.learner, self.config.l2
        weights = learner.weights[self.slots, 0].astype(np.float64)
        gradient = learner.vectors[self.slots, GRADIENT] + l2 * weights
        loss = learner.sums[0] + l2 / 2 * float(weights @ weights)
        learner.vectors[self.slots, GRADIENT] = learner.sums[0] = 0
        if self.search is None and not math.isfinite(loss):
            raise Diverged("the loss where learning begins is not a finite number: scale labels and features")
        return loss, (weights, gradient)

    def judge(self, search: LineSearch, loss: float, here: Pair) -> bool:
        """Judge a step: stay there, or try another one along the same direction."""
        learner, slope = self.learner, float(here[1] @ self.direction)
        learner.line += f" {(loss - search.loss) / (self.step * search.slope):<10f}\t{slope / search.slope:<10f}\t"
        enough = search.take(self.step, loss, slope)
        self.measured = search.low == self.step
        if self.measured:
            self.best = loss, here
        else:
            learner.weights[self.slots, 0] = self.best[1][0]
        if enough or (search.low > 0 and search.left <= self.learner.standstill * abs(search.loss)):
            return self.stay(search.loss, *self.best)
        if search.left <= max(learner.standstill, self.config.termination) * abs(search.loss):
            return self.give_up()
        self.step, self.moving = search.next(), True
        learner.tell(f"{BLANK}\t(revised)\t{self.step:.5f}")
        return True

    def stay(self, before: float, loss: float, here: Pair) -> bool:
        """End a search. False if the loss has hardly fallen."""
        gain = abs(before - loss)
        if gain <= self.learner.standstill * abs(before):
            return self.converged()
        if gain < self.config.termination * abs(before):
            self.learner.tell("")
            share = f"{self.config.termination:.3%}"
            self.learner.say(f"note: the loss fell by less than {share}; --termination asks for more")
            return False
        return self.turn(loss, here)

    def give_up(self) -> bool:
        """Where no step of a direction lowers the loss: steepest descent may."""
        if not self.pairs:
            return self.converged()
        self.pairs = []
        return self.set_out(-self.diagonal * self.start[1], self.search.loss)

    def converged(self) -> bool:
        if self.learner.line:
            self.learner.tell("")
        self.learner.say("note: no step lowers the loss any further")
        return False

    def turn(self, loss: float, here: Pair) -> bool:
        """To the next direction."""
        before = None if self.search is None else self.start
        self.start, self.best, self.least = here, (loss, here), min(self.least, loss)
        if before is None:
            return self.set_out(-self.diagonal * here[1], loss)
        pair = here[0] - before[0], here[1] - before[1]
        if self.config.memory == 0:
            return self.set_out(self.conjugate(here[1], before[1], pair[1]), loss)
        self.remember(*pair)
        self.learner.line += f"{BLANK}\t"
        if not self.pairs:
            return self.set_out(-self.diagonal * here[1], loss)
        return self.set_out(-two_loops(here[1].copy(), self.scale * self.diagonal, self.pairs), loss)

    def remember(self, moved: np.ndarray, change: np.ndarray) -> None:
        """Record the curvature along a step: ``change`` of the gradient."""
        both, conditioned = moved @ change, change @ (self.diagonal * change)
        if both > 0 and conditioned > 0:
            self.pairs = [(moved, change), *self.pairs[: self.config.memory - 1]]
            self.scale = both / conditioned

    def conjugate(self, now: np.ndarray, before: np.ndarray, change: np.ndarray) -> np.ndarray:
        """The direction of Polak and Ribiere, or of steepest descent."""
        share = max(float(now @ (self.diagonal * change)) / float(before @ (self.diagonal * before)), 0.0)
        self.learner.line += f"{share:f}\t"
        return share * self.direction - self.diagonal * now

    def set_out(self, direction: np.ndarray, loss: float) -> bool:
        """Along a direction, or downhill where that leads up; False where neither promises anything."""
        learner, gradient = self.learner, self.start[1]
        slope = float(gradient @ direction)
        if not slope < 0:
            direction, self.pairs = -self.diagonal * gradient, []
            slope = float(gradient @ direction)
        if -slope <= self.learner.standstill * abs(loss):
            return self.converged()
        curved = self.config.curved or self.search is None
        self.direction, self.search = direction, LineSearch(loss, slope, self.least)
        if curved:
            learner.vectors[self.slots, DIRECTION] = direction
            learner.gradient = False
            return True
        learner.tell(f"{BLANK}\t{direction @ direction:<10.5f}\t{1:.5f}")
        self.step, self.moving = 1.0, True
        return True

    def step_along(self) -> bool:
        """A step as long as slope and curvature in the direction say."""
        learner, direction = self.learner, self.direction
        curvature, size = learner.sums[2] + self.config.l2 * float(direction @ direction), direction @ direction
        self.step = -self.search.slope / curvature if curvature > 0 else 1.0
        learner.tell(f"{curvature / learner.sums[1]:<10.5f}\t{size:<10.5f}\t{self.step:.5f}")
        learner.sums[2], learner.gradient, self.moving = 0, True, True
        return True


def pseudo_gradient(weights: np.ndarray, gradient: np.ndarray, penalty: float) -> np.ndarray:
    """The pseudo-gradient of f(w) + penalty |w|, by equation 4: the one-sided slope of steepest descent; 0 where
    neither side descends."""
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
