"""Low-rank quadratic interactions: gradient descent on linear weights and on the factors of one side at a time.

The score has, beside the linear terms, for namespaces L and R and every rank n a term ``(sum of a_n(l) x_l over L) (sum
of b_n(r) x_r over R)``: a factorization machine (Rendle 2010, "Factorization machines") whose pairs lie across two
namespaces. With the a's still the score is linear in the b's, whose features are then ``a_n(l) x_l x_r``: an example is
learned twice by the linear learner, first with the one side still, then with the other. ``dropout`` leaves out half of
the pairs of l and n (Srivastava et al. 2014, "Dropout"). All arithmetic is float32.
"""

from dataclasses import replace

import numpy as np

from .curved_losses import LINKS
from .gd import F32, Gd
from .pipeline import namespaces, sum_of_squares

MASK64 = 2**64 - 1


class Chance:
    """Vowpal Wabbit's generator, a linear congruence modulo 2**64: 23 bits of the state are the mantissa of 1 to 2."""

    def __init__(self, state: int) -> None:
        self.state = state & MASK64

    def draw(self) -> np.float32:
        self.state = (self.state * 0xEECE66D5DEECE66D + 2147483647) & MASK64
        return F32((self.state >> 25) % 2**23 / 2**23)


class Lrq:
    """``specs``: (first letter, second letter, rank) each; ``options.bits`` are of all slots, W for each feature."""

    def __init__(self, options, specs: list[tuple[int, int, int]], dropout: bool, strict: bool) -> None:
        self.options, self.specs, self.dropout, self.strict = options, sorted(set(specs)), dropout, strict
        self.gd = Gd(replace(options, own=strict))
        self.slots = 2**options.bits
        self.width = 2 ** max(rank for *_, rank in specs).bit_length()
        self.stride = 4 if self.gd.adaptive or self.gd.normalized else 1
        self.chance = Chance(8675309)
        self.number = 0  # of the example, from 0

    def slot(self, index: int, n: int) -> int:
        return (index * self.width + n) % self.slots

    def still_factor(self, index: int, n: int, learns: bool) -> np.float32:
        """Begins, where it is to be learned and 0, at random: at 0 neither side would ever move."""
        slot = self.slot(index, n)
        if learns and self.gd.w[slot] == 0:
            place = (index % self.slots * self.width + n) * self.stride
            self.gd.w[slot] = Chance(place).draw()
        return self.gd.w[slot]

    def factor_terms(self, spaces: dict, turn: int, learns: bool) -> list:
        made = []
        share = F32(0.5) if self.dropout and not learns else F32(1)
        for first, second, rank in self.specs:
            still, moving = (first, second) if turn % 2 == 0 else (second, first)
            if still not in spaces:
                continue
            for index, x, *_ in spaces[still]:
                for n in range(1, rank + 1):
                    if self.dropout and learns and self.chance.draw() <= 0.5:
                        continue
                    a = self.still_factor(index, n, learns)
                    made += [(self.slot(other, n), share * a * x * z) for other, z, *_ in spaces.get(moving, [])]
        return made

    def process_example(self, example, expanded, held: bool) -> list[np.float32]:
        """Prediction, raw prediction and loss before anything was learned; Vowpal Wabbit's raw one is the last."""
        label, weight = example.label, example.importance
        labeled = not np.isnan(label)
        spaces = namespaces(example, self.options, set())
        linear = [(self.slot(index, 0), x) for index, x, *_ in expanded.terms]
        learns = labeled and not held and weight > 0
        if labeled and not held:
            self.gd.extend_range(label)
        shown = None
        for turn in (self.number, self.number + 1) if learns else (0,):
            added = self.factor_terms(spaces, turn, learns)
            raw, p = self.gd.predict(linear + added, example.base)
            if shown is None:
                loss = self.gd.current_loss().value(p, label) * weight if labeled and weight > 0 else F32(0)
                shown = [F32(LINKS[self.options.link](p)), raw, loss]
            if not self.strict:
                shown[1] = raw
            if learns:
                own = sum((sum_of_squares(members) for members in spaces.values()), F32(0))
                crossed = linear[sum(map(len, spaces.values())) :]
                squares = own + sum((x * x for _, x in crossed + added), F32(0))
                self.gd.step(linear + added, p, label, weight, squares)
        self.number += 1
        self.gd.t += float(weight)
        self.gd.idle += 0.0 if labeled and not held else float(weight)
        return shown
