"""Which examples a curriculum takes, said plainly."""

from fractions import Fraction
from math import ceil


def in_steps(difficulty, size, start, hardest_first=False):
    """The numbers of the rows that take part: of the k-th ``size`` rows the share k ``start`` of least difficulty.

    ``start`` is a fraction; rows as difficult as each other go in their order.
    """
    taken = []
    for number, first in enumerate(range(0, len(difficulty), size), 1):
        rows = range(first, min(first + size, len(difficulty)))
        most = ceil(min(number * Fraction(start), 1) * len(rows))
        order = sorted(rows, key=lambda row: (-difficulty[row] if hardest_first else difficulty[row], row))
        taken += sorted(order[:most])
    return taken
