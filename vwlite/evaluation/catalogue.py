"""The features of a namespace of a dyadic model, such as items, and what each adds to an example's prediction."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.evaluation.inspect_model import sides_of
from vwlite.evaluation.person_items import PersonItems
from vwlite.features.feature_names import group_terms
from vwlite.features.interactions import WILDCARD
from vwlite.features.side_names import sides_of_pair
from vwlite.learners.pair_terms import has_length
from vwlite.training.model_loader import Restored

if TYPE_CHECKING:
    from vwlite.learners.dyadic import Dyadic


class Catalogue:
    """The features of a namespace whose latent vectors were ever updated, in the order of their ``names``."""

    def __init__(self, model: Restored, names: Mapping[int, str], namespace: str) -> None:
        """Raises UsageError where the model has no latent vectors of the namespace, or its sums have other products."""
        learner, plan = model.learner, model.plan
        sides = sides_of(model, namespace)
        self.learner, self.plan = learner, plan
        self.group = plan.pairs[sides[0][0]][sides[0][1]]
        letter = int(plan.redefine[namespace.encode("utf-8", "surrogateescape")[0]])
        self.check(model, sides, letter, namespace)
        self.names, self.slots = learned_of(learner, sides, names, namespace)
        dropped = plan.nonlinear[letter] or self.group in plan.dropped
        self.linear = np.zeros(len(self.slots)) if dropped else learner.weights[self.slots, 0].astype(float)
        self.parts = [(pair, 1 - side, self.offset + learner.vectors(pair, side, self.slots)) for pair, side in sides]
        typed = {
            plan.pairs[pair][other]: sides_of_pair(model.features.dotproduct[pair])[other]
            for pair, other, _ in self.parts
        }
        learned = {group: len(slots) for group, slots in self.of_people}
        self.partners = sorted(typed, key=lambda group: -learned[group])
        self.partner_names = [typed[group] for group in self.partners]

    @property
    def offset(self) -> float:
        return float(self.learner.config.dot_offset)

    def check(self, model: Restored, sides: list[tuple[int, int]], letter: int, namespace: str) -> None:
        alike = {self.group, letter}
        if not self.learner.config.rank:
            raise UsageError("recommend needs latent vectors: a model of --rank 0 has numbers in their place")
        if any({*alike, WILDCARD} & set(letters) for letters in self.plan.typed):
            raise UsageError(f"recommend does not go with interactions (-q) of the namespace {namespace!r}")
        if self.plan.theta:
            raise UsageError("recommend does not go with --theta, whose features are made of all of a line")
        random = self.plan.random
        if random and (not random.chosen or random.of[letter]):
            raise UsageError(f"recommend does not go with --random_features of the namespace {namespace!r}")
        for pair, groups in enumerate(self.plan.pairs):
            met = [side for side, group in enumerate(groups) if group in alike]
            if len(met) > 1 or any((pair, side) not in sides for side in met):
                typed = model.features.dotproduct[pair]
                raise UsageError(f"recommend does not go with --dotproduct {typed} for the namespace {namespace!r}")

    def scores(self, batch: Batch, rows: list[int], base: np.ndarray) -> np.ndarray:
        """float32[rows, items] of examples without items, whose raw predictions are ``base``."""
        total = base.astype(float)[:, None] + self.linear
        for pair, side, vectors in self.parts:
            partners = [self.partner(batch, row, pair, side) for row in rows]
            there = np.array([partner is not None for partner in partners])
            nothing = np.zeros(self.learner.rank)
            total += np.stack([nothing if one is None else one for one in partners]) @ vectors.T
            total -= there[:, None] * self.learner.kernel.offset_square
        return total.astype(np.float32)

    def partner(self, batch: Batch, row: int, pair: int, side: int) -> np.ndarray | None:
        """float64[rank]: what an item's vector is multiplied by; None where the example has nothing on that side."""
        terms = group_terms(batch, self.plan, row, self.plan.pairs[pair][side])
        if not has_length(terms):
            return None
        vector: np.ndarray = terms.values.astype(float) @ self.learner.vectors(pair, side, terms.slots) + self.offset
        return vector

    def knows(self, batch: Batch, row: int) -> bool:
        """Whether the model has learned the latent vector of a feature that the example has on the other sides."""
        return any(
            np.isin(group_terms(batch, self.plan, row, group).slots, learned).any() for group, learned in self.of_people
        )

    @cached_property
    def of_people(self) -> list[tuple[int, np.ndarray]]:
        """The groups on the other sides, and the slots of those of their features that were learned."""
        return [(self.plan.pairs[pair][side], self.learner.factors(pair, side)[0]) for pair, side, _ in self.parts]

    def pairs(self) -> PersonItems:
        """An empty list of pairs of persons and items of this catalogue.

        Persons are of what items are paired with: of the namespace with the most features, else of another one.
        """
        return PersonItems(self.plan, self.partners, self.group, self.slots)


def learned_of(
    learner: Dyadic, sides: list[tuple[int, int]], names: Mapping[int, str], namespace: str
) -> tuple[list[str], np.ndarray]:
    """Names and slots, uint32[n], of the features of a namespace that were ever updated on these sides, by name."""
    learned = np.unique(np.concatenate([learner.factors(*side)[0] for side in sides]))
    shown = [own_name(names.get(slot, str(slot)), namespace) for slot in learned.tolist()]
    order = sorted(range(len(shown)), key=shown.__getitem__)
    return [shown[place] for place in order], learned[order]


def best(scores: np.ndarray, left_out: np.ndarray, top: int) -> np.ndarray:
    """int64[n]: the places of the ``top`` highest of float32[items] scores, of equal ones the first."""
    scores = scores.copy()
    scores[left_out] = -np.inf
    least = np.partition(scores, len(scores) - top)[len(scores) - top] if top < len(scores) else -np.inf
    chosen = np.flatnonzero((scores >= least) & (scores > -np.inf))
    return chosen[np.argsort(-scores[chosen], kind="stable")[:top]]


def own_name(name: str, namespace: str) -> str:
    space, _, rest = name.partition("^")
    return rest if rest and (space == namespace or (len(namespace) == 1 and space.startswith(namespace))) else name
