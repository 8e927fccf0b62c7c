"""One task: its examples, and its least squares with Theta fixed."""

from dataclasses import dataclass

import numpy as np

from vwlite.errors import Diverged


@dataclass(slots=True)
class Task:
    """The examples of one task over the features that they have."""

    x: np.ndarray  # float64[n, q], rows times the square root of their importance
    y: np.ndarray  # float64[n], likewise
    root: np.ndarray  # float64[n], the square roots
    own: np.ndarray  # int64[q], the features
    size: float  # sum of importance
    penalty: float


def solved(task: Task, theta: np.ndarray, constant: bool) -> tuple[np.ndarray, np.ndarray, float, float]:
    """w float64[q], v float64[h], intercept and least value of (1/n) |Xw + Zv + b - y|^2 + lambda |w|^2, Z = X Theta'.

    With A = X X' + n lambda I the residual is n lambda alpha, A alpha = y - [Z 1] g, and g solves the normal equations
    of [Z 1] in the metric of A's inverse, by the pseudoinverse where columns depend on each other. Raises Diverged
    where features are so large that n lambda is lost beside their products.
    """
    try:
        return by_least_squares(task, theta, constant)
    except np.linalg.LinAlgError as error:
        why = "features are too large for their task to be solved: scale them, or take a larger --lambda"
        raise Diverged(why) from error


def by_least_squares(task: Task, theta: np.ndarray, constant: bool) -> tuple[np.ndarray, np.ndarray, float, float]:
    ridge = task.size * task.penalty
    free = np.hstack((task.x @ theta[task.own], task.root[:, None][:, : int(constant)]))
    both = np.hstack((free, task.y[:, None]))
    n, q = task.x.shape
    if n <= q:
        inverse = np.linalg.solve(task.x @ task.x.T + ridge * np.eye(n), both)
    else:  # Woodbury: the smaller side
        inner = np.linalg.solve(task.x.T @ task.x + ridge * np.eye(q), task.x.T @ both)
        inverse = (both - task.x @ inner) / ridge
    g = np.linalg.pinv(free.T @ inverse[:, :-1], rcond=1e-12, hermitian=True) @ (free.T @ inverse[:, -1])
    alpha = inverse[:, -1] - inverse[:, :-1] @ g
    w = task.x.T @ alpha
    h = theta.shape[1]
    value = (ridge * np.linalg.norm(alpha)) ** 2 / task.size + task.penalty * (w @ w)
    return w, g[:h], float(g[h]) if constant else 0.0, float(value)
