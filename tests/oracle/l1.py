"""Slow twins of ``vwlite l1``: penalties that touch every weight at every step, sums over all label sequences."""

import itertools
import math

import numpy as np

from oracle import proximal


def rate(config, passes):
    if config["rate"] == "exponential":
        return config["eta"] * config["alpha"] ** passes
    return config["eta"] / (1 + passes)


def sgd(weights, gradient, orders, config, l1, iterates=None, rows=None, shares=None):
    """The weights after steps over ``orders``, a list of rows for each pass; ``gradient(weights, row)`` is of log p.

    ``iterates``: a list that the weights after each step are added to. ``rows``: lists of the places of weights that
    are penalised together. ``shares``: of the penalty, what each step of a pass has; None: all steps of a pass have it
    together.
    """
    w, q, due = np.array(weights), np.zeros(len(weights)), 0.0
    for number, order in enumerate(orders):
        for step, row in enumerate(order):
            eta = rate(config, number + step / len(order))
            share = eta * l1 * (shares[number] if shares else 1 / len(order))
            g = gradient(w, row)
            if config["penalty"] == "naive":
                w = w + eta * g - share * np.sign(w)
                continue
            w = w + eta * g
            if iterates is not None:
                iterates.append(w)
            if config["penalty"] == "none":
                continue
            due += share
            if rows is not None:
                unpenalised = w - q
                w = proximal.shrunk(rows, unpenalised, due)
                q = w - unpenalised
                continue
            for i in range(len(w)):
                if config["penalty"] == "clipping":
                    w[i] = max(0.0, w[i] - share) if w[i] > 0 else min(0.0, w[i] + share)
                else:
                    z = w[i]
                    if z > 0:
                        w[i] = max(0.0, z - (due + q[i]))
                    elif z < 0:
                        w[i] = min(0.0, z + (due - q[i]))
                    q[i] += w[i] - z
    return w


def logistic_gradient(rows, labels):
    """``rows``: a vector of features each."""
    return lambda w, row: labels[row] * rows[row] / (1 + math.exp(labels[row] * float(rows[row] @ w)))


class Chain:
    """One sequence: ``state[t]`` and ``edge[t]`` are ``{feature: value}``; ``place`` gives the number of a weight.

    ``place(feature, label)`` for state features, ``place(feature, label, before)`` for edges,
    ``place(None, label, before)`` for transitions, ``place(None, label, before, earlier)`` for those of order 2; None
    where there is no such weight. ``before``: the token that each is after, -1 where there is none, as in a tree.
    """

    def __init__(self, state, edge, labels, true, place, transitions=True, before=None):
        self.state, self.edge, self.labels, self.true = state, edge, labels, true
        self.place, self.transitions = place, transitions
        self.before = list(range(-1, len(state) - 1)) if before is None else before

    def counts(self, path):
        """``{number of a weight: sum of its values along the path}``."""
        counts = {}

        def add(number, value):
            if number is not None:
                counts[number] = counts.get(number, 0.0) + value

        for t, label in enumerate(path):
            for feature, value in self.state[t].items():
                add(self.place(feature, label), value)
            before = self.before[t]
            if before >= 0 and self.transitions:
                add(self.place(None, label, path[before]), 1.0)
                if self.before[before] >= 0:
                    add(self.place(None, label, path[before], path[self.before[before]]), 1.0)
                for feature, value in self.edge[t].items():
                    add(self.place(feature, label, path[before]), value)
        return counts

    def paths(self, w):
        """Every label sequence with its score."""
        for path in itertools.product(range(self.labels), repeat=len(self.state)):
            yield path, sum(w[number] * value for number, value in self.counts(path).items())

    def log_likelihood(self, w):
        scores = dict(self.paths(w))
        top = max(scores.values())
        return scores[tuple(self.true)] - top - math.log(sum(math.exp(s - top) for s in scores.values()))

    def chances(self, w):
        scores = dict(self.paths(w))
        top = max(scores.values())
        total = sum(math.exp(s - top) for s in scores.values())
        return {path: math.exp(s - top) / total for path, s in scores.items()}

    def gradient(self, w):
        g = np.zeros(len(w))
        for number, value in self.counts(tuple(self.true)).items():
            g[number] += value
        for path, chance in self.chances(w).items():
            for number, value in self.counts(path).items():
                g[number] -= chance * value
        return g

    def marginals(self, w):
        out = np.zeros((len(self.state), self.labels))
        for path, chance in self.chances(w).items():
            for t, label in enumerate(path):
                out[t, label] += chance
        return out
