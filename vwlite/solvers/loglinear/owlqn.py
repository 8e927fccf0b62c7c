"""OWL-QN: limited-memory quasi-Newton steps for L1-regularised objectives (Andrew and Gao, ICML 2007)."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vwlite.config_check import Double, require
from vwlite.learners.quasi_newton import pseudo_gradient
from vwlite.storage.model_file import numbers

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

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
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
