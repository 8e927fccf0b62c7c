"""Several outputs, or classes, by a matrix of low rank, in double precision: each example penalises all rows."""

import numpy as np

from .gd import Gd
from .options import Options
from .softmax import Multiclass

EXACT = 1e-3


class Factored:
    """Terms are (row, value); labels are a number or None for each output. ``start``: the first rows of outputs."""

    def __init__(self, options: Options, start: np.ndarray, rows: int, price: float):
        self.ranges = [Gd(options) for _ in start]  # of labels, and the losses that know them
        self.begin(start, rows, price, float(self.ranges[0].rate))

    def begin(self, start: np.ndarray, rows: int, price: float, rate: float) -> None:
        self.price, self.rate = price, rate
        self.b = start.astype(float)
        self.a = np.zeros((rows, start.shape[1]))
        self.g, self.scale, self.h = np.zeros(rows), np.zeros(rows), np.zeros(len(start))
        self.norm_sum = self.norm_weight = 0.0

    def run(self, terms, labels, weight: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Predictions, raw ones, the loss; one update."""
        raw = self.b @ self.latent(terms)
        for one, y in zip(self.ranges, labels, strict=True):
            if y is not None:
                one.extend_range(np.float32(y))
        p = np.array([self.clipped(c, z) for c, z in enumerate(raw)])
        known = [(one.current_loss(), z, y) for one, z, y in zip(self.ranges, p, labels, strict=True) if y is not None]
        loss = weight * sum(float(one.value(np.float32(z), np.float32(y))) for one, z, y in known)
        if known and weight > 0:
            self.learn(terms, p, labels, weight)
        return p, raw, loss

    def clipped(self, c: int, z: float) -> float:
        return float(min(max(z, self.ranges[c].low), self.ranges[c].high))

    def latent(self, terms) -> np.ndarray:
        return sum((x * self.a[row] for row, x in terms), np.zeros(self.a.shape[1]))

    def slope(self, c: int, p: float, y) -> float:
        loss = self.ranges[c].current_loss()
        return float(loss.dl(p, y)) if y is not None and loss.learns(p, y) else 0.0

    def slopes(self, p: np.ndarray, labels) -> np.ndarray:
        return np.array([self.slope(c, one, y) for c, (one, y) in enumerate(zip(p, labels, strict=True))])

    @property
    def factor(self) -> float:
        return np.sqrt(self.norm_weight / self.norm_sum) if self.norm_sum else 1.0

    def row_rates(self) -> np.ndarray:
        product = np.sqrt(self.g) * self.scale
        return np.divide(1, product, out=np.zeros_like(product), where=product > 0)

    def learn(self, terms, p: np.ndarray, labels, weight: float) -> None:
        """``p``: the predictions before, clipped."""
        most = self.rate * weight
        latent = self.latent(terms)
        taken = self.move_features(terms, latent, p, labels, weight, most)
        self.a *= np.exp(-self.price * taken * self.row_rates())[:, None]
        self.move_outputs(labels, weight, most, latent)

    def move_outputs(self, labels, weight, most, latent) -> None:
        norm = latent @ latent
        for c, y in enumerate(labels):
            self.move_output(c, self.clipped(c, self.b[c] @ latent), y, weight, most, latent, norm)

    def move_features(self, terms, latent, p, labels, weight, most) -> float:
        pull = self.slopes(p, labels) @ self.b
        if not pull.any():
            return most * self.factor
        for row, x in terms:
            if abs(x) > self.scale[row]:
                self.a[row] *= self.scale[row] / abs(x)
                self.scale[row] = abs(x)
        self.norm_sum += weight * sum((x / self.scale[row]) ** 2 for row, x in terms)
        self.norm_weight += weight
        for row, x in terms:
            self.g[row] += weight * x * x * (pull @ pull)
        rates = self.row_rates()
        reach = self.factor * sum(x * x * rates[row] for row, x in terms)
        way = reach * self.b @ pull

        def ahead(step):
            return self.slopes(p - step * way, labels) @ way

        taken = implicit_step(ahead, most)
        for row, x in terms:
            self.a[row] -= taken * self.factor * rates[row] * x * pull
        latent -= taken * reach * pull
        return taken * self.factor

    def move_output(self, c, p, y, weight, most, latent, norm) -> None:
        slope = self.slope(c, p, y)
        self.h[c] += weight * slope**2 * norm
        if not self.h[c]:
            return
        rate, step, taken = 1 / np.sqrt(self.h[c]), 0.0, most
        if slope:
            step = float(self.ranges[c].current_loss().update(*map(np.float32, (p, y, most, norm * rate))))
            taken = -step / slope
        self.b[c] = (self.b[c] + step * rate * latent) * np.exp(-self.price * taken * rate)


class FactoredClasses(Factored):
    """Classes, with the loss of a ``Multiclass``; a label is a class from 0, or the share of each."""

    def __init__(self, loss: str, start: np.ndarray, rows: int, price: float, rate: float = 0.5):
        self.loss = Multiclass(loss, len(start), 1)
        self.loss.edge = 0.03  # an implicit step is found to EXACT
        self.begin(start, rows, price, rate)

    def run(self, terms, true, weight: float) -> np.ndarray:
        """The scores before; one update."""
        scores = self.b @ self.latent(terms)
        self.learn(terms, scores, true, weight)
        return scores

    def slopes(self, p: np.ndarray, true) -> np.ndarray:
        return self.loss.slopes(p, true)

    def move_outputs(self, true, weight, most, latent) -> None:
        norm, scores = latent @ latent, self.b @ latent
        slopes = self.slopes(scores, true)
        self.h += weight * slopes**2 * norm
        rates = np.divide(1, np.sqrt(self.h), out=np.zeros_like(self.h), where=self.h > 0)
        change = self.loss.flow(scores, true, norm * rates, most) - scores
        step = np.divide(change, norm * rates, out=np.zeros_like(change), where=norm * rates > 0)
        taken = np.linalg.norm(step) / np.linalg.norm(slopes) if slopes.any() and norm else most
        self.b = (self.b + np.outer(step * rates, latent)) * np.exp(-self.price * taken * rates)[:, None]


def implicit_step(ahead, most: float) -> float:
    """The step t with t = most * ahead(t) / ahead(0), by bisection."""
    now = ahead(0.0)
    if now <= 0 or most - most * ahead(most) / now <= EXACT * most:
        return most
    low, high = 0.0, most
    for _ in range(100):
        at = (low + high) / 2
        low, high = (low, at) if at - most * ahead(at) / now > 0 else (at, high)
    return at
