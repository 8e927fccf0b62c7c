"""Steps on all pairs of one query in plain Python: metrics are computed anew for every two rows that change places."""

import math
from collections import defaultdict

from oracle.crr import MASK, PHI, average_precision, descent, mix64, target, uniform


def discount(rank):
    return 1 / math.log2(rank) if rank > 2 else 1.0


def gain(labels, ranks):
    """The discounted gain of labels in ranked order."""
    return sum((2.0**y - 1 if y > 0 else 0) * discount(rank) for rank, y in enumerate(labels[:ranks], 1))


def swapped(order, a, b):
    return [{a: b, b: a}.get(row, row) for row in order]


class QueryTwin:
    """``queries`` are lists of (label, {slot: value}, importance), lowest labels first; ``rows`` are all rows, in the
    order of the index, for steps on one of them. Queries are drawn alike.
    """

    def __init__(
        self,
        weighting,
        queries,
        rows,
        alpha=0.0,
        seed=0,
        rate=0.1,
        schedule="adaptive",
        mean=False,
        ranks=None,
        limit=1000,
        loss="squared",
        constant=None,
    ):
        self.weighting, self.queries, self.rows, self.alpha, self.mean = weighting, queries, rows, alpha, mean
        self.seed, self.rate, self.schedule, self.ranks, self.limit = seed, rate, schedule, ranks, limit
        self.loss, self.constant = loss, constant
        self.w, self.squares = defaultdict(float), defaultdict(float)

    def score(self, x):
        return sum(self.w[slot] * value for slot, value in x.items())

    def weight(self, query, order, a, b):
        """Of the pair of rows a, the better one, and b: what the metric changes when they change places."""
        if self.weighting == "all":
            return query[a][2] * query[b][2]
        before, after = ([query[row][0] for row in rows] for rows in (order, swapped(order, a, b)))
        if self.weighting == "lambda-map":
            return abs(average_precision(after) - average_precision(before))
        return abs(gain(after, self.ranks) - gain(before, self.ranks)) / gain(sorted(before, reverse=True), self.ranks)

    def pairs(self, query, i):
        """(a, b, share) of every pair that step i takes."""
        mixed = mix64((self.seed * PHI + i) & MASK)
        for a, (label, _, _) in enumerate(query):
            below = [b for b in range(len(query)) if query[b][0] < label]
            if len(query) <= self.limit or len(below) <= 50:
                yield from ((a, b, 1.0) for b in below)
                continue
            for k in range(50):
                counter = (mixed + ((a * 50 + k) * 8 + 1) * PHI) & MASK
                u = ((mix64(counter) >> 12) + 0.5) / 2**52
                yield a, below[int(u * len(below))], len(below) / 50

    def query_gradient(self, i):
        query = self.queries[int(uniform(self.seed, i, 1) * len(self.queries))]
        scores = [self.score({s: v for s, v in x.items() if s != self.constant}) for _, x, _ in query]
        order = sorted(range(len(query)), key=lambda row: (-scores[row], row))
        pull, total = [0.0] * len(query), 0.0
        for a, b, share in self.pairs(query, i):
            weight = share * self.weight(query, order, a, b)
            total += weight
            move = weight / (1 + math.exp(scores[a] - scores[b]))
            pull[a] += move
            pull[b] -= move
        divisor = total if self.mean else 1.0
        return self.summed([(c / divisor, x) for c, (_, x, _) in zip(pull, query, strict=True)])

    def summed(self, parts):
        """By slot: sums of which rounding alone is left are 0."""
        total, size = defaultdict(float), defaultdict(float)
        for c, x in parts:
            for slot, value in x.items():
                total[slot] += c * value
                size[slot] += abs(c * value)
        return {slot: g for slot, g in total.items() if slot != self.constant and abs(g) > 1e-12 * size[slot]}

    def example_gradient(self, i):
        y, x, _ = self.rows[int(uniform(self.seed, i, 1) * len(self.rows))]
        c = descent(self.loss, self.score(x), target(self.loss, y))
        return {slot: c * value for slot, value in x.items() if c * value}

    def step(self, i):
        on_example = uniform(self.seed, i, 0) < self.alpha
        for slot, g in (self.example_gradient(i) if on_example else self.query_gradient(i)).items():
            self.squares[slot] += g * g
            self.w[slot] += (
                g
                * {
                    "adaptive": self.rate / math.sqrt(self.squares[slot]),
                    "invsqrt": self.rate / math.sqrt(i),
                    "constant": self.rate,
                }[self.schedule]
            )
