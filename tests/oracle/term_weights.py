"""The values of terms in plain Python: ``--value``, ``--weight``, ``--unit``. A row is a dict of slots and values."""

import math


def changed(value, kind):
    if kind == "log" and abs(value) >= 1:
        return math.copysign(1 + math.log(abs(value)), value)
    return 1.0 if kind == "binary" and value else value


def merged(terms, kind):
    """A row of pairs of slots and values, those of a slot added up."""
    row = {}
    for slot, value in terms:
        row[slot] = row.get(slot, 0.0) + value
    return {slot: changed(row[slot], kind) for slot in sorted(row) if row[slot]}


def weighted(rows, learned, config):
    """``rows`` with the weights of ``learned``, rows as well: their values, and of ``degree`` their degrees."""
    counts = {}
    for row in learned:
        for slot, value in row.items():
            counts[slot] = counts.get(slot, 0) + (value if config.weight == "degree" else 1)
    result, degrees = [], []
    for row in rows:
        if config.weight == "idf":
            row = {
                slot: value * math.log(len(learned) / counts[slot])
                for slot, value in row.items()
                if counts.get(slot, 0) >= max(config.min_df, 1) and counts[slot] < len(learned)
            }
        degrees.append(sum(value * counts.get(slot, 0) for slot, value in row.items()))
        if config.weight == "degree":
            row = {slot: value / degrees[-1] if degrees[-1] else 0.0 for slot, value in row.items()}
        length = math.sqrt(sum(value * value for value in row.values()))
        if config.unit and length:
            row = {slot: value / length for slot, value in row.items()}
        result.append(row)
    return result, degrees
