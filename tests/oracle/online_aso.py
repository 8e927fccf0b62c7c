"""Auxiliary problems learned one example after the other, in plain Python (Ando and Zhang 2005, section 7.1)."""

import math


def neg_gradient(score, sign):
    """Of max(0, 1 - py)^2 for py >= -1, else -4py."""
    return 2 * min(max(1 - score * sign, 0), 2) * sign


class OnlineProblems:
    """Problems of one view: for each feature of ``hidden`` that is a problem, is it among the ``k`` largest?

    ``weights``: by feature, a number for each problem, in which features begin with zeros.
    """

    def __init__(self, weights, bias, problems, step, rate, penalty):
        self.weights, self.bias, self.problems, self.step = weights, bias, problems, step
        self.rate, self.penalty = rate, penalty

    def learn(self, example, seen, positive):
        """``example``: values by feature; ``seen`` of these are used, the problems ``positive`` are positive."""
        row = {name: value for name, value in example.items() if name in seen}
        if not row:
            return
        length = math.sqrt(sum(value * value for value in row.values()))
        row = {name: value / length for name, value in row.items()}
        self.step += 1
        rate = self.rate / (1 + 2 * self.rate * self.penalty * self.step)
        scores = list(self.bias)
        for name, value in row.items():
            for place, weight in enumerate(self.weights[name]):
                scores[place] += value * weight
        pulls = [
            neg_gradient(score, 1 if name in positive else -1)
            for score, name in zip(scores, self.problems, strict=True)
        ]
        for values in self.weights.values():
            for place in range(len(values)):
                values[place] *= 1 - 2 * rate * self.penalty
        for name, value in row.items():
            for place, pull in enumerate(pulls):
                self.weights[name][place] += rate * value * pull
        self.bias = [old + 0.1 * rate * pull for old, pull in zip(self.bias, pulls, strict=True)]


def largest(example, hidden, presence, k):
    """The ``k`` of an example's features ``hidden`` with the largest values; among equals those that fewer have."""
    order = sorted(hidden, key=lambda name: (-example[name], presence[name], name))
    return set(order[:k])
