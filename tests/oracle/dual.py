"""Steps and objectives of dual coordinate descent, of dense rows, by definition and by search."""

import math


def loss(name, y, p, tube=0.0):
    m = y * p
    return {
        "hinge": lambda: max(0.0, 1 - m),
        "squared_hinge": lambda: max(0.0, 1 - m) ** 2,
        "logistic": lambda: math.log1p(math.exp(-m)),
        "squared": lambda: (y - p) ** 2,
        "tube": lambda: max(0.0, abs(y - p) - tube),
    }[name]()


def conjugate(name, y, a, c, tube=0.0):
    """What a row adds to the dual: minus the conjugate of its loss times ``c``."""
    if name == "hinge":
        return a if 0 <= a <= c else -math.inf
    if name == "squared_hinge":
        return a - a * a / (4 * c) if a >= 0 else -math.inf
    if name == "logistic":
        return sum(-c * q * math.log(q) for q in (a / c, 1 - a / c) if q > 0) if 0 <= a <= c else -math.inf
    if name == "squared":
        return a * y - a * a / (4 * c)
    return a * y - tube * abs(a) if abs(a) <= c else -math.inf


OF_MARGIN = ("hinge", "squared_hinge", "logistic")


class Dual:
    """Rows ``x`` with labels ``y``, importance ``c`` and initial predictions ``b``."""

    def __init__(self, name, x, y, c, b, l2, tube=0.0):
        self.name, self.x, self.y, self.c, self.b, self.l2, self.tube = name, x, y, c, b, l2, tube
        self.a = [1e-8 * one for one in c] if name == "logistic" else [0.0] * len(y)

    def sign(self, i):
        return self.y[i] if self.name in OF_MARGIN else 1.0

    @property
    def w(self):
        return [
            sum(self.sign(i) * self.a[i] * row[k] for i, row in enumerate(self.x)) / self.l2
            for k in range(len(self.x[0]))
        ]

    def predict(self, i, w):
        return self.b[i] + sum(one * other for one, other in zip(w, self.x[i], strict=True))

    def primal(self, w=None):
        w = self.w if w is None else w
        total = sum(self.c[i] * loss(self.name, self.y[i], self.predict(i, w), self.tube) for i in range(len(self.y)))
        return self.l2 / 2 * sum(one * one for one in w) + total

    def dual(self):
        terms = (
            conjugate(self.name, self.y[i], self.a[i], self.c[i], self.tube) - self.sign(i) * self.a[i] * self.b[i]
            for i in range(len(self.y))
        )
        return sum(terms) - self.l2 / 2 * sum(one * one for one in self.w)

    def best(self, i):
        """The a_i that makes the dual largest while all others stay, by golden sections."""
        name, y, c, s = self.name, self.y[i], self.c[i], self.sign(i)
        square = sum(value * value for value in self.x[i]) / self.l2
        slope, old = self.predict(i, self.w) * s, self.a[i]

        def value(a):
            return conjugate(name, y, a, c, self.tube) - slope * (a - old) - square / 2 * (a - old) ** 2

        reach = abs(old) + (abs(slope) + abs(y) + 1 + self.tube) * (1 / square + 2 * c)
        low, high = {"hinge": (0.0, c), "logistic": (0.0, c), "squared_hinge": (0.0, reach), "tube": (-c, c)}.get(
            name, (-reach, reach)
        )
        ratio = (math.sqrt(5) - 1) / 2
        for _ in range(90):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            if value(left) < value(right):
                low = left
            else:
                high = right
        ends = [low, high, (low + high) / 2, 0.0, *((-c, c) if name == "tube" else (c,) if name == "hinge" else ())]
        return max(ends, key=value)

    def step(self, i):
        self.a[i] = self.best(i)
