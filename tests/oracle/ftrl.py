"""FTRL-proximal as its paper states it (McMahan et al. 2013, algorithm 1), in single precision, squared loss."""

import numpy as np

F32 = np.float32


class Ftrl:
    """Weights ``w``, sums of gradients ``z`` and of their squares ``n``, one per slot."""

    def __init__(self, slots: int, alpha: float, beta: float, l1: float, l2: float) -> None:
        self.alpha, self.beta, self.l1, self.l2 = map(F32, (alpha, beta, l1, l2))
        self.w, self.z, self.n = (np.zeros(slots, F32) for _ in range(3))
        self.low = self.high = F32(0)

    def learn(self, terms: list, label: float, weight: float) -> np.float32:
        """Learn one example of ``(slot, value)`` terms; returns the prediction made before."""
        y = F32(label)
        self.low, self.high = min(self.low, y), max(self.high, y)
        raw = F32(0)
        for slot, x in terms:
            raw = raw + self.w[slot] * x
        p = min(max(raw, self.low), self.high)
        slope = F32(2) * (p - y) * F32(weight)
        for slot, x in terms:
            self.move(slot, slope * x)
        return p

    def move(self, slot: int, g: np.float32) -> None:
        n = self.n[slot] + g * g
        self.z[slot] += g - (np.sqrt(n) - np.sqrt(self.n[slot])) / self.alpha * self.w[slot]
        self.n[slot] = n
        z = self.z[slot]
        size = max(abs(z) - self.l1, F32(0))
        self.w[slot] = -np.sign(z) * size / (self.l2 + (self.beta + np.sqrt(n)) / self.alpha)
