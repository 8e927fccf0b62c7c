"""A task of two classes, whose logistic loss is lowered by least squares.

The first step is the least of a bound: log(1 + exp(-y f)) is at most its value and slope at the scores so far, with
the curvature 1/4 (Boehning and Lindsay, Annals of the Institute of Statistical Mathematics 40, 1988). Newton's steps
follow, which are halved until they lower the value.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from vwlite.solvers.aso.task import Task, solved

STEPS, HALVINGS = 50, 30
TOLERANCE = 1e-9  # a step that lowers the value by a smaller share is the last
FLAT = 1e-5  # the least curvature that is taken for one, where scores are large


def fitted(
    task: Task, theta: np.ndarray, constant: bool, common: np.ndarray, score: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float, np.ndarray]:
    """w float64[q], v float64[h], intercept, value and scores float64[n], from the ``score`` of before.

    The value is (1/n) sum of the losses + lambda |w|^2; scores are of x (w + Theta' v + ``common``) + b. ``y`` of the
    task are -1 and 1 times the root.
    """
    y, q, h = task.y / task.root, task.x.shape[1], theta.shape[1]
    base = task.x @ common[task.own] / task.root
    design = np.hstack((task.x, task.x @ theta[task.own], task.root[:, None])) / task.root[:, None]

    def value(at: np.ndarray) -> float:
        losses = np.logaddexp(0, -y * (base + design @ at))
        return float(task.root**2 @ losses) / task.size + task.penalty * float(at[:q] @ at[:q])

    def step(score: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """w, v and the intercept that least squares of these curvatures have."""
        slope, root = -y * chances(-y * score), np.sqrt(curvature)
        labels = (score - slope / curvature - base) * task.root * root
        own = replace(
            task, x=task.x * root[:, None], y=labels, root=task.root * root, penalty=2 * task.penalty
        )  # fmt: skip
        w, v, bias, _ = solved(own, theta, constant)
        return np.concatenate((w, v, [bias]))

    at = step(score, np.full(len(y), 0.25))
    best = value(at)
    for _ in range(STEPS):
        score = base + design @ at
        chance = chances(score)
        at, now = lowered(value, at, step(score, np.maximum(chance * (1 - chance), FLAT)), best)
        small, best = now >= best * (1 - TOLERANCE), now
        if small:
            break
    return at[:q], at[q : q + h], float(at[-1]), best, base + design @ at


def lowered(
    value: Callable[[np.ndarray], float], at: np.ndarray, goal: np.ndarray, best: float
) -> tuple[np.ndarray, float]:
    """The way to ``goal``, halved until its value is below ``best``, that of ``at``; ``at`` where none is."""
    size = 1.0
    for _ in range(HALVINGS):
        trial = at + size * (goal - at)
        if (found := value(trial)) < best:
            return trial, found
        size /= 2
    return at, best


def chances(score: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-score)), by the tangent, which never overflows."""
    chance: np.ndarray = (1 + np.tanh(score / 2)) / 2
    return chance
