"""Several outputs: a twin of ``Gd`` for each; those with shared rates measure an example once."""

import numpy as np

from .curved_losses import LINKS
from .gd import F32, Gd
from .libm import powf
from .options import Options


class SharedRates(Gd):
    """Sums, scales and rates of features; ``factor`` is what an example's larger values shrink weights by."""

    def rescale(self, slot: int, x: np.float32) -> None:
        self.w[slot] = self.factor.get(slot, F32(1))
        super().rescale(slot, x)
        self.factor[slot] = self.w[slot]


class Outputs:
    """``options.bits`` are those of one output's slots."""

    def __init__(self, count: int, options: Options, shared: bool) -> None:
        self.options, self.twins = options, [Gd(options) for _ in range(count)]
        self.rates = SharedRates(options) if shared else None

    def run(self, terms, squares, labels, weight, learn: bool):
        """One example; ``labels``: a number or None for each output. Predictions, raw ones, losses."""
        weight, answers = F32(weight), []
        for twin, label in zip(self.twins, labels, strict=True):
            known = label is not None
            if learn and known:
                twin.extend_range(label)
            raw, p = twin.predict(terms)
            loss = twin.current_loss().value(p, label) * weight if known and weight > 0 else F32(0)
            answers.append((p, raw, loss))
        clipped = [p for p, _, _ in answers]
        if learn and weight > 0:
            if self.rates:
                self.learn_shared(terms, squares, clipped, labels, weight)
            for twin, p, label in zip(self.twins, clipped, labels, strict=True):
                if label is not None and not self.rates:
                    twin.step(terms, p, label, weight, squares)
        for twin, label in zip(self.twins, labels, strict=True):
            twin.t += float(weight)
            twin.idle += 0.0 if learn and label is not None else float(weight)
        link = LINKS[self.options.link]
        return [(link(p), raw, loss) for p, raw, loss in answers]

    def learn_shared(self, terms, squares, clipped, labels, weight) -> None:
        rates, k = self.rates, squares
        rated, labelled = rates.adaptive or rates.normalized, [label for label in labels if label is not None]
        learning = [
            (twin, p, label)
            for twin, p, label in zip(self.twins, clipped, labels, strict=True)
            if label is not None and twin.current_loss().learns(p, label)
        ]
        if rated:
            square = F32(0)
            for twin, p, label in learning:
                square = square + weight * twin.current_loss().square_grad(p, label)
            square = square / F32(len(labelled))
            if square == 0:
                return
            rates.factor = {}
            k = rates.measure(terms, square, weight)
            for slot, factor in rates.factor.items():
                for twin in self.twins:
                    twin.w[slot] *= factor
            if not terms:
                rates.ratio = rates.ratio if np.isfinite(rates.ratio) else F32(1)
        for twin, p, label in learning:
            self.step(twin, terms, p, label, weight, k)
        for twin in self.twins:
            if twin.contraction < 1e-9 or twin.gravity > 1e3:
                twin.sync()

    def step(self, twin: Gd, terms, p, y, weight, k) -> None:
        loss, u = twin.current_loss(), twin.rate * weight
        if not twin.adaptive:
            u = u * powf(twin.t + float(weight) - twin.idle, -twin.power_t)
        delta = loss.update(p, y, u, k) if twin.invariant else loss.unsafe_update(p, y, u)
        if (self.options.l1 or self.options.l2) and abs(delta) > 1e-8:
            delta = twin.shrink(delta, loss.dl(p, y))
        twin.r, twin.ratio = self.rates.r, self.rates.ratio
        if terms:
            twin.move(terms, delta)
