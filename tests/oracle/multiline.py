"""Groups of lines, one a class: a twin of ``Gd`` that learns the lines, or differences of two of them."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .gd import F32, Gd
from .options import Options
from .parse import parse_line
from .pipeline import expand, namespaces, sum_of_squares

UNKNOWN = float(np.finfo(np.float32).max)  # what a class without a cost costs


class Line(NamedTuple):
    """A line with its shared line's features; ``linear`` of its terms come before the interactions."""

    number: int
    cost: float | None
    terms: list
    linear: int
    squares: np.float32  # of the linear features
    count: int


class Answer(NamedTuple):
    number: int
    loss: float
    scores: list[np.float32]
    count: int


def read_line(text: bytes, shared: bytes | None, options: Options, seen: set[int]) -> Line:
    label, _, blocks = text.partition(b"|")
    name, colon, cost = label.split()[0].partition(b":")
    own = parse_line(b"|" + blocks, options)
    whole = parse_line(b"|" + blocks + (b" |" + shared.partition(b"|")[2] if shared else b""), options)
    terms, count, _ = expand(whole, options, seen)
    spaces = namespaces(whole, options, set())
    mine = set(namespaces(own, options, set()))
    sizes = {char: len(members) for char, members in spaces.items() if char not in options.ignore_linear}
    linear = sum(sizes.values())
    if not options.noconstant:  # it stands behind the line's own namespaces
        place = sum(size for char, size in sizes.items() if char in mine) - 1
        terms.insert(place, terms.pop(linear - 1))
    squares = sum((sum_of_squares(members) for members in spaces.values()), F32(0))
    return Line(int(name), float(F32(cost)) if colon else None, terms, linear, squares, count)


class Multiline(Gd):
    def __init__(self, options: Options, classifier: bool = False, pairs: bool = False):
        super().__init__(options)
        self.classifier, self.pairs = classifier, pairs

    def run(self, lines: list[Line]) -> Answer:
        """One group, as vw does it: the loss is what the chosen line costs."""
        with np.errstate(all="ignore"):
            scores = [self.predict(line.terms)[0] for line in lines]
            number, least = 0, UNKNOWN
            for line, score in zip(lines, scores, strict=True):
                if score < least:
                    number, least = line.number, score
            costs = [UNKNOWN if line.cost is None else line.cost for line in lines if line.number == number]
            if any(line.cost is None for line in lines):
                self.idle += 1
            elif self.pairs:
                self.teach_pairs(lines)
            else:
                self.teach_lines(lines)
        return Answer(number, costs[0] if costs else 0.0, scores, sum(line.count for line in lines))

    def teach_lines(self, lines: list[Line]) -> None:
        costs = [F32(line.cost) for line in lines]
        low, high = min(costs), max(costs)
        for line, cost in zip(lines, costs, strict=True):
            label, weight = cost, F32(1)
            if self.classifier:
                label, weight = (F32(-1), high - low) if cost <= low else (F32(1), cost - low)
            squares = line.squares + sum_of_squares(line.terms[line.linear :])
            self.learn(line.terms, label, weight, squares=squares)

    def teach_pairs(self, lines: list[Line]) -> None:
        order = sorted(range(len(lines)), key=lambda place: lines[place].cost)
        share = [F32(0)] * len(lines)
        for rank, (before, place) in enumerate(pairwise(order), 1):
            share[place] = share[before] + (F32(lines[place].cost) - F32(lines[before].cost)) / F32(rank)
        for a, one in enumerate(lines):
            for b in range(a + 1, len(lines)):
                weight = abs(share[b] - share[a])
                if float(weight) >= 1e-6:
                    away = [(slot, -value, name) for slot, value, name in lines[b].terms]
                    rest = [*away, *one.terms[one.linear :]]
                    terms = [*one.terms[: one.linear], *rest]
                    label = F32(-1 if one.cost < lines[b].cost else 1)
                    self.learn(terms, label, weight, squares=one.squares + sum_of_squares(rest))
