"""FTRL-proximal as its paper states it (McMahan et al. 2013, algorithm 1), in single precision."""

import numpy as np

from .coin import Coordinate, Parameterless
from .gd import F32
from .options import Options


class Proximal(Coordinate):
    """Weight ``w``, sums of gradients ``z`` and of their squares ``n``."""

    def __init__(self) -> None:
        self.weight = self.z = self.n = F32(0)

    @property
    def row(self) -> list[np.float32]:
        return [self.weight, self.z, self.n]


class Ftrl(Parameterless):
    """The options' ``l1`` and ``l2`` are those of the proximal step, and nothing is shrunk beside it."""

    kind, looks_back = Proximal, True

    def __init__(self, options: Options, alpha: float, beta: float, strict: bool) -> None:
        super().__init__(options, alpha, beta, strict)
        self.strict = True  # initial predictions are never left out
        self.l1, self.l2 = F32(options.l1), F32(options.l2)

    def teach(self, terms, label, weight, base):
        raw, p = self.predict(terms, base)
        slope = self.gradient_at(p, label, weight)
        for slot, x, *_ in terms:
            self.move(self.at(slot), slope * x)
        return raw, p

    def move(self, at: Proximal, g: np.float32) -> None:
        n = at.n + g * g
        at.z = at.z + (g - (np.sqrt(n) - np.sqrt(at.n)) / self.alpha * at.weight)
        at.n = n
        size = max(abs(at.z) - self.l1, F32(0))
        at.weight = -np.sign(at.z) * size / (self.l2 + (self.beta + np.sqrt(n)) / self.alpha)
