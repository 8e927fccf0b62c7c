"""Kernel support vector machines by LASVM with a budget, in plain Python.

As Vowpal Wabbit has it: every vector keeps a row of kernels by the places of the support vectors, which is completed
when it is used, and of which a place goes, or moves to the front, with the vector that stood there.
"""

import math

import numpy as np

F = np.float32
MASK = (1 << 64) - 1


class Chance:
    def __init__(self, state):
        self.state = state

    def __call__(self):
        self.state = (self.state * 0xEECE66D5DEECE66D + 2147483647) & MASK
        bits = np.array([self.state >> 25 & 0x7FFFFF | 0x3F800000], np.uint32)
        return float(bits.view(F)[0] - F(1))


class Vector:
    def __init__(self, terms, label, most, origin):
        """``terms``: values by slot."""
        self.terms = {slot: F(terms[slot]) for slot in sorted(terms)}
        self.label, self.most, self.origin = F(label), F(most), origin
        self.a = self.slope = self.square = F(0)
        self.row = []
        for value in self.terms.values():
            self.square = F(self.square + value * value)


class Machine:
    def __init__(
        self, kernel, degree=2, bandwidth=1.0, l2=1.0, reprocess=1, pool_size=1, budget=0, seed=0, bias_scale=None
    ):
        self.bias = F((bias_scale or 0) ** 2)
        self.name, self.degree, self.bandwidth, self.l2 = kernel, degree, F(bandwidth), F(l2)
        self.steps, self.pool_size, self.budget, self.chance = reprocess, pool_size, budget, Chance(seed)
        self.support, self.pool = [], []
        self.evaluations = self.queries = 0

    def kernel(self, left, right):
        product = F(0)
        for slot in sorted(left.terms.keys() & right.terms.keys()):
            product = F(product + left.terms[slot] * right.terms[slot])
        return self.of(product, left.square, right.square)

    def of(self, product, left, right):
        if self.name == "poly":
            return F(float(F(1) + product) ** self.degree) + self.bias
        rbf = self.name == "rbf"
        return self.bias + (F(np.exp(-self.bandwidth * F(F(left + right) - F(2) * product))) if rbf else product)

    def complete(self, vector):
        if len(vector.row) >= len(self.support):
            self.queries += len(self.support)
            return
        self.evaluations += len(vector.row)
        vector.row += [self.kernel(vector, other) for other in self.support[len(vector.row) :]]

    def sum_of(self, vector):
        total = F(0)
        for value, other in zip(vector.row, self.support, strict=False):
            total = F(total + value * other.a)
        return total

    def predict(self, vector):
        self.complete(vector)
        return F(self.sum_of(vector) / self.l2)

    def shift(self, row, change):
        for value, other in zip(row, self.support, strict=False):
            other.slope = F(other.slope + F(F(change * value) * other.label) / self.l2)

    def step(self, place):
        one = self.support[place]
        self.complete(one)
        total, own, old = self.sum_of(one), one.row[place], one.a
        one.slope = F(F(total * one.label) / self.l2 - F(1))
        rest = F(total - old * own)
        new = F((self.l2 - F(rest * one.label)) / own) if own else F(math.inf)
        new = F(min(max(new, F(0)), one.most) * one.label)
        change = F(new - old)
        if abs(change) > 1:
            change = F(math.copysign(1, change))
            new = F(old + change)
        self.shift(one.row, change)
        one.a = new
        if abs(new) <= 1e-10:
            self.remove(place)

    def remove(self, place):
        del self.support[place]
        for other in self.support:
            del other.row[place : place + 1]

    def to_front(self, place):
        one = self.support[place]
        self.complete(one)
        self.support.insert(0, self.support.pop(place))
        for number, other in enumerate(self.support):
            other.row.insert(0, other.row.pop(place) if place < len(other.row) else one.row[number])

    def worst(self):
        result, most = 0, F(0)
        for place, one in enumerate(self.support):
            size = one.a * one.label
            wrong = (size < one.most and one.slope < 0) or (size > 0 and one.slope > 0)
            if wrong and abs(one.slope) > most:
                result, most = place, abs(one.slope)
        return result if most > 0 else None

    def reprocess(self):
        for _ in range(self.steps):
            if not self.support:
                break
            if self.chance() < 0.5:
                self.step(int(F(self.chance()) * F(len(self.support))))
            elif (place := self.worst()) is not None:
                self.to_front(place)
                self.step(place)

    def settle(self):
        self.reprocess()
        while self.budget and len(self.support) > self.budget:
            self.merge()

    def merge(self):
        """Of the vector whose removal costs least with its nearest of the same class."""
        cost = [one.a * one.a * self.kernel(one, one) for one in self.support]
        one = self.support[int(np.argmin(cost))]
        self.complete(one)
        near = [
            (self.kernel(other, other) - F(2) * self.kernel(one, other), place)
            for place, other in enumerate(self.support)
            if other is not one and other.label == one.label
        ]
        self.shift(one.row, -one.a)
        if not near:
            return self.remove(self.support.index(one))
        other = self.support[min(near)[1]]
        self.complete(other)
        self.shift(other.row, -other.a)
        share, a = self.best_share(one, other)
        slots = one.terms.keys() | other.terms.keys()
        terms = {slot: share * one.terms.get(slot, 0) + (1 - share) * other.terms.get(slot, 0) for slot in slots}
        made = Vector(terms, one.label, one.most + other.most, -1)
        self.remove(self.support.index(one))
        self.remove(self.support.index(other))
        self.support.append(made)
        self.complete(made)
        made.a = F(made.label * min(F(a), made.most))
        self.shift(made.row, made.a)
        made.slope = F(F(made.label * self.sum_of(made)) / self.l2 - F(1))
        return None

    def best_share(self, one, other):
        """By trying many; how much of both a vector between them explains."""
        both = float(sum(one.terms[slot] * other.terms[slot] for slot in one.terms.keys() & other.terms.keys()))
        left, right = float(one.square), float(other.square)

        def kernel(product, first, second):
            if self.name == "poly":
                return (1 + product) ** self.degree
            return math.exp(-float(self.bandwidth) * (first + second - 2 * product)) if self.name == "rbf" else product

        def explained(share):
            rest = 1 - share
            square = share * share * left + 2 * share * rest * both + rest * rest * right
            total = abs(one.a) * kernel(share * left + rest * both, left, square)
            total += abs(other.a) * kernel(share * both + rest * right, right, square)
            own = kernel(square, square, square)
            return (total * total / own, total / own) if own > 0 else (0.0, 0.0)

        low, high = 0.0, 1.0
        for _ in range(40):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if explained(first)[0] > explained(second)[0] else (first, high)
        share = (low + high) / 2
        return share, explained(share)[1]

    def learn(self, terms, label, importance=1.0, origin=-1, again=False):
        """The prediction made before; ``again``: in a pass after the first."""
        known = [place for place, one in enumerate(self.support) if again and one.origin == origin >= 0]
        if known:
            raw = self.predict(self.support[known[0]])
            self.step(known[0])
            self.settle()
            return raw
        one = Vector(terms, label, importance, origin)
        raw = self.predict(one)
        if again and raw * one.label >= F(1 - 1e-4):
            return raw
        self.pool.append(one)
        if len(self.pool) == self.pool_size:
            self.queries += len(self.pool) * len(self.support)  # vw predicts them once more
            waiting, self.pool = self.pool, []
            for one in waiting:
                self.support.append(one)
                self.step(len(self.support) - 1)
                self.settle()
        return raw
