"""Which examples a curriculum takes, said plainly."""

from fractions import Fraction
from math import ceil, exp


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


def share(number, passes, start, full=None):
    """Of the rows that pass ``number``, from 1, of ``passes`` takes."""
    full = full or min(max((passes + 1) // 2, 2), passes)
    return 1 if number >= full else start + (1 - start) * Fraction(number - 1, full - 1)


def weight(rank, rows, share, kind="step", width=0.2):
    """Of the row of this rank, from 0, among so many; ``share`` is a fraction."""
    if share >= 1:
        return 1
    if kind == "step":
        return int(rank < ceil(share * rows))
    above = (float(share) - rank / max(rows - 1, 1)) / width
    return min(max(above + 0.5, 0), 1) if kind == "linear" else 1 / (1 + exp(-above))


def taken(places, ranked, share, kind="step", width=0.2, drawn=None):
    """``places`` in their order that have a weight, with it; ``ranked`` are the same, the easiest first.

    ``drawn``: numbers in [0, 1) for each place; those below its weight are taken, with weight 1.
    """
    weights = {place: weight(rank, len(ranked), share, kind, width) for rank, place in enumerate(ranked)}
    if drawn is not None:
        weights = {place: int(drawn[place] < one) for place, one in weights.items()}
    return [(place, weights[place]) for place in places if weights[place]]
