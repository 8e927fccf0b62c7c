"""Learning without a rate, a coordinate at a time, in float32: coin betting and PiSTOL.

Coin betting (Orabona and Tommasi 2017, "Training deep networks without learning rates through coin betting"): every
coordinate is a gambler who begins with ``alpha`` and bets on the sign of the next negative gradient the share
``theta / (L (L + G))`` of what it has, where theta is the sum of the negative gradients, G that of their sizes and L
the largest that was possible so far. Vowpal Wabbit divides the bets by the mean square norm of the examples.

PiSTOL (Orabona 2014, "Simultaneous model selection and optimization through parameter-free stochastic learning",
algorithm 1): ``w = theta b sqrt(G) / (a L (G + L)) * exp(theta^2 / (2 a L (G + L)))`` with L the largest input.
"""

from dataclasses import replace

import numpy as np

from .curved_losses import LINKS
from .gd import F32, Gd
from .libm import expf
from .options import Options


class Coordinate:
    """What is known of one slot; ``row`` shows it in the order of a model's columns."""

    def __init__(self) -> None:
        self.weight = self.theta = self.size = self.input = self.won = self.slope = F32(0)

    @property
    def row(self) -> list[np.float32]:
        return [self.weight, self.theta, self.size, self.input, self.won, self.slope]

    def suffer(self, gradient: np.float32) -> None:
        self.theta = self.theta - gradient
        self.size = self.size + abs(gradient)


class Parameterless(Gd):
    """Label range, clipping and the loss are those of gradient descent."""

    kind = Coordinate
    looks_back = False  # what is shown is clipped by, and made of, what was known before the example

    def __init__(self, options: Options, alpha: float, beta: float, strict: bool) -> None:
        super().__init__(replace(options, own=strict))
        self.strict = strict  # Vowpal Wabbit leaves initial predictions out where it learns
        self.alpha, self.beta = F32(alpha), F32(beta)
        self.slots: dict[int, Coordinate] = {}

    def at(self, slot: int) -> Coordinate:
        return self.slots.setdefault(slot, self.kind())

    def weight_of(self, slot: int) -> np.float32:
        return self.slots[slot].weight if slot in self.slots else F32(0)

    def clipped(self, raw: np.float32) -> np.float32:
        return F32(0) if np.isnan(raw) else min(max(raw, self.low), self.high)

    def gradient_at(self, p, label, weight) -> np.float32:
        return self.current_loss().dl(p, label) * weight

    def process_example(self, terms: list, label, weight, base, learns: bool) -> list[np.float32]:
        """Prediction, raw prediction and loss of an example; NaN is no label."""
        labeled = not np.isnan(label)
        _, before = self.predict(terms, base)
        if labeled and learns:
            self.extend_range(label)
        raw, p = self.predict(terms, base)
        if labeled and learns and weight > 0:
            raw, p = self.teach(terms, label, weight, base if self.strict else F32(0))
        shown = before if self.looks_back else p
        loss = self.current_loss().value(p, label) * weight if labeled and weight > 0 else F32(0)
        return [F32(LINKS[self.options.link](shown)), raw, loss]

    def table(self) -> np.ndarray:
        """float32[slots, columns of a row]"""
        return np.array([self.slots.get(slot, self.kind()).row for slot in range(2**self.options.bits)], F32)


class Coin(Parameterless):
    """What is shown is what the weights, those of the last bets, predict; learned and lost is what the next ones do."""

    looks_back = True
    norms, seen = 0.0, 0.0  # float64 sums of squared norms and of importance

    def bet(self, at: Coordinate, most: np.float32) -> np.float32:
        """``most`` is the largest input, this one's included."""
        largest = at.slope * most
        return (self.alpha + at.won) / (largest * (largest + at.size)) * at.theta if largest > 0 else F32(0)

    def teach(self, terms, label, weight, base):
        norm = raw = F32(0)
        for slot, x, *_ in terms:
            most = max(abs(x), self.at(slot).input)
            raw = raw + self.bet(self.at(slot), most) * x
            norm = norm + (x / most) ** 2
        self.norms += float(weight) * float(norm)
        self.seen += float(weight)
        mean = F32((self.norms + 1e-6) / self.seen)
        raw = base + raw / mean
        p = self.clipped(raw)
        slope = self.gradient_at(p, label, weight)
        for slot, x, *_ in terms:
            self.settle(self.at(slot), x, slope, mean)
        return raw, p

    def settle(self, at: Coordinate, x, slope, mean) -> None:
        """The bet is made anew where the largest input or slope has grown, and then won or lost."""
        at.input = max(at.input, abs(x))
        if abs(slope) > at.slope:
            at.slope = max(abs(slope), self.beta)
        bet = self.bet(at, at.input)
        at.won = at.won - slope * x * bet
        at.weight = bet / mean
        at.suffer(slope * x)


class Pistol(Parameterless):
    """Weights are made of the sums when an example is learned."""

    def teach(self, terms, label, weight, base):
        raw = base
        for slot, x, *_ in terms:
            at = self.at(slot)
            at.input = max(at.input, abs(x))
            part = F32(1) / (self.alpha * at.input * (at.size + at.input))
            power = expf(at.theta * at.theta / F32(2) * part)
            at.weight = np.sqrt(at.size) * self.beta * at.theta * power * part
            raw = raw + at.weight * x
        p = self.clipped(raw)
        slope = self.gradient_at(p, label, weight)
        for slot, x, *_ in terms:
            self.at(slot).suffer(slope * x)
        return raw, p
