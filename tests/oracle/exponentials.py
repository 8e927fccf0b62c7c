"""exp and log as the kernels of logistic loss have them: in Python's floats, the same operations in the same order."""

import math
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np

LN2 = math.log(2)


def to_float(number: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(number)


def tables() -> tuple[list[float], list[float], list[float]]:
    with localcontext() as context:
        context.prec = 40
        powers = [float(Decimal(2) ** (Decimal(i) / 32)) for i in range(32)]
        edges = [Decimal(22 + i) / 32 for i in range(10)] + [1 + Decimal(i) / 16 for i in range(7)]
        middles = [(low + high) / 2 for low, high in pairwise(edges)]
        middles[9] = middles[10] = Decimal(1)
        inverses = [float(1 / middle) for middle in middles]
        return powers, inverses, [0 - float(Decimal(inverse).ln()) for inverse in inverses]


POWERS, INVERSES, LOGARITHMS = tables()


def exp(x: float) -> float:
    if not -708 < x < 708:
        return 0.0 if x < 0 else x + math.inf
    k = round(x * (32 / LN2))
    r = x - k * (LN2 / 32)
    return math.ldexp(POWERS[k % 32], k // 32) * ((1 + r) + r * r * (1 / 2 + r * (1 / 6)))


def expf(x: np.float32) -> np.float32:
    return to_float(exp(float(x)))


def log(x: float) -> float:
    m, e = math.frexp(x)
    m, e = (2 * m, e - 1) if m < 11 / 16 else (m, e)
    place = int((m - 11 / 16) * 32) if m < 1 else 10 + int((m - 1) * 16)
    r = m * INVERSES[place] - 1
    q = r * r
    higher = (r * (1 / 5) - 1 / 4) + q * (r * (1 / 7) - 1 / 6) - q * q * (1 / 8)
    return (e * LN2 + LOGARITHMS[place]) + (r + (q * (r * (1 / 3) - 1 / 2) + q * q * higher))
