"""Matrix factorisation as Vowpal Wabbit has it: a linear score and, of every pair of namespaces, one of low rank.

The score of namespaces A and B is the sum over n of (sum of a_n(i) x_i over A) (sum of b_n(j) x_j over B). Every weight
moves by the gradient, with one rate that falls with time; with several pairs the gradients of all are those of the
first. A feature's weights begin between 0 and 0.1, by its place. All arithmetic is float32.
"""

import numpy as np

from .gd import F32, Gd
from .libm import powf
from .lrq import Chance
from .pipeline import namespaces


class VwRank:
    """``pairs``: (first letter, second letter) each."""

    def __init__(self, options, rank: int, pairs: list[tuple[int, int]]) -> None:
        self.options, self.rank, self.pairs = options, rank, pairs
        self.gd = Gd(options)
        columns, width = 2 * rank + 1, 2
        while width <= columns:
            width *= 2
        self.w = np.zeros((2**options.bits, columns), F32)
        for slot, row in enumerate(self.w):
            chance = Chance(slot * width)
            for column in range(columns):
                row[column] = F32(0.1) * chance.draw()
                chance.state += 1
        self.t = F32(1 if options.initial_t is None else options.initial_t)
        self.rate = F32(10 if options.learning_rate is None else options.learning_rate)
        self.rate = self.rate * powf(self.t, F32(options.power_t))
        self.seen: set[int] = set()

    def end_pass(self) -> None:
        self.rate = self.rate * F32(self.options.decay_learning_rate)

    def process_example(self, example, held: bool, learning: bool = True) -> list[np.float32]:
        """Prediction, raw prediction, loss before anything was learned, and the number of features."""
        gd, label, weight = self.gd, example.label, example.importance
        labeled = not np.isnan(label)
        if learning and labeled and not held:
            gd.extend_range(label)
        spaces = {
            char: [(index % len(self.w), x) for index, x, *_ in members]
            for char, members in namespaces(example, self.options, self.seen).items()
        }
        terms = [term for members in spaces.values() for term in members]
        raw, count, sums = example.base, len(terms), []
        for slot, x in terms:
            raw = raw + self.w[slot, 0] * x
        present = [(spaces[a], spaces[b]) for a, b in self.pairs if a in spaces and b in spaces]
        for first, second in present:
            count += self.rank * (len(first) + len(second))
            for n in range(1, self.rank + 1):
                left = sum((self.w[slot, n] * x for slot, x in first), F32(0))
                right = sum((self.w[slot, n + self.rank] * x for slot, x in second), F32(0))
                sums.append((left, right))
                raw = raw + left * right
        p = min(max(raw, gd.low), gd.high)
        loss = gd.current_loss().value(p, label) * weight if labeled and weight > 0 else F32(0)
        if learning and labeled and not held and weight > 0:
            self.learn(terms, present, sums, p, label, weight)
        self.t = self.t + weight
        return [p, raw, loss, F32(count)]

    def learn(self, terms, present, sums, p, label, weight) -> None:
        rate = self.rate / powf(self.t + weight, F32(self.options.power_t)) / F32(3) * weight
        step, shrink = self.gd.current_loss().update(p, label, rate, F32(1)), rate * F32(self.options.l2)
        for slot, x in terms:
            self.w[slot, 0] += step * x - shrink * self.w[slot, 0]
        for first, second in present:
            for n, (left, right) in enumerate(sums[: self.rank], 1):
                for slot, x in first:
                    self.w[slot, n] += step * right * x - shrink * self.w[slot, n]
                for slot, x in second:
                    self.w[slot, n + self.rank] += step * left * x - shrink * self.w[slot, n + self.rank]
