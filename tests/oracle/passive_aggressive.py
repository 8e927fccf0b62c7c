"""Passive-aggressive updates in float32, written from Crammer and others, 2006, "Online passive-aggressive algorithms".

Figure 1: with the loss l of an example x the weights move by tau y x, where tau is l / |x|^2 (PA), min(C, l / |x|^2)
(PA-I) or l / (|x|^2 + 1 / (2 C)) (PA-II). Classes have the loss max(0, 1 - y w.x); numbers max(0, |y - w.x| - epsilon),
and move towards y (section 5). The importance of an example multiplies C.
"""

from .coin import Coordinate, Parameterless
from .gd import F32


class PassiveAggressive(Parameterless):
    looks_back = True
    kind_of_step, classes = "pa", False

    def __init__(self, options, aggressiveness, insensitivity, strict) -> None:
        super().__init__(options, aggressiveness, insensitivity, strict)

    def current_loss(self):
        return super().current_loss() if self.classes else self

    def value(self, p, label):
        """The loss of numbers."""
        return max(F32(0), abs(p - label) - self.beta)

    def teach(self, terms, label, weight, base):
        raw = base
        for slot, x, *_ in terms:
            raw = raw + self.at(slot).weight * x
        loss = F32(1) - label * raw if self.classes else abs(label - raw) - self.beta
        if loss > 0:
            total: dict[int, F32] = {}
            for slot, x, *_ in terms:
                total[slot] = total.get(slot, F32(0)) + x
            norm = F32(0)
            for slot, x, *_ in terms:
                norm = norm + total[slot] * x
            step = self.step(loss, norm, self.alpha * weight)
            if label < (0 if self.classes else raw):
                step = -step
            for slot, x, *_ in terms:
                at: Coordinate = self.at(slot)
                at.weight = at.weight + step * x
        return raw, self.clipped(raw)

    def step(self, loss, norm, bound):
        if self.kind_of_step == "pa-ii":
            return loss / (norm + F32(1) / (F32(2) * bound))
        step = loss / norm if norm > 0 else F32(0)
        return min(step, bound) if self.kind_of_step == "pa-i" else step
