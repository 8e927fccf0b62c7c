"""Labels in units of their spread: the moments that are kept, one label after the other."""

import math

import numpy as np

from .gd import F32, Gd


class Moments:
    """Of labels less the initial prediction. ``centred``: their mean is kept, not taken for 0."""

    def __init__(self, by_deviation: bool = False, centred: bool = True):
        self.by_deviation, self.centred = by_deviation, centred
        self.weight = self.count = self.mean = self.variance = self.variance_all = self.deviation = 0.0

    @property
    def state(self) -> list[float]:
        return [self.weight, self.count, self.mean, self.variance, self.variance_all, self.deviation]

    @property
    def spread(self) -> float:
        return 1.2533 * self.deviation if self.by_deviation else math.sqrt(self.variance)

    @property
    def unit(self) -> float:
        return self.spread if self.by_deviation else max(self.spread, math.sqrt(self.variance_all))

    def add(self, label: float, weight: float) -> None:
        kept = self.weight / (self.weight + weight)
        for _ in range(3 if self.count >= 20 else 0):
            kept *= kept
        gain = 1 - kept
        self.weight += weight
        self.count += 1
        d = label - self.mean
        self.variance_all = kept * (self.variance_all + gain * d * d)
        if self.count >= 20 and self.variance > 0:
            limit = math.sqrt(self.variance * (2 / kept - 1) / gain)
            d = min(max(d, -limit), limit)
        if self.centred:
            self.mean += gain * d
        self.variance = kept * (self.variance + gain * d * d)
        self.deviation = kept * (self.deviation + gain * abs(d))


class InUnits(Gd):
    """Gradient descent on labels in units of their spread."""

    def set_range(self) -> None:
        super().set_range()
        self.moments = Moments(self.options.loss == "quantile", not self.options.noconstant)
        if not self.frozen:
            self.low, self.high = -np.finfo(F32).max, np.finfo(F32).max

    def extend_range(self, label) -> None:
        if self.moments.count:
            super().extend_range(label)
        elif not self.frozen:
            self.low = self.high = label

    def predict(self, terms, base=0.0):
        product, moments = super().predict(terms)[0], self.moments
        raw = F32(float(base) + moments.mean + moments.spread * float(product))
        return raw, min(max(raw, F32(self.low)), F32(self.high))

    def learn(self, terms, label, weight, base=0.0, squares=None):
        raw, p = self.predict(terms, base)
        self.shown_loss = self.current_loss().value(p, label) * weight if weight > 0 else F32(0)
        if weight <= 0:
            return raw, p
        product, moments = super().predict(terms)[0], self.moments
        self.extend_range(label)
        moments.add(float(label) - float(base), float(weight))
        if moments.spread > 0:
            middle, part, seen = float(base) + moments.mean, 1 / moments.unit, (self.low, self.high)
            self.low, self.high = (F32((float(bound) - middle) * part) for bound in seen)
            error = F32(float(product) * (moments.spread * part))
            squares = sum((x * x for _, x, *_ in terms), F32(0)) if squares is None else squares
            clipped = min(max(error, self.low), self.high)
            self.step(terms, clipped, F32((float(label) - middle) * part), F32(weight), squares)
            self.low, self.high = seen
        return raw, p
