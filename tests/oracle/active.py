"""Active learning and confidences around the plain twin ``Gd``."""

import copy

import numpy as np

from .curved_losses import LINKS
from .gd import F32, Gd
from .libm import logf, powf
from .options import Options

MULTIPLIER, INCREMENT = 0xEECE66D5DEECE66D, 2147483647
OFFSET = F32(0.0001)


class Active:
    """``kind``: simulation, active, confidence or after. ``chance`` is the state of vw's random numbers."""

    def __init__(
        self, kind: str, options: Options, mellowness: float, seed: int, binary: bool = False, strict: bool = False
    ):
        self.strict = strict
        self.kind, self.gd, self.mellowness, self.chance = kind, Gd(options), F32(mellowness), seed
        self.binary = binary
        self.labeled = self.sum_loss = self.unlabeled = 0.0
        self.low, self.high = F32(0), F32(1)
        self.queries = 0

    def run(self, item: tuple, held: bool):
        """``(prediction, loss, label, weight, told)`` of an example and its terms; the loss is before --binary."""
        example, (terms, _, squares) = item
        self.item, gd = (terms, squares), self.gd
        y, weight, told = example.label, F32(example.importance), None
        learn = not (np.isnan(y) or held or gd.options.test_only)
        with np.errstate(all="ignore"):
            if learn:
                gd.extend_range(y)
            p = gd.predict(terms, example.base)[1]
            learn = learn and weight > 0
            if self.kind == "simulation":
                y, weight = self.simulate(p, y, weight) if learn else (y, weight)
            elif self.kind == "active":
                told = self.offer(p, y, weight, learn)
            else:
                told = self.sure(p, y, weight, learn)
            loss = self.book(p, y, weight, held)
            if self.kind == "active":
                told = self.ask(told, F32(self.unlabeled)) if np.isnan(y) else F32(-1)
        return p, loss, y, weight, told

    def simulate(self, p, y, weight):
        importance = self.ask(abs(p) / self.sensitivity(p, y, weight), F32(self.gd.t))
        if not importance > 0:
            return F32(np.nan), F32(0)
        self.queries += 1
        self.teach(p, y, weight * importance)
        return y, weight * importance

    def offer(self, p, y, weight, learn):
        if learn:
            self.teach(p, y, weight)
        if not np.isnan(y):
            self.low, self.high = min(self.low, y), max(self.high, y)
            return F32(0)
        middle = (self.gd.high + self.gd.low) * F32(0.5)
        return abs(p - middle) / self.sensitivity(p, self.low if p >= middle else self.high, weight)

    def sure(self, p, y, weight, learn):
        other = F32(-1 if p > 0 else 1) if np.isnan(y) else y
        if self.kind == "confidence":
            known = p if self.strict or np.isnan(y) else F32(0)
            moved = self.sensitivity(known, other, weight)
        if learn:
            self.teach(p, y, weight)
        if self.kind == "after":
            other = other if self.strict or not np.isnan(y) else np.finfo(np.float32).max
            moved = self.sensitivity(p, other, weight)
        return abs(p) / moved

    def teach(self, p, y, weight) -> None:
        terms, squares = self.item
        self.gd.step(terms, p, y, weight, squares)

    def sensitivity(self, p, y, weight) -> np.float32:
        """By a trial of every slot alone, on a copy."""
        (terms, squares), gd = self.item, self.gd
        rate, k = gd.rate, squares
        if not gd.adaptive:
            rate = rate * powf(gd.t + 1.0 - gd.idle, -gd.power_t)
        if gd.adaptive or gd.normalized:
            k, length = F32(0), F32(0)
            for term in terms:
                trial = alone(gd, term[0])
                slope = weight * gd.current_loss().square_grad(p, y)
                x2 = max(term[1] * term[1], F32(np.finfo(np.float32).tiny))
                if gd.adaptive:
                    trial.g[0] += slope * x2
                if gd.normalized:
                    trial.rescale(0, np.sqrt(x2))
                    length += x2 / (trial.n[0] * trial.n[0])
                k += x2 * trial.rate_of(0)
            if gd.normalized:
                trial = copy.copy(gd)
                trial.length, trial.total = F32(gd.length) + weight * length, F32(gd.total) + weight
                k = k * trial.normalizer()
        return rate * k

    def ask(self, flip, seen) -> np.float32:
        bias = F32(1)
        if seen > 1:
            bias = self.strict_probability(seen, flip / seen) if self.strict else self.probability(seen, flip / seen)
        self.chance = (self.chance * MULTIPLIER + INCREMENT) % 2**64
        bits = np.uint32(self.chance >> 25 & 0x7FFFFF | 0x3F800000)
        return F32(1) / bias if bits.view(np.float32) - F32(1) < bias else F32(-1)

    def probability(self, seen, flip) -> np.float32:
        bound = self.mellowness * (logf(seen + F32(1)) + OFFSET) / (seen + OFFSET)
        if flip <= np.sqrt(bound) * np.sqrt(share(share(F32(self.sum_loss) / seen) + flip)) + bound:
            return F32(1)
        ratio = (F32(1) + np.sqrt(F32(1) + F32(4) * flip)) / F32(2) * flip
        return bound * ratio * ratio

    def strict_probability(self, seen, flip) -> np.float32:
        """As in the paper (Beygelzimer, Hsu, Langford and Zhang, 2010)."""
        bound = self.mellowness * (logf(seen + F32(1)) + OFFSET) / (seen + OFFSET)
        loss = F32(self.sum_loss) / seen
        loss = share(loss + np.sqrt((F32(1) + F32(0.5) * logf(seen)) / (F32(self.labeled) + OFFSET)))
        root = np.sqrt(loss) + np.sqrt(loss + flip)
        if flip <= np.sqrt(bound) * root + bound:
            return F32(1)
        ratio = (root + np.sqrt(root * root + F32(4) * flip)) / (F32(2) * flip)
        return bound * ratio * ratio

    def book(self, p, y, weight, held) -> np.float32:
        gd, labeled, loss = self.gd, not np.isnan(y), F32(0)
        gd.t += float(weight)
        gd.idle += float(weight) if held or not labeled else 0.0
        self.unlabeled += 0.0 if labeled else float(weight)
        if labeled and weight > 0:
            loss = F32(gd.current_loss().value(p, y) * weight)
        if labeled and not held:
            self.labeled += float(weight)
            self.sum_loss += float(self.wrong(p, y) * weight if self.binary and weight > 0 else loss)
        return loss

    def wrong(self, p, y) -> np.float32:
        """Of the shown prediction: a margin too small for the link to tell from none is -1, but not to vw."""
        link = self.gd.options.link
        middle = {"logistic": 0.5, "poisson": 1.0}.get(link, 0.0) if self.strict else 0.0
        return F32((1 if LINKS[link](p) > middle else -1) != y)


def share(x) -> np.float32:
    return min(max(x, F32(0)), F32(1))


def alone(gd: Gd, slot: int) -> Gd:
    """A copy with this slot only."""
    trial = copy.copy(gd)
    for name in ("w", "g", "n", "r"):
        setattr(trial, name, getattr(gd, name)[[slot]])
    return trial
