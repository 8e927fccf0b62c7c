"""Combined regression and ranking in plain Python: the same draws, the same steps in double precision."""

import math
from collections import defaultdict

import numpy as np

MASK = 2**64 - 1
PHI = 0x9E3779B97F4A7C15


def mix64(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def uniform(seed, step, number):
    counter = step * 8 + number + 1
    return ((mix64((seed * PHI + counter * PHI) & MASK) >> 12) + 0.5) / 2**52


def sigmoid(p):
    return 1 / (1 + math.exp(-p))


SIGNS = ("hinge", "modified_huber")


def target(loss, y):
    return (1 if y > 0 else -1) if loss in SIGNS else y


def pair_target(loss, a, b, graded=True):
    """``graded``: whether labels are probabilities, which logistic loss of pairs takes the difference of."""
    if loss in SIGNS:
        return 1 if a > b else -1
    if loss == "logistic":
        return (1 + a - b) / 2 if graded else float(a > b)
    return a - b


def descent(loss, p, y):
    if loss == "hinge":
        return y if y * p < 1 else 0
    if loss == "absolute":
        return math.copysign(1, y - p) if y != p else 0
    if loss == "modified_huber":
        return 0 if y * p >= 1 else y * min(2 * (1 - y * p), 4)
    return y - (sigmoid(p) if loss == "logistic" else p)


class Twin:
    """Weights after some steps; ``examples`` are (label, {slot: value}), ``pairs`` says which two a step takes."""

    def __init__(self, loss, alpha, penalty, examples, pairs, seed=0, rate=None, project=False, l1=0.0, pair_loss=None):
        self.pair_loss = pair_loss or loss
        self.loss, self.alpha, self.penalty, self.seed = loss, alpha, penalty, seed
        self.examples, self.pairs, self.rate, self.project = examples, pairs, rate, project
        self.w = defaultdict(float)
        self.l1, self.due, self.received = l1, 0.0, defaultdict(float)  # the cumulative penalty, shrunk as weights are

    def drawn(self, i):
        """Terms, target and loss of step i; the examples come sorted as the population has them."""
        if uniform(self.seed, i, 0) < self.alpha:
            label, x = self.examples[int(uniform(self.seed, i, 1) * len(self.examples))]
            return x, target(self.loss, label), self.loss
        (a, x), (b, y) = (self.examples[place] for place in self.pairs(i))
        terms = {slot: x.get(slot, 0) - y.get(slot, 0) for slot in {*x, *y}}
        return terms, pair_target(self.pair_loss, a, b, self.loss == "logistic"), self.pair_loss

    def settle(self, slots):
        """Apply the penalty due to weights: no more than brings them to 0, and what is not received stays due."""
        for slot in slots:
            w, received = self.w[slot], self.received[slot]
            if w > 0:
                self.w[slot] = max(0.0, w - (self.due + received))
            elif w < 0:
                self.w[slot] = min(0.0, w + (self.due - received))
            self.received[slot] += self.w[slot] - w

    def step(self, i):
        x, y, loss = self.drawn(i)
        self.settle(x)
        p = sum(self.w[slot] * value for slot, value in x.items())
        eta = self.rate(i) if self.rate else 1 / (i * self.penalty)
        square = sum(value * value for value in x.values())
        if loss == "squared" and eta * square > 1:
            eta = 1 / square
        move = eta * descent(loss, p, y)
        end = {"absolute": y, "modified_huber": y}.get(loss)  # where the loss is least: no step goes beyond it
        if end is not None and abs(move) * square > abs(end - p):
            move = (end - p) / square if move else 0
        for slot in {*self.w, *x}:
            self.w[slot] = (1 - eta * self.penalty) * self.w[slot] + move * x.get(slot, 0)
            self.received[slot] *= 1 - eta * self.penalty if i > 1 else 1
        self.due = self.due * (1 - eta * self.penalty if i > 1 else 1) + eta * self.l1
        length = math.sqrt(sum(w * w for w in self.w.values()))
        if self.project and length * math.sqrt(self.penalty) > 1:
            for slot in self.w:
                self.w[slot] /= length * math.sqrt(self.penalty)


def every_pair(queries, labels):
    """All candidate pairs (i, j), i < j."""
    n = range(len(labels))
    return [(i, j) for i in n for j in n if i < j and queries[i] == queries[j] and labels[i] != labels[j]]


def average_precision(labels):
    """Of labels in ranked order."""
    hits = [k + 1 for k, label in enumerate(labels) if label > 0]
    return float(np.mean([(n + 1) / place for n, place in enumerate(hits)])) if hits else 0.0


def ndcg(labels, k):
    """LETOR 4.0: the first two positions are not discounted."""

    def dcg(ordered):
        return sum((2.0**y - 1) / (1 if j < 2 else math.log2(j + 1)) for j, y in enumerate(ordered[:k]))

    ideal = dcg(sorted(labels, reverse=True))
    return dcg(labels) / ideal if ideal else 0.0
