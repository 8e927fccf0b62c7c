"""Minimisers of a smooth function and a norm.

FISTA (Beck and Teboulle, SIAM J. Imaging Sciences 2009), and the norms whose proximal steps it takes. OWL-QN:
limited-memory quasi-Newton steps for L1-regularised objectives (Andrew and Gao, ICML 2007).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol, TypedDict

import numpy as np

from vwlite.config_check import Double, JsonObject, require
from vwlite.errors import UsageError
from vwlite.learners.quasi_newton import pseudo_gradient
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.problems import Chains, Pairs, Problem
from vwlite.solvers.tall_matrices import eigenpairs
from vwlite.storage.model_file import numbers


class Norm(Protocol):
    """A norm of float64[weights]."""

    def value(self, weights: np.ndarray) -> float: ...

    def shrunk(self, weights: np.ndarray, by: float) -> np.ndarray:
        """The v for which |v - weights|^2 / 2 + by norm(v) is least."""

    def dual(self, gradient: np.ndarray) -> float:
        """The largest gradient.v where norm(v) is 1: 0 is the optimum under a penalty of so much or more."""


class Sizes:
    """The sum of the weights' sizes, the L1 norm."""

    def value(self, weights: np.ndarray) -> float:
        return float(np.abs(weights).sum())

    def shrunk(self, weights: np.ndarray, by: float) -> np.ndarray:
        return weights - np.clip(weights, -by, by)

    def dual(self, gradient: np.ndarray) -> float:
        return float(np.abs(gradient).max(initial=0))


class Rows:
    """The sum of the lengths of rows, the 2,1 norm. ``row`` int64[weights]: that of each weight."""

    def __init__(self, row: np.ndarray) -> None:
        self.row = row

    def lengths(self, weights: np.ndarray) -> np.ndarray:
        """float64[rows]"""
        return np.sqrt(np.bincount(self.row, weights * weights))

    def value(self, weights: np.ndarray) -> float:
        return float(self.lengths(weights).sum())

    def shrunk(self, weights: np.ndarray, by: float) -> np.ndarray:
        lengths = self.lengths(weights)
        left = np.maximum(lengths - by, 0)
        share = np.divide(left, lengths, out=np.zeros_like(left), where=left > 0)[self.row]
        return np.where(share > 0, weights * share, 0.0)

    def dual(self, gradient: np.ndarray) -> float:
        return float(self.lengths(gradient).max(initial=0))


class Trace:
    """The sum of the singular values of a matrix of ``shape``, whose rows are one after the other."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def singular(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The matrix with its shorter side as columns, its singular values and right singular vectors."""
        matrix = weights.reshape(self.shape)
        tall = matrix if self.shape[0] >= self.shape[1] else matrix.T
        squares, vectors = eigenpairs(tall.T @ tall)
        return tall, np.sqrt(np.maximum(squares, 0)), vectors

    def value(self, weights: np.ndarray) -> float:
        return float(self.singular(weights)[1].sum())

    def shrunk(self, weights: np.ndarray, by: float) -> np.ndarray:
        tall, values, vectors = self.singular(weights)
        positive = values > by
        vectors, shares = vectors[:, positive], 1 - by / values[positive]
        made = tall @ ((vectors * shares) @ vectors.T)
        return np.ascontiguousarray(made if self.shape[0] >= self.shape[1] else made.T).reshape(-1)

    def dual(self, gradient: np.ndarray) -> float:
        return float(self.singular(gradient)[1].max(initial=0))


def rows_of(pairs: Pairs) -> np.ndarray:
    """int64[weights]: the feature of each weight. Transitions are those of what is before the label."""
    edges = len(pairs.state.features) + pairs.edges.feature
    ways = np.arange(pairs.weights - pairs.first_transition) // max(pairs.labels, 1)
    before = len(pairs.state.features) + len(pairs.edges.features) + ways
    return np.concatenate((pairs.state.feature, edges, before)).astype(np.int64)


def norm_of(config: L1Config, problem: Problem) -> Norm:
    """That of the penalty. Raises UsageError where the weights are no whole matrix."""
    if config.trace and isinstance(problem, Chains):
        shape = len(problem.pairs.state.features), problem.pairs.labels
        if shape[0] * shape[1] != problem.weights:
            raise UsageError("--trace: the initial model has no weights of some features with some labels: start again")
        return Trace(shape)
    if config.group and isinstance(problem, Chains):
        return Rows(rows_of(problem.pairs))
    return Sizes()


RELAXED = 0.9  # factor on the steepness before each step
RAISED = 1.5  # and where it was too little
TRIALS = 150  # of a step
ROUNDING = 1e-13  # of the smooth part, relative


class FistaState(TypedDict):
    """Numbers of ``Fista`` that change from step to step."""

    smooth: Double
    value: Double
    momentum: Double
    bound: Double
    steepness: Double


@dataclass(slots=True)
class Smooth:
    """The smooth part f of the objective, convex and nowhere below 0."""

    value: Callable[[np.ndarray], float]
    gradient: Callable[[np.ndarray], tuple[float, np.ndarray]]  # the value as well


class Fista:
    """Minimises ``f(w) + penalty norm(w)``; ``value`` is that at ``weights``, ``smooth`` f there.

    ``iterate`` takes a step; False means that ``value`` is above the optimum by at most ``tolerance`` times itself, or
    that rounding leaves no better step. Step sizes grow and shrink with the steepness that is met, and momentum with
    them (Becker, Candes and Grant, Mathematical Programming Computation 2011); it begins anew where it leads uphill
    (O'Donoghue and Candes, Foundations of Computational Mathematics 2015).
    """

    def __init__(self, part: Smooth, weights: np.ndarray, norm: Norm, penalty: float, tolerance: float) -> None:
        self.part, self.norm, self.penalty, self.tolerance = part, norm, penalty, tolerance
        self.weights = self.ahead = weights
        self.smooth, gradient = part.gradient(weights)
        self.value = self.objective(self.smooth, weights)
        self.momentum, self.bound = 1.0, 0.0
        self.steepness = self.first_steepness(weights, gradient)

    def state(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        """What ``restore`` takes; these arrays are replaced, never changed."""
        header = {name: float(getattr(self, name)) for name in FistaState.__annotations__}
        return {"fista": header}, {"weights": self.weights, "ahead": self.ahead}

    @staticmethod
    def check(header: Mapping[str, Any], arrays: Mapping[str, Any], weights: int) -> None:
        """Raises KeyError, ValueError for what is no ``state`` of that number of weights."""
        require(header["fista"], FistaState, "fista")
        for name in ("weights", "ahead"):
            numbers(arrays, name, np.float64, (weights,))

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` that was checked."""
        self.ahead = np.array(arrays["ahead"])
        for name, value in header["fista"].items():
            setattr(self, name, value)

    def objective(self, smooth: float, weights: np.ndarray) -> float:
        return smooth + self.penalty * self.norm.value(weights)

    def first_steepness(self, weights: np.ndarray, gradient: np.ndarray) -> float:
        """The change of the gradient along itself, a lower bound of what the step size must allow for."""
        length = float(np.sqrt(gradient @ gradient))
        if not length:
            return 1.0
        reach = 1e-3 / length
        change = self.part.gradient(weights - reach * gradient)[1] - gradient
        return max(float(np.sqrt(change @ change)) / 1e-3, 1e-12 * length)

    def iterate(self) -> bool:
        smooth, gradient = self.part.gradient(self.ahead)
        self.raise_bound(smooth, gradient)
        if self.near():
            return False
        before, self.steepness = self.steepness, RELAXED * self.steepness
        step = self.step(smooth, gradient)
        if step is None:
            return False
        weights, self.smooth = step
        self.value = self.objective(self.smooth, weights)
        moved = weights - self.weights
        if float((self.ahead - weights) @ moved) > 0:
            self.momentum, self.ahead = 1.0, weights
        else:
            last, ratio = self.momentum, self.steepness / before
            self.momentum = (1 + sqrt(1 + 4 * ratio * last**2)) / 2
            self.ahead = weights + (last - 1) / self.momentum * moved
        self.weights = weights
        return not self.near()

    def near(self) -> bool:
        return self.value - self.bound <= self.tolerance * abs(self.value)

    def raise_bound(self, smooth: float, gradient: np.ndarray) -> None:
        """The optimum w* is not below f(v) + g.(w* - v) + penalty norm(w*), which is at least
        f(v) - g.v - (dual(g) - penalty) norm(w*), and norm(w*) is at most value / penalty, f being 0 or more.
        """
        if not self.penalty:
            return
        excess = max(self.norm.dual(gradient) / self.penalty - 1, 0.0)
        self.bound = max(self.bound, smooth - float(gradient @ self.ahead) - excess * self.value)

    def step(self, smooth: float, gradient: np.ndarray) -> tuple[np.ndarray, float] | None:
        """The weights after it, with f there, which the parabola of ``steepness`` is not below; None: there is none."""
        for _ in range(TRIALS):
            weights = self.norm.shrunk(self.ahead - gradient / self.steepness, self.penalty / self.steepness)
            change, value = weights - self.ahead, self.part.value(weights)
            parabola = smooth + float(gradient @ change) + self.steepness / 2 * float(change @ change)
            if value <= parabola + ROUNDING * abs(smooth):
                return weights, value
            self.steepness *= RAISED
        return None


MEMORY = 10  # pairs of steps and gradient changes that approximate the Hessian
LOOK_BACK = 10  # iterations over which the improvement is measured
SUFFICIENT_DECREASE = 1e-4  # of the linear prediction, as the Armijo condition asks
MAX_HALVINGS = 60  # of the step size in a line search

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]


class OwlQn:
    """Minimises f(w) + ``penalty`` |w|_1; ``function`` returns f and its gradient, float64[n].

    Without a penalty it is L-BFGS.

    ``weights`` float64[n] is the current point, ``smooth`` is f there, ``value`` the objective. ``iterate`` makes a
    step, and returns False on convergence.
    """

    def __init__(self, function: Function, weights: np.ndarray, penalty: float, tolerance: float) -> None:
        self.function, self.penalty, self.tolerance = function, penalty, tolerance
        self.weights = weights
        self.smooth, self.gradient = function(weights)
        self.value = self.objective(self.smooth, weights)
        self.evaluations = 1
        self.memory: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=MEMORY)
        self.values: deque[float] = deque([self.value], maxlen=LOOK_BACK + 1)

    def state(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        """Header and arrays that ``restore`` takes. The arrays are never modified later, so that they need no copy."""
        steps, changes = (np.array([pair[at] for pair in self.memory]) for at in (0, 1))
        inner = [pair[2] for pair in self.memory]
        arrays = {"weights": self.weights, **({"steps": steps, "changes": changes} if inner else {})}
        return {"inner": inner, "values": list(self.values)}, arrays

    @staticmethod
    def check(header: Mapping[str, Any], arrays: Mapping[str, Any], weights: int) -> None:
        """Raises KeyError, ValueError for anything but the ``state`` of an optimiser of this number of weights."""
        for name, most in (("inner", MEMORY), ("values", LOOK_BACK + 1)):
            require(header[name], list[Double], name)
            if len(header[name]) > most:
                raise ValueError(f"{name}: {len(header[name])} numbers, more than {most}")
        numbers(arrays, "weights", np.float64, (weights,))
        for name in ("steps", "changes") if header["inner"] else ():
            numbers(arrays, name, np.float64, (len(header["inner"]), weights))

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Restore a ``state`` that passed ``check``; the weights must be those given to the constructor."""
        if header["inner"]:
            pairs = zip(np.array(arrays["steps"]), np.array(arrays["changes"]), header["inner"], strict=True)
            self.memory.extend(pairs)
        self.values = deque(header["values"], maxlen=LOOK_BACK + 1)

    def objective(self, smooth: float, weights: np.ndarray) -> float:
        return smooth + self.penalty * float(np.abs(weights).sum())

    def direction(self, steepest: np.ndarray) -> np.ndarray:
        """The two-loop recursion applied to the pseudo-gradient, kept within the orthant of its negative."""
        d, alphas = -steepest, []
        for step, change, inner in reversed(self.memory):
            alphas.append(float(step @ d) / inner)
            d -= alphas[-1] * change
        if self.memory:
            _, change, inner = self.memory[-1]
            d *= inner / float(change @ change)
        for (step, change, inner), alpha in zip(self.memory, reversed(alphas), strict=True):
            d += (alpha - float(change @ d) / inner) * step
        if self.penalty:
            d[d * steepest >= 0] = 0
        return d

    def iterate(self) -> bool:
        """Make a step. False if there is none that decreases the objective, or once the improvement is small.

        It is small when its mean over the last LOOK_BACK steps is at most ``tolerance`` relative to the objective.
        """
        steepest = pseudo_gradient(self.weights, self.gradient, self.penalty)
        if not steepest.any():
            return False
        direction = self.direction(steepest)
        if not self.search(direction, steepest):
            if not self.memory:
                return False
            self.memory.clear()  # restart with steepest descent
            if not self.search(-steepest, steepest):
                return False
        self.values.append(self.value)
        gained = (self.values[0] - self.value) / (len(self.values) - 1)
        return len(self.values) <= LOOK_BACK or gained > self.tolerance * abs(self.value)

    def search(self, direction: np.ndarray, steepest: np.ndarray) -> bool:
        """Backtracking line search within the orthant of ``weights``. False if no step is accepted."""
        orthant = np.where(self.weights != 0, np.sign(self.weights), -np.sign(steepest))
        size = 1.0 if self.memory else 1 / max(float(np.sqrt(direction @ direction)), 1e-300)
        for _ in range(MAX_HALVINGS):
            weights = self.weights + size * direction
            if self.penalty:
                weights[weights * orthant <= 0] = 0
            smooth, gradient = self.function(weights)
            self.evaluations += 1
            value, step = self.objective(smooth, weights), weights - self.weights
            if value <= self.value + SUFFICIENT_DECREASE * float(steepest @ step) and step.any():
                change = gradient - self.gradient
                inner = float(step @ change)
                if inner > 0:
                    self.memory.append((step, change, inner))
                self.weights, self.smooth, self.gradient, self.value = weights, smooth, gradient, value
                return True
            size /= 2
        return False
