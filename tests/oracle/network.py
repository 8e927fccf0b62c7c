"""Networks of tanh units by back-propagation (Rumelhart, Hinton and Williams 1986) and AdaGrad, in double precision.

Weights of an input start when it is first learned from, at a size that goes with the mean squared norm of inputs; they
are kept relative to the largest value that the input has had.
"""

import math

import numpy as np

MASK64 = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mixed(z: int) -> int:
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK64
    return z ^ (z >> 31)


def drawn(seed: int, place: int) -> float:
    """In (-1, 1)."""
    return 2 * ((mixed((seed + (place + 1) * GOLDEN) & MASK64) >> 12) + 0.5) / 2**52 - 1


def padded(units: int) -> int:
    return (units + 7) // 8 * 8


class Network:
    """``rows`` features at most; terms are (row, value). ``width`` places of draws for every row."""

    def __init__(self, hidden, outputs, rows, width, rate=0.5, seed=0, inpass=False, dropout=False):
        self.hidden, self.outputs, self.rate, self.width = hidden, outputs, rate, width
        self.seed, self.inpass, self.dropout = (seed + 1) * GOLDEN & MASK64, inpass, dropout
        self.norm_sum = self.norm_weight = 0.0
        self.learned = 0
        self.scale = np.zeros(rows)
        self.first = np.zeros((rows, hidden[0] + outputs * inpass))
        self.dense = []
        for number, (below, units) in enumerate(zip(hidden, [*hidden[1:], outputs], strict=True), 1):
            seed = self.seed + number * 0xD6E8FEB86659FD93 & MASK64
            reach = math.sqrt(6 / (below + units))
            rows_of = [[reach * drawn(seed, i * padded(units) + j) for j in range(units)] for i in range(below)]
            self.dense.append(np.array([*rows_of, [0.0] * units]))
        self.first_squares, self.dense_squares = np.zeros_like(self.first), [np.zeros_like(w) for w in self.dense]

    def norm(self) -> float:
        return math.sqrt(self.norm_weight / self.norm_sum) if self.norm_sum else 1.0

    def meet(self, terms, weight: float) -> None:
        self.norm_sum += weight * sum((x / max(self.scale[row], abs(x))) ** 2 for row, x in terms if x)
        self.norm_weight += weight
        for row, x in terms:
            if abs(x) <= self.scale[row]:
                continue
            if self.scale[row]:
                self.first[row] *= self.scale[row] / abs(x)
            else:
                for unit in range(self.hidden[0]):
                    start = drawn(self.seed, row * self.width + unit)
                    self.first[row, unit] = math.sqrt(3) * self.norm() / abs(x) * start
            self.scale[row] = abs(x)

    def forward(self, terms, base: float, kept) -> tuple[list[np.ndarray], np.ndarray]:
        """Tanh of the units of every layer, before any are left out, and the scores."""
        sums = sum((x * self.first[row] for row, x in terms), np.zeros(self.first.shape[1]))
        units, direct = [np.tanh(sums[: self.hidden[0]])], sums[self.hidden[0] :]
        for number, w in enumerate(self.dense):
            sums = np.append(units[-1] * kept[number], 1) @ w
            units.append(np.tanh(sums))
        return units[:-1], base + sums + (direct if self.inpass else 0)

    def everything(self):
        return [np.ones(units) for units in self.hidden]

    def half(self):
        seed = mixed((self.seed + self.learned) & MASK64)
        return [
            np.array([2.0 if drawn(seed + number & MASK64, unit) > 0 else 0.0 for unit in range(units)])
            for number, units in enumerate(self.hidden, 1)
        ]

    def scores(self, terms, base=0.0) -> np.ndarray:
        return self.forward(terms, base, self.everything())[1]

    def learn(self, terms, slopes_at, weight=1.0, base=0.0) -> np.ndarray:
        """The scores before; a step by the derivatives ``slopes_at(scores)``."""
        self.meet(terms, weight)
        before = self.scores(terms, base)
        kept = self.half() if self.dropout else self.everything()
        units, scores = self.forward(terms, base, kept)
        self.learned += 1
        above = slopes = np.array(slopes_at(scores), float)
        for number in reversed(range(len(self.dense))):
            w, values = self.dense[number], np.append(units[number] * kept[number], 1)
            below = kept[number] * (1 - units[number] ** 2) * (w[:-1] @ above)
            rate = self.rate / math.sqrt(len(values))
            self.step(w, self.dense_squares[number], enumerate(values), above, weight, rate)
            above = below
        above = np.append(above, slopes) if self.inpass else above
        self.step(self.first, self.first_squares, terms, above, weight, self.rate * self.norm(), self.scale)
        return before

    def step(self, w, squares, terms, slopes, weight, rate, scale=None) -> None:
        for row, x in terms:
            gradient = slopes * x
            squares[row] += weight * gradient**2
            size = 1.0 if scale is None else scale[row]
            if size:
                w[row] -= rate * weight * gradient / np.sqrt(squares[row] + 1e-30) / size
