"""Weights of terms by how many texts hold them, in plain Python. A row is a dict of names and values."""

import math


def weights(rows, least=1):
    """Of every name that ``least`` rows hold, and of None, which stands for all others."""
    held = {name: sum(name in row for row in rows) for row in rows for name in row}
    kept = {name: count for name, count in held.items() if count >= least}
    return {name: math.log((len(rows) + 1) / (count + 1)) for name, count in {**kept, None: 0}.items()}


def weighted(row, found, unit):
    """A row with its values weighted, of length 1 with ``unit``; names without a weight of their own left out last."""
    values = {name: value * found.get(name, found[None]) for name, value in row.items()}
    length = math.sqrt(sum(value * value for value in values.values())) if unit else 1
    return {name: value / max(length, 1e-30) for name, value in values.items() if name in found}
