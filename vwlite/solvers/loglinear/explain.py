"""Why a line got its label: the terms of the labels' scores in a log-linear model, by name.

A label's score at a token is what the token's features weigh for it and, in a chain, the step from the label before:
scores of the answered labels add up to that of the sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.csr import Csr
from vwlite.evaluation.explain import Explanation, Sum, Term
from vwlite.features.feature_names import term_names
from vwlite.solvers.loglinear.examples import LINE
from vwlite.solvers.loglinear.feature_label_pairs import FeatureLabelIndex, find
from vwlite.solvers.loglinear.tagger import Tagged, Tagger


class Told(NamedTuple):
    """Of a line: where it stands, and the names of its terms, in their order."""

    location: str
    state: list[str]
    edge: list[str]


class Weighted:
    """The terms of some lines, of the state or of the edges, with their weights; ``first``: where these begin."""

    def __init__(self, family: FeatureLabelIndex, terms: Csr, weights: np.ndarray, first: int) -> None:
        self.terms, self.weights, self.first = terms, weights, first
        self.numbers, self.start, self.label = find(family.features, terms.indices), family.start, family.label

    def of_row(self, row: int, names: list[str]) -> Iterator[tuple[Term, int]]:
        """Each term once, with each of its weights but 0 and the label, or pair of labels, that it is of."""
        own, merged = self.terms.row(row), dict[tuple[int, int, str], float]()
        columns = (column[own].tolist() for column in (self.numbers, self.terms.indices, self.terms.values))
        for number, slot, value, name in zip(*columns, names, strict=True):
            merged[number, slot, name] = merged.get((number, slot, name), 0.0) + value
        for (number, slot, name), value in merged.items():
            for place in range(self.start[number], self.start[number + 1]) if number >= 0 else ():
                if weight := float(self.weights[self.first + place]):
                    yield Term(name, slot, value, weight, value * weight), int(self.label[place])


class Explained(Tagger):
    """A ``Tagger`` that tells what the scores of labels are made of."""

    def about(self, batch: Batch) -> np.ndarray:
        """object[rows] of Told."""
        told = np.empty(len(batch), object)
        plans = self.collector.plan, self.collector.edge_plan
        told[:] = [
            Told(batch.location(row), *(term_names(batch, plan, row) if plan else [] for plan in plans))
            for row in range(len(batch))
        ]
        return told

    def explanations(self, top: int | None, labels: int | None) -> Iterator[Explanation]:
        """Of each line that has an answer: the ``top`` strongest terms of the scores of so many labels, None for all.

        The answer comes first, then the labels of the highest scores. Raises as ``run``.
        """
        for part in self.run():
            yield from self.of_part(part, top, labels)

    def of_part(self, part: Tagged, top: int | None, labels: int | None) -> Iterator[Explanation]:
        names, befores, lines = self.pairs.names, part.chains.before.tolist(), part.lines
        state = Weighted(self.pairs.state, lines.state, self.weights, 0)
        edge = lines.edge and Weighted(self.pairs.edges, lines.edge, self.weights, self.pairs.first_edge)
        for token, row in enumerate(np.flatnonzero(lines.kind == LINE).tolist()):
            told, best, before = lines.about[row], int(part.best[token]), befores[token]
            terms: list[list[Term]] = [[] for _ in names]
            for one, label in state.of_row(row, told.state):
                terms[label].append(one)
            if before >= 0:
                self.add_step(terms, int(part.best[before]), edge.of_row(row, told.edge) if edge else ())
                if befores[before] >= 0:
                    self.add_history(terms, *part.best[[befores[before], before]].tolist())
            scores = [sum(one.product for one in own) for own in terms]
            order = sorted(range(len(names)), key=lambda label: (label != best, -scores[label]))
            sums = [Sum(names[label], scores[label], 0.0, *strongest(terms[label], top)) for label in order[:labels]]
            tag = b"" if lines.tag is None else lines.tag[row]
            yield Explanation(told.location, tag.decode("utf-8", "surrogateescape"), names[best], sums)

    def add_step(self, terms: list[list[Term]], before: int, edges: Iterable[tuple[Term, int]]) -> None:
        """Add the terms of the step from the label ``before`` to each label."""
        count, after = self.pairs.labels, f"after {self.pairs.names[before]}"
        for one, way in edges:
            if way // count == before:
                terms[way % count].append(one._replace(name=f"{one.name} {after}"))
        self.add_row(terms, before)

    def add_history(self, terms: list[list[Term]], earlier: int, before: int) -> None:
        """Add the terms of the two labels before to each label, if they have weights."""
        state = int(self.pairs.state_after[earlier * self.pairs.labels + before])
        if state >= self.pairs.labels:
            self.add_row(terms, state)

    def add_row(self, terms: list[list[Term]], row: int) -> None:
        """Add the weights of a row of transitions or, behind them, of triples."""
        count, after = self.pairs.labels, f"after {self.pairs.previous[row]}"
        first = self.pairs.first_transition + row * count
        for label, weight in enumerate(self.weights[first : first + count].tolist()):
            if weight:
                terms[label].append(Term(after, None, 1.0, weight, weight))


def strongest(terms: list[Term], top: int | None) -> tuple[list[Term], int, float]:
    """The ``top`` terms that move the score most, the number of the others and what they add."""
    order = sorted(terms, key=lambda one: -abs(one.product))
    chosen, left = (order, []) if top is None else (order[:top], order[top:])
    return chosen, len(left), sum(one.product for one in left)
