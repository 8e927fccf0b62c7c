"""Regressions that share Theta, by plain least squares: equation 7 of Ando and Zhang (2005) with Theta given."""

import numpy as np


def optimum(x, y, weight, theta, penalty, constant):
    """w, v, intercept and value of sum_i weight_i (x_i w + x_i theta v + b - y_i)^2 / sum weight + penalty |w|^2.

    One least-squares problem whose last rows are those of the regularisation; float64[q, h] ``theta``.
    """
    (n, q), h = x.shape, theta.shape[1]
    scale = np.sqrt(weight / weight.sum())[:, None]
    design = np.hstack((x, x @ theta, np.ones((n, int(constant))))) * scale
    design = np.vstack((design, np.hstack((np.sqrt(penalty) * np.eye(q), np.zeros((q, h + int(constant)))))))
    target = np.append(y * scale[:, 0], np.zeros(q))
    result, *_ = np.linalg.lstsq(design, target, rcond=None)
    return (
        result[:q],
        result[q : q + h],
        result[-1] if constant else 0.0,
        float(((design @ result - target) ** 2).sum()),
    )


def objective(tasks, u, bias, theta, penalty):
    """Equation 8 with the best v = theta' u; ``tasks``: pairs of x and y, u a column of each."""
    total = 0.0
    for (x, y), own, intercept in zip(tasks, u.T, bias, strict=True):
        w = own - theta @ (theta.T @ own)
        total += np.mean((x @ own + intercept - y) ** 2) + penalty * (w @ w)
    return total


def logistic_optimum(x, y, weight, theta, penalty, constant, offset):
    """The least of sum_i weight_i log(1 + exp(-y_i f_i)) / sum weight + penalty |w|^2.

    f = x w + x theta v + b + offset. By damped Newton steps on all parameters together.
    """
    (n, q), h = x.shape, theta.shape[1]
    design = np.hstack((x, x @ theta, np.ones((n, int(constant)))))
    ridge = np.diag(np.append(np.full(q, 2 * penalty), np.zeros(h + int(constant))))
    share, result = weight / weight.sum(), np.zeros(design.shape[1])

    def value(at):
        return share @ np.logaddexp(0, -y * (design @ at + offset)) + found_penalty(at)

    def found_penalty(at):
        return penalty * at[:q] @ at[:q]

    for _ in range(200):
        chance = 1 / (1 + np.exp(y * (design @ result + offset)))
        slope = design.T @ (-y * chance * share) + ridge @ result
        curvature = design.T @ (design * (chance * (1 - chance) * share)[:, None]) + ridge
        step, size = np.linalg.lstsq(curvature, slope, rcond=None)[0], 1.0
        while size > 1e-9 and value(result - size * step) > value(result):
            size /= 2
        result = result - size * step
    return float(value(result))
