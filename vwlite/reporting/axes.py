"""Scales of charts and the marks on them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

STEPS = (1, 2, 5, 10)
TINY = 1e-250  # below it a number is 0
NARROW = 1e-9  # difference of numbers, as a share of them, that an axis does not show
LARGEST = 1e15  # from it on numbers have exponents
SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Axis:
    """From ``low`` to ``high``, which differ; on a logarithmic one both are positive."""

    label: str
    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False  # has marks at whole numbers only

    def place(self, value: float) -> float:
        """0 at ``low``, 1 at ``high``; a logarithmic axis has no place below every positive value."""
        low, high, value = (self.scaled(one) for one in (self.low, self.high, value))
        return (value - low) / (high - low)

    def scaled(self, value: float) -> float:
        if not self.logarithmic:
            return value
        return math.log10(value) if value > 0 else math.log10(self.low) - 1

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on the axis, ascending."""
        found = self.decades(most) if self.logarithmic else round_values(self.low, self.high, most, self.whole)
        return [value for value in found if -1e-9 <= self.place(value) <= 1 + 1e-9]

    def decades(self, most: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        if last - first <= 2:
            return [step * 10.0**power for power in range(first, last + 1) for step in STEPS[:3]]
        every = math.ceil((last - first) / most)
        return [10.0**power for power in range(first, last + 1, every)]

    def marks(self, values: Iterable[float]) -> list[str]:
        """With as many digits as it takes to tell them apart; 0 for what rounding has left of it."""
        size = max(abs(self.low), abs(self.high))
        shown = [value if self.logarithmic or abs(value) > NARROW * size else 0.0 for value in values]
        found = [short(value) for value in shown]
        for digits in range(5, 17):
            if len({*found}) == len({*shown}):
                break
            found = [short(value, digits) for value in shown]
        return found


def axis(label: str, values: Iterable[float], logarithmic: bool = False, whole: bool = False) -> Axis:
    """One that shows all ``values``; of none, from 0 to 1, and of equal ones, a little around them."""
    shown = [value for value in values if math.isfinite(value) and (value > TINY or not logarithmic)]
    low, high = (min(shown), max(shown)) if shown else (1.0, 10.0) if logarithmic else (0.0, 1.0)
    size = max(abs(low), abs(high))
    if high - low <= NARROW * size or size <= TINY:
        margin = size / 10 if size > TINY else 0.1
        low, high = (low / 2, high * 2) if logarithmic else (low - margin, high + margin)
    return Axis(label, low, high, logarithmic, whole)


def round_values(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, perhaps a whole number, from ``low`` to ``high``, about so many."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(step * power for step in STEPS if (high - low) / (step * power) <= most)
    step = max(step, 1.0) if whole else step
    return [count * step for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def short(value: float, digits: int = 4) -> str:
    """For a mark: 20k, 1.5M, 0.25, 1e+16."""
    for unit, suffix in SUFFIXES if abs(value) < LARGEST else ():
        if abs(value) >= unit:
            return f"{value / unit:.{digits}g}{suffix}"
    return f"{value:.{digits}g}" if abs(value) >= TINY else "0"
