"""Networks as Vowpal Wabbit has them: every unit is a linear learner whose label is where its sum should go.

The output is another linear learner, of the units' tanh and a constant. Its gradient, through the weight that a unit
has in it, says where the unit's sum should go; the unit learns that by the squared loss. All arithmetic is float32.
"""

import struct

import numpy as np

from .gd import F32, Gd
from .losses import Squared
from .lrq import Chance

OUTPUT, BIAS = 533357803, 11650396
REACH = F32(3)


def fast_power_of_2(p: np.float32) -> np.float32:
    """The bits of the float are a linear function of p, corrected by a rational one of its fraction."""
    p = max(p, F32(-126))
    z = p - F32(int(p)) + F32(p < 0)
    bits = F32(2**23) * (p + F32(121.2740575) + F32(27.7280233) / (F32(4.84252568) - z) - F32(1.49012907) * z)
    return F32(struct.unpack("f", struct.pack("I", int(bits)))[0])


def fast_tanh(x: np.float32) -> np.float32:
    return F32(-1) + F32(2) / (F32(1) + fast_power_of_2(F32(1.442695040) * (F32(-2) * x)))


class VwNn:
    """``units`` of them; ``options.bits`` are of all slots, W for each feature."""

    def __init__(self, options, units: int, seed: int = 0) -> None:
        self.options, self.units, self.chance = options, units, Chance(seed)
        self.gd = Gd(options)
        self.norms = [(0.0, 0.0, F32(1))] * (units + 1)
        self.slots, self.width = 2**options.bits, 2 ** units.bit_length()
        self.bias = BIAS // 4 if self.gd.adaptive or self.gd.normalized else BIAS

    def step(self, which: int, terms, p, y, weight, loss=None) -> None:
        gd, own = self.gd, self.gd.loss
        gd.length, gd.total, gd.ratio = self.norms[which]
        gd.loss = loss or own
        gd.step(terms, p, F32(y), F32(weight), sum((x * x for _, x in terms), F32(0)))
        self.norms[which], gd.loss = (gd.length, gd.total, gd.ratio), own

    def begin(self, which: int, slot: int, scale: np.float32, loss=None) -> None:
        alone = [(slot % self.slots, F32(1))]
        p = self.gd.predict(alone)[1]
        if p == 0:
            self.step(which, alone, p, (self.chance.draw() - F32(0.5)) / scale, 1, loss)

    def process_example(self, example, expanded, held: bool, learning: bool = True) -> list[np.float32]:
        """Prediction, raw prediction and loss before anything was learned."""
        gd, label, weight = self.gd, example.label, example.importance
        labeled = not np.isnan(label)
        if learning and labeled and not held:
            gd.extend_range(label)
        own_range = gd.low, gd.high
        gd.low, gd.high = -REACH, REACH
        for unit in range(self.units if learning else 0):
            self.begin(unit, self.bias + unit, F32(1))
        places = [(index * self.width, x) for index, x, *_ in expanded.terms]
        inputs = [[((place + unit) % self.slots, x) for place, x in places] for unit in range(self.units)]
        sums = [gd.predict(terms)[1] for terms in inputs]
        for unit in range(self.units if learning else 0):
            self.begin(self.units, OUTPUT + unit + self.units, np.sqrt(F32(self.units)), Squared(-REACH, REACH))
        values = [*map(fast_tanh, sums), F32(1)]
        output = [((OUTPUT + place + self.units) % self.slots, value) for place, value in enumerate(values)]
        gd.low, gd.high = own_range
        raw, p = gd.predict(output, example.base)
        loss = gd.current_loss().value(p, label) * weight if labeled and weight > 0 else F32(0)
        if learning and labeled and not held and weight > 0:
            slope = F32(gd.current_loss().dl(p, label))
            self.step(self.units, output, p, label, weight)
            gd.low, gd.high = -REACH, REACH
            for unit in range(self.units if slope else 0):
                share = gd.predict([(output[unit][0], F32(1))])[1]
                move = F32(0.5) * (share * slope) * (F32(1) - values[unit] * values[unit])
                expected = min(max(sums[unit] - move, -REACH), REACH)
                if expected != sums[unit]:
                    self.step(unit, inputs[unit], sums[unit], expected, weight, Squared(-REACH, REACH))
            gd.low, gd.high = own_range
        gd.t += float(weight)
        return [p, raw, loss]
