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


class PairwiseSteps:
    """Twin of ``vwlite.solvers.loglinear.frank_wolfe.FrankWolfe``: ``kept`` has the shares of label sequences."""

    STEPS, NEAR = 8, 1e-9

    def __init__(self, chains, importance, weights, cost, l2, room):
        self.chains, self.importance, self.cost, self.l2, self.room = chains, importance, cost, l2, room
        self.w = np.zeros(weights)
        self.kept = [{tuple(chain.true): 1.0} for chain in chains]

    def run_pass(self, order):
        for row in order:
            self.keep(row)
            kept, true = self.kept[row], tuple(self.chains[row].true)
            for path in [*kept][1:]:
                loss = self.losses(row)[path]
                if loss > self.NEAR and kept[true] > 0:
                    self.move(row, true, path, loss)
                elif loss < -self.NEAR and kept[path] > 0:
                    self.move(row, path, true, -loss)
            for _ in range(self.STEPS):
                if kept[true] > 0 or not self.step_between(row):
                    break

    def step_between(self, row):
        """Whether there was a step."""
        loss, kept = self.losses(row), self.kept[row]
        to, origin = next(iter(kept)), None
        for path, share in kept.items():
            if loss[path] > loss[to] + self.NEAR:
                to = path
            if share > 0 and (origin is None or loss[path] < loss[origin] - self.NEAR):
                origin = path
        if loss[to] <= loss[origin] + self.NEAR:
            return False
        self.move(row, origin, to, loss[to] - loss[origin])
        return True

    def losses(self, row):
        return losses(self.chains[row], self.w, self.cost)

    def move(self, row, origin, to, slope):
        """Move as much share as is best for the dual."""
        chain, weights, kept = self.chains[row], len(self.w), self.kept[row]
        scale = self.importance[row] / self.l2
        d = difference(chain, to, weights) - difference(chain, origin, weights)
        curvature = scale * float(d @ d)
        moved = kept[origin] if slope >= curvature * kept[origin] else slope / curvature
        self.w = self.w + moved * scale * d
        kept[to] += moved
        kept[origin] -= moved

    def keep(self, row):
        """Keep the label sequence of the largest loss, of equal ones the first, and those with one of its runs."""
        loss, true = self.losses(row), tuple(self.chains[row].true)
        found = max(loss, key=lambda labels: (loss[labels], tuple(-label for label in reversed(labels))))
        kept = self.kept[row] = {path: share for path, share in self.kept[row].items() if share > 0 or path == true}
        wrong = [one != other for one, other in zip(found, true, strict=True)]
        begins = [t for t, is_wrong in enumerate(wrong) if is_wrong and not (t and wrong[t - 1])]
        for begin in begins:
            end = next((t for t in range(begin, len(true)) if not wrong[t]), len(true))
            self.keep_one(kept, true[:begin] + found[begin:end] + true[end:])
        self.keep_one(kept, found)

    def keep_one(self, kept, path):
        if len(kept) < self.room:
            kept.setdefault(path, 0.0)


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
