"""Slow twin of ``vwlite l1 --loss``: the largest loss by going through all label sequences, steps on dense vectors."""

import numpy as np


def cost_of(cost, path, true):
    if cost is None:
        return 0.0
    wrong = sum(one != other for one, other in zip(path, true, strict=True))
    return float(wrong) if cost == "hamming" else float(wrong > 0)


def losses(chain, w, cost):
    """``{label sequence: cost + score - score of the true one}``, of an ``oracle.l1.Chain``."""
    scores = dict(chain.paths(w))
    true = tuple(chain.true)
    return {path: cost_of(cost, path, true) + score - scores[true] for path, score in scores.items()}


def difference(chain, path, weights):
    """float64[weights]: features of the true labels less those of ``path``."""
    d = np.zeros(weights)
    for factor, labels in ((1, tuple(chain.true)), (-1, path)):
        for number, value in chain.counts(labels).items():
            d[number] += factor * value
    return d


def perceptron(d, loss, importance):
    return importance


def mira(largest):
    def size(d, loss, importance):
        return min(largest * importance, loss / (d @ d)) if d.any() else 0.0

    return size


def mean_of_steps(chains, importance, orders, weights, cost, size):
    """``(mean of the weights after every step, the last weights)``; of equal losses the first path's is taken."""
    w, total, steps = np.zeros(weights), np.zeros(weights), 0
    for order in orders:
        for row in order:
            result = losses(chains[row], w, cost)
            path = max(result, key=lambda labels: (result[labels], tuple(-label for label in reversed(labels))))
            d = difference(chains[row], path, weights)
            w = w + size(d, result[path], importance[row]) * d
            total += w
            steps += 1
    return total / steps, w


def quadratic_program(chains, importance, weights, cost, l2, tolerance):
    """The largest dual value of the structured hinge loss, by pairwise steps.

    Each example has a distribution over its label sequences; a step moves, from the sequence of the least gradient that
    has a share to that of the greatest, as much as is best, until no two of an example are ``tolerance`` apart.
    Returns ``(value, w)``.
    """
    rows, shares = [], []
    for chain, a in zip(chains, importance, strict=True):
        paths = losses(chain, np.zeros(weights), cost)
        vectors = np.stack([difference(chain, path, weights) * a / l2 for path in paths])
        rows.append((vectors, a * np.array(list(paths.values()))))
        shares.append(np.array([float(path == tuple(chain.true)) for path in paths]))
    w, moving = np.zeros(weights), True
    while moving:
        moving = False
        for (vectors, costs), share in zip(rows, shares, strict=True):
            gradient = costs - l2 * vectors @ w
            to, origin = int(np.argmax(gradient)), int(np.argmin(np.where(share > 0, gradient, np.inf)))
            slope = gradient[to] - gradient[origin]
            if slope <= tolerance:
                continue
            direction = vectors[to] - vectors[origin]
            curvature = l2 * float(direction @ direction)
            step = min(share[origin], slope / curvature if curvature > 0 else np.inf)
            share[to] += step
            share[origin] = share[origin] - step if step < share[origin] else 0.0
            w = w + step * direction
            moving = True
    value = sum(float(costs @ share) for (_, costs), share in zip(rows, shares, strict=True))
    return value - l2 / 2 * float(w @ w), w
