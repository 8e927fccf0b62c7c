"""Auxiliary problems in plain Python. A row is a dict of (namespace, name) and value; problems are sets of rows."""

import math
import re
from itertools import product


def of_two(found):
    """Those with two positive rows at least."""
    return {name: rows for name, rows in found.items() if len(rows) >= 2}


def gathered(pairs):
    result = {}
    for name, row in pairs:
        result.setdefault(name, set()).add(row)
    return of_two(result)


def combined(rows, one, other):
    return gathered(
        (f"{a}+{b}", number)
        for number, row in enumerate(rows)
        for (_, a), (_, b) in product([f for f in row if f[0] == one], [f for f in row if f[0] == other])
    )


def above(rows, space, least):
    """Which features of a namespace have values above ``least``."""
    pairs = [(feature, n, value) for n, row in enumerate(rows) for feature, value in row.items()]
    return gathered((feature[1], n) for feature, n, value in pairs if feature[0] == space and value > least)


def ranges(scores, classes, k):
    """The best class and in which of k ranges of equal shares its score is, by linear interpolation of ranks."""
    top = [max(row) for row in scores]
    ranked, result = sorted(top), []
    for part in range(1, k):
        place = part / k * (len(ranked) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ranked) - 1)
        result.append(ranked[low] + (ranked[high] - ranked[low]) * (place - low))
    return gathered(
        (f"{classes[list(row).index(best)]}@{sum(edge < best for edge in result)}", number)
        for number, (row, best) in enumerate(zip(scores, top, strict=True))
    )


def information(rows, labels, feature):
    """Of the presence of a feature and the label."""
    total, n = 0.0, len(rows)
    for held, label in product((True, False), set(labels)):
        both = sum((feature in row) == held and own == label for row, own in zip(rows, labels, strict=True)) / n
        alone = sum((feature in row) == held for row in rows) / n * labels.count(label) / n
        total += both * math.log(both / alone) if both else 0
    return total


def holds(row, space, pattern, wanted):
    return any(f[0] == space and re.fullmatch(pattern, f[1]) for f in row) == wanted
