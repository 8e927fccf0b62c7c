"""A dyadic model whose parameters have rates of their own, in float64, every parameter by itself."""

import math
from dataclasses import dataclass, field

import numpy as np

from .dyadic import Dyadic, full_flow, merged

SLOPES = {"squared": 1}  # the power of the labels' unit that the slope of a loss grows with


@dataclass
class DyadicRates(Dyadic):
    """``start`` gives start values in units of labels; ``pass_number`` is that of the present pass, from 0.

    For losses that curve, and importances up to 1.
    """

    pass_l2: float = 0.0
    seen: dict = field(default_factory=dict)  # parameter -> [N, updates, G]
    sums: dict = field(default_factory=dict)  # None: all linear terms, (pair, side) -> sum of h (x / N)^2
    labels: list = field(default_factory=list)  # (label, importance) of the first pass
    time: float = 0.0
    pass_number: int = 0

    @property
    def unit(self):
        if self.loss.name not in SLOPES or not self.labels:
            return 1.0
        y, h = np.array(self.labels).T
        mean = np.average(y, weights=h)
        return math.sqrt(np.average((y - mean) ** 2, weights=h)) or abs(mean) or 1.0

    def vector(self, pair, side, slot):
        known = self.latent.get((pair, side, slot))
        return super().vector(pair, side, slot) * math.sqrt(self.unit) if known is None else known

    def meet(self, key, x, values):
        """Where N grows, the values shrink by as much; the new values."""
        result = self.seen.setdefault(key, [0.0, 0, 0.0])
        result[1] += 1
        shrunk = values * min(1.0, result[0] / abs(x)) if result[0] else values / abs(x)
        result[0] = max(result[0], abs(x))
        return shrunk

    def normal(self, key, xs, h):
        """z of a side or of the linear terms, ``xs`` by parameter."""
        self.sums[key] = self.sums.get(key, 0.0) + h * sum((x / self.seen[one][0]) ** 2 for one, x in xs.items())
        return math.sqrt(self.time / self.sums[key])

    def learn(self, row, label, h=1.0):
        p = self.predict(row)
        self.time += h
        if not self.pass_number:
            self.labels.append((label, h))
        x = merged(row.linear)
        ((pair, left, right),) = self.sides(row)
        sides = [{(pair, 0, slot): v for slot, v in left.items()}, {(pair, 1, slot): v for slot, v in right.items()}]
        for key, v in [*sides[0].items(), *sides[1].items()]:
            self.latent[key] = self.meet(key, v, self.vector(*key))
        for slot, v in x.items():
            self.w[slot] = self.meet(slot, v, self.w.get(slot, 0.0))
        flow = self.flow(row, label)
        flow.rate, flow.l2 = 1.0, 0.0
        g = self.loss.slope(flow.p(0.0), label)
        rates = self.rates(x, sides, flow.terms[0], g, h)
        keys = [*x, *sides[0], *sides[1]]
        free = np.concatenate([np.full(1 if one in x else self.rank, rates[one]) for one in keys])
        w, moved = full_flow(flow, np.array([self.w[one] for one in x]), np.array([*x.values()]), h, 300, free=free)
        self.w |= dict(zip(x, w.tolist(), strict=True))
        for keys, values in zip(sides, moved[0], strict=True):
            self.latent |= dict(zip(keys, values, strict=True))
        self.decay(row, x, sides, rates, h)
        return p

    def rates(self, x, sides, term, g, h):
        """By parameter; sums of squared gradients grow before."""
        e, c, result = SLOPES.get(self.loss.name, 0), self.unit, {}
        for one, other, number in ((sides[0], term.b, 0), (sides[1], term.a, 1)):
            z = self.normal(number, one, h)
            for key, v in one.items():
                n = self.seen[key][0]
                self.seen[key][2] += h * (g * v / n) ** 2 * float(other @ other)
                result[key] = 0.4 * self.rate * z * math.sqrt(c / (c ** (2 * e + 1) + self.seen[key][2])) / n**2
        z = self.normal(None, x, h)
        for slot, v in x.items():
            n = self.seen[slot][0]
            self.seen[slot][2] += h * (g * v / n) ** 2
            result[slot] = self.rate * z * c / (n**2 * math.sqrt(self.seen[slot][2]))
        return result

    def decay(self, row, x, sides, rates, h):
        e, c = SLOPES.get(self.loss.name, 0), self.unit
        each = self.pass_l2 * (1 + self.pass_number) if self.pass_number else 0.0
        for key in [*sides[0], *sides[1]]:
            n, updates, _ = self.seen[key]
            decay = self.l2 * updates**-0.25 + each / updates
            self.latent[key] = self.latent[key] * math.exp(-decay * c**e * rates[key] * n * n * h)
            if key[2] in x:
                n = self.seen[key[2]][0]
                self.w[key[2]] *= math.exp(-each / updates * c ** (e - 1) * rates[key[2]] * n * n * h)
