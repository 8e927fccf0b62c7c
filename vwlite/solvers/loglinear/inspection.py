"""What can be read in a model of named labels: its facts, its strongest weights by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch, Csr
from vwlite.evaluation.explain import Explanation, Sum, Term
from vwlite.evaluation.inspect_model import norms, singular_values
from vwlite.features.feature_names import term_names
from vwlite.options import OptionValues
from vwlite.solvers.loglinear.config import MEAN_ONLY, L1Config
from vwlite.solvers.loglinear.examples import LINE
from vwlite.solvers.loglinear.model_file import CHAIN, LoadedModel
from vwlite.solvers.loglinear.problems import FeatureLabelIndex, find
from vwlite.solvers.loglinear.tagger import Tagged, Tagger

ROUNDING = 1e-7  # of the largest singular value


def facts(model: LoadedModel) -> JsonObject:
    """Plain facts about the model, as JSON data."""
    past, pairs, config = model.past, model.pairs, model.config
    active = model.weights != 0
    state, transitions = active[: pairs.first_edge], active[pairs.first_transition : pairs.first_triple]
    return {
        "path": model.path,
        "learner": CHAIN,
        "model": config.model,
        **({"order": 2} if config.order == 2 else {}),
        "labels": pairs.labels,
        "trace" if config.trace else "l1": config.strength,
        **method(config),
        **({"group": True} if config.group else {}),
        "bits": model.features.bits,
        "examples": past.examples,
        "passes": past.passes,
        "objective": past.objective,
        "features": len(pairs.state.features) + len(pairs.edges.features),
        "active_features": len(np.unique(pairs.state.feature[state])),
        "weights": pairs.weights,
        "active": int(active.sum()),
        **({"rank": rank(model)} if config.trace else {}),
        "active_edges": int(active[pairs.first_edge : pairs.first_transition].sum()),
        "active_transitions": int(transitions.sum()),
        **({"active_triples": int(active[pairs.first_triple :].sum())} if config.order == 2 else {}),
        "norms": norms(pairs.state.feature, pairs.state.label, model.weights[: pairs.first_edge], pairs.labels),
        "names": len(model.names.names) if model.names else 0,
    }


def method(config: L1Config) -> OptionValues:
    """The method by which the weights were trained."""
    loss = {} if config.loss == "log" else {"loss": config.loss}
    l2 = {"l2": config.l2} if config.l2 else {}
    if config.dual or config.loss in MEAN_ONLY:
        return {**loss, **l2}
    steps = {"penalty": config.penalty, "rate": config.rate} if config.solver == "sgd" else {}
    if config.l2:
        steps.pop("penalty", None)
    return {**loss, **l2, "solver": config.solver, **steps}


def rank(model: LoadedModel) -> int:
    """The rank of the weights of features, rounding errors aside."""
    state = model.pairs.state
    values = singular_values(state.feature, state.label, model.weights, model.pairs.labels)
    return int((values > ROUNDING * values[0]).sum())


def top(model: LoadedModel, count: int) -> list[JsonObject]:
    """The ``count`` weights of every label that are largest in size, with the names of their features.

    Transitions are named by the label, or the two labels, before it.
    """
    pairs, weights = model.pairs, model.weights
    own = np.arange(pairs.weights - pairs.first_transition)
    label = np.concatenate((pairs.state.label, pairs.edges.label % pairs.labels, own % pairs.labels))
    chosen = np.flatnonzero(weights)
    order = chosen[np.lexsort((chosen, -np.abs(weights[chosen]), label[chosen]))]
    starts = np.searchsorted(label[order], np.arange(pairs.labels + 1))
    entries = []
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        for position in order[start : min(end, start + count)].tolist():
            entry = {"label": pairs.names[int(label[position])], "weight": float(weights[position])}
            entries.append({**entry, **describe_weight(model, position)})
    return entries


def describe_weight(model: LoadedModel, position: int) -> JsonObject:
    pairs = model.pairs
    if position >= pairs.first_transition:
        return {"slot": None, "name": f"after {pairs.previous[(position - pairs.first_transition) // pairs.labels]}"}
    if position < pairs.first_edge:
        return name_pair(model, pairs.state, position)
    edge = name_pair(model, pairs.edges, position - pairs.first_edge)
    before = pairs.names[int(pairs.edges.label[position - pairs.first_edge]) // pairs.labels]
    return {**edge, "name": f"{edge['name'] or edge['slot']} after {before}"}


def name_pair(model: LoadedModel, family: FeatureLabelIndex, pair: int) -> JsonObject:
    slot = int(family.features[family.feature[pair]])
    return {"slot": slot, "name": model.names.names.get(slot) if model.names else None}


class TokenTerms(NamedTuple):
    """A line: its location, and the names of its terms, in their order."""

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
        """object[rows] of TokenTerms."""
        locations = np.empty(len(batch), object)
        plans = self.collector.plan, self.collector.edge_plan
        locations[:] = [
            TokenTerms(batch.location(row), *(term_names(batch, plan, row) if plan else [] for plan in plans))
            for row in range(len(batch))
        ]
        return locations

    def explanations(self, top: int | None, labels: int | None) -> Iterator[Explanation]:
        """For each line with an answer: the ``top`` strongest terms of the scores of ``labels`` labels, None for all.

        The answer comes first, then the labels of the highest scores. Raises as ``run``.
        """
        for part in self.run():
            yield from self.of_part(part, top, labels)

    def of_part(self, part: Tagged, top: int | None, labels: int | None) -> Iterator[Explanation]:
        names, befores, lines = self.pairs.names, part.chains.before.tolist(), part.lines
        state = Weighted(self.pairs.state, lines.state, self.weights, 0)
        edge = lines.edge and Weighted(self.pairs.edges, lines.edge, self.weights, self.pairs.first_edge)
        for token, row in enumerate(np.flatnonzero(lines.kind == LINE).tolist()):
            line, best, before = lines.about[row], int(part.best[token]), befores[token]
            terms: list[list[Term]] = [[] for _ in names]
            for one, label in state.of_row(row, line.state):
                terms[label].append(one)
            if before >= 0:
                self.add_step(terms, int(part.best[before]), edge.of_row(row, line.edge) if edge else ())
                if befores[before] >= 0:
                    self.add_history(terms, *part.best[[befores[before], before]].tolist())
            scores = [sum(one.product for one in own) for own in terms]
            order = sorted(range(len(names)), key=lambda label: (label != best, -scores[label]))
            sums = [Sum(names[label], scores[label], 0.0, *strongest(terms[label], top)) for label in order[:labels]]
            tag = b"" if lines.tag is None else lines.tag[row]
            yield Explanation(line.location, tag.decode("utf-8", "surrogateescape"), names[best], sums)

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
