"""Which labels a dyadic model asks for, in float64, one line after the other."""

import numpy as np

from .active import Active
from .dyadic import merged
from .options import Options


class Asking:
    """Around a ``Case``, which learns what is asked for. Rates are constant."""

    def __init__(self, case, mellowness, seed):
        self.case, self.chance = case, Active("simulation", Options(), mellowness, seed, strict=True)

    def start(self, pair, side, slot, dimension):
        return self.case.learner.vectors(pair, side, np.array([slot], np.uint32))[0, dimension]

    def flip(self, row):
        """The importance of the opposite label that carries the prediction to 0; 0 where a side was never learned."""
        twin = self.case.twin()
        twin.start = self.start
        for pair, sides in enumerate(row.pairs):
            for side, features in enumerate(sides):
                if all(sides) and not any((pair, side, slot) in twin.latent for slot in merged(features)):
                    return 0.0
        p = twin.predict(row)
        flow = twin.flow(row, -1.0 if p > 0 else 1.0)
        end = flow.inverse(0.0)
        if not np.isfinite(end):
            return float(2**60)
        s = np.linspace(0, end, 2001)
        speed = [abs(flow.rate * flow.loss.slope(flow.p(one), flow.label)) for one in s]
        return float(abs(np.trapezoid(1 / np.array(speed), s)))

    def learn(self, label, features):
        """The importance with which the line counts, 0 for none, and how far the draw was from its limit."""
        ask, seen = self.chance, np.float32(self.case.learner.get("time"))
        flip = np.float32(min(self.flip(self.case.row(features)), 2.0**30 * seen))
        probability = float(ask.strict_probability(seen, flip / seen)) if seen > 1 else 1.0
        importance = float(ask.ask(flip, seen))
        drawn = np.uint32(ask.chance >> 25 & 0x7FFFFF | 0x3F800000).view(np.float32) - np.float32(1)
        if importance > 0:
            results = self.case.run(f"{label} {features}\n")  # learned once, counted with its importance
            self.case.learner.set(time=self.case.learner.get("time") + importance - 1)
            ask.labeled += importance
            ask.sum_loss += importance * float(results.loss[0])
        return max(importance, 0.0), abs(float(drawn) - probability)
