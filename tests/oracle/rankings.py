"""Metrics of one query, of its labels in ranked order, straight from their definitions."""

import math
from itertools import pairwise, permutations


def orders(labels, predictions):
    """The labels in every order of descending predictions."""
    for order in permutations(range(len(labels))):
        if all(predictions[a] >= predictions[b] for a, b in pairwise(order)):
            yield [labels[i] for i in order]


def reciprocal_rank(labels):
    return next((1 / place for place, label in enumerate(labels, 1) if label > 0), 0.0)


def precision(labels, k):
    return sum(label > 0 for label in labels[:k]) / k


def recall(labels, k):
    relevant = sum(label > 0 for label in labels)
    return sum(label > 0 for label in labels[:k]) / relevant if relevant else 0.0


def hit_rate(labels, k):
    return float(any(label > 0 for label in labels[:k]))


def expected_reciprocal_rank(labels, k, largest):
    going_on, result = 1.0, 0.0
    for place, label in enumerate(labels[:k], 1):
        stops = (2.0 ** max(label, 0) - 1) / 2.0 ** max(largest, 0)
        result += going_on * stops / place
        going_on *= 1 - stops
    return result


def auc(labels):
    """Of labels without ties; None where all are relevant, or none."""
    pairs = [(a, b) for a, x in enumerate(labels) for b, y in enumerate(labels) if x > 0 >= y]
    return sum(a < b for a, b in pairs) / len(pairs) if pairs else None


def ndcg(labels, linear, log2):
    """Of all positions' cumulative gains the last."""

    def total(ordered):
        gains = (max(y, 0) if linear else 2.0 ** max(y, 0) - 1 for y in ordered)
        below = (math.log2(j + 1) if log2 else max(math.log2(j), 1) for j in range(1, len(ordered) + 1))
        return sum(gain / under for gain, under in zip(gains, below, strict=True))

    ideal = total(sorted(labels, reverse=True))
    return total(labels) / ideal if ideal else 0.0
