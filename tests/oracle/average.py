"""The mean of the iterates of gradient descent by its definition: all of them are kept."""

import numpy as np

from .gd import F32, Gd
from .options import Options


def before_mean(count: int, after: int | None) -> int:
    """How many of so many iterates come before the mean."""
    if after is not None:
        return after
    return 2 ** (count.bit_length() - 2) if count > 1 else 0


class Average(Gd):
    """``iterates`` float64[examples learned, slots], the weights after each; rows that are not learned are predicted
    with the mean of those after the first ``after``; None: of the last half to three quarters.
    """

    def __init__(self, options: Options, after: int | None = None):
        super().__init__(options)
        self.after, self.iterates, self.learning = after, [], False

    def first(self) -> int:
        return before_mean(len(self.iterates), self.after)

    def mean(self) -> np.ndarray:
        averaged = self.iterates[self.first() :]
        return np.mean(averaged, axis=0) if averaged else self.w.astype(float) * self.contraction

    def weight_of(self, slot: int) -> np.float32:
        return super().weight_of(slot) if self.learning else F32(self.mean()[slot] / self.contraction)

    def learn(self, terms: list, label, weight, base=0.0, squares=None) -> tuple[np.float32, np.float32]:
        if weight <= 0:
            self.extend_range(label)
            return self.predict(terms, base)
        self.learning = True
        result = super().learn(terms, label, weight, base, squares)
        self.learning = False
        self.iterates.append(self.w.astype(float) * self.contraction)
        return result
