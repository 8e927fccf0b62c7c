"""The features of a namespace of a dyadic model, such as items; who has met which; what each adds to a prediction."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.evaluation.inspect_model import sides_of
from vwlite.features.config import covers, sides_of_pair
from vwlite.features.feature_names import gather, group_terms
from vwlite.features.feature_plan import Plan
from vwlite.features.group_columns import (
    features_of,
    segments_in,
    segments_of,
    space_of,
    without_group,
    without_segments,
)
from vwlite.features.hashing import mix64
from vwlite.features.interactions import WILDCARD
from vwlite.learners.negatives import blocks_of, join_blocks, no_blocks, pair_bits, rows_with
from vwlite.learners.row_results import Results, has_length
from vwlite.training.model_loader import Restored
from vwlite.training.trainer import BatchSource, row_ranges

if TYPE_CHECKING:
    from vwlite.learners.dyadic import Dyadic


Look = Callable[[Batch], None]
GAMMA = np.uint64(0x9E3779B97F4A7C15)


def first_features(batch: Batch, plan: Plan, group: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that have features of the group, int64[n] ascending, and the slot of the first one of each, uint32[n].

    Those without a number come before all others: an id stands first.
    """
    rows, slots, values = features_of(batch, plan, group)
    order = np.lexsort((values != 1, rows))
    present, first = np.unique(rows[order], return_index=True)
    return present, slots[order[first]]


def keys_of(batch: Batch, plan: Plan, groups: list[int]) -> np.ndarray:
    """uint64[rows]: a hash of the feature that tells a row's person from others; 0 where there is none.

    It is that of ``first_features`` in the first of ``groups`` that the row has features of. What else is known of a
    person may differ from row to row.
    """
    keys = np.zeros(len(batch), np.uint64)
    for group in reversed(groups):
        rows, slots = first_features(batch, plan, group)
        keys[rows] = mix64((slots.astype(np.uint64) | np.uint64(group) << np.uint64(32)) + GAMMA)
    return keys


class PersonItems:
    """Pairs of persons, by their keys, and items, by their places in a list of slots; -1: an item not in the list.

    ``groups`` tell persons apart, as ``keys_of`` has them. ``group`` holds the items; uint32[n] ``slots`` are those
    that are known. ``one_a_row``: a row has one item, whose id is that of ``first_features``; else all of them are.
    """

    def __init__(self, plan: Plan, groups: list[int], group: int, slots: np.ndarray, one_a_row: bool = False) -> None:
        self.plan, self.groups, self.group, self.one_a_row = plan, groups, group, one_a_row
        self.order = np.argsort(slots).astype(np.int32)
        self.slots = slots[self.order]
        self.parts: list[tuple[np.ndarray, np.ndarray]] = []
        self.keys = np.zeros(0, np.uint64)  # ascending, once ``close`` was called
        self.items = np.zeros(0, np.int32)

    def add(self, batch: Batch, wanted: np.ndarray | None = None) -> None:
        """The pairs of the ``wanted`` rows, bool[rows]; None: of all."""
        read = first_features if self.one_a_row else features_of
        rows, slots = read(batch, self.plan, self.group)[:2]
        keys = keys_of(batch, self.plan, self.groups)[rows]
        places = np.minimum(np.searchsorted(self.slots, slots), max(len(self.slots) - 1, 0))
        known = self.slots[places] == slots if len(self.slots) else np.zeros(len(slots), bool)
        chosen = (keys != 0) if wanted is None else (keys != 0) & wanted[rows]
        numbers = np.full(len(slots), -1, np.int32)
        numbers[known] = self.order[places[known]]
        self.parts.append((keys[chosen], numbers[chosen]))

    def close(self) -> None:
        """End the catalogue: all pairs have been added."""
        if self.parts:
            keys, items = (np.concatenate(part) for part in zip(*self.parts, strict=True))
            order = np.argsort(keys, kind="stable")
            self.keys, self.items = keys[order], items[order]
        self.parts = []

    def of(self, key: int | np.uint64) -> np.ndarray:
        """int32[n]: the items that this person has met."""
        begin, end = np.searchsorted(self.keys, np.uint64(key)), np.searchsorted(self.keys, np.uint64(key), "right")
        return self.items[begin:end]


class PersonBundles:
    """The features of persons, by their keys, in the namespaces ``groups`` that identify them, as first seen."""

    def __init__(self, plan: Plan, groups: list[int]) -> None:
        self.plan, self.groups = plan, groups
        self.places: dict[int, int] = {}  # of persons in ``blocks``, by their keys
        self.blocks = no_blocks()

    def add(self, batch: Batch) -> None:
        """The persons of these rows that were not met before."""
        keys, first = np.unique(keys_of(batch, self.plan, self.groups), return_index=True)
        new = [(row, key) for key, row in zip(keys.tolist(), first.tolist(), strict=True) if key not in self.places]
        rows = [(row, key) for row, key in sorted(new) if key]
        self.places |= {key: len(self.places) + place for place, (_, key) in enumerate(rows)}
        inside = np.any([segments_of(batch, self.plan, group) for group in self.groups], axis=0)
        taken = blocks_of(batch).take(np.array([row for row, _ in rows], np.int64), inside)
        self.blocks = join_blocks(self.blocks, taken)

    def completed(self, batch: Batch) -> Batch:
        """The same rows; one with nothing but the id of a person has all that the person was met with."""
        alone = np.diff(batch.namespace_start[batch.row_namespace].astype(np.int64)) == 1
        keys = keys_of(batch, self.plan, self.groups)
        source = np.arange(len(batch))
        for row in np.flatnonzero(alone).tolist():
            if (place := self.places.get(int(keys[row]))) is not None:
                source[row] = len(batch) + place
        whole = join_blocks(blocks_of(batch), self.blocks).take(source)
        return rows_with(whole, batch, np.arange(len(batch)))


ROWS_AT_ONCE = 1 << 16  # that are predicted


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
        self.find_partners(model)

    def find_partners(self, model: Restored) -> None:
        """Find the groups that items are paired with, and their names, those with the most features first."""
        typed = {
            self.plan.pairs[pair][other]: sides_of_pair(model.features.dotproduct[pair])[other]
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
            total += np.stack([nothing if vector is None else vector for vector in partners]) @ vectors.T
            total -= there[:, None] * self.learner.kernel.offset_square
        return total.astype(np.float32)

    def partner(self, batch: Batch, row: int, pair: int, side: int) -> np.ndarray | None:
        """float64[rank]: what an item's vector is multiplied by; None where the example has nothing on that side."""
        terms = group_terms(batch, self.plan, row, self.plan.pairs[pair][side])
        if not has_length(terms):
            return None
        vector: np.ndarray = terms.values.astype(float) @ self.learner.vectors(pair, side, terms.slots) + self.offset
        return vector

    def without_items(self, batch: Batch) -> Batch:
        """The same rows without what makes items."""
        return without_group(batch, self.plan, self.group)

    def updates(self) -> np.ndarray:
        """float32[items]: how many examples the model has learned of each."""
        pair, other, _ = self.parts[0]
        counts: np.ndarray = self.learner.latent[pair][1 - other][self.slots, self.learner.rank]
        return counts

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


class ItemBundles(Catalogue):
    """Items as examples have them: of each id, the first feature of its namespace, all that it was first met with.

    What belongs to an item stands in ``spaces``; of examples without a person, which are lines of a catalogue, it is
    all that they have. Predictions are those of the model for a person's example with all of an item behind it.
    """

    def __init__(self, model: Restored, names: Mapping[int, str], spaces: list[str]) -> None:
        """Call ``add``, then ``close``. Raises UsageError where the model has no latent vectors of the first space."""
        learner, plan = model.learner, model.plan
        self.sides = sides_of(model, spaces[0])
        self.learner, self.plan, self.spaces, self.known_names = learner, plan, spaces, names
        self.group = plan.pairs[self.sides[0][0]][self.sides[0][1]]
        self.parts = [(pair, 1 - side, np.zeros((0, 0))) for pair, side in self.sides]
        self.find_partners(model)
        self.met: dict[int, str] = {}  # names by slots of ids, in the order in which they were met
        self.blocks = no_blocks()

    def add(self, batch: Batch) -> None:
        """The items of these rows that were not met before."""
        blocks = blocks_of(batch)
        of_people = np.any([segments_of(batch, self.plan, group) for group in self.partners], axis=0)
        owner = np.repeat(np.arange(len(batch)), np.diff(blocks.row_namespace))
        alone = np.bincount(owner[of_people], minlength=len(batch)) == 0
        rows, slots = first_features(batch, self.plan, self.group)
        _, first = np.unique(slots, return_index=True)
        new = [place for place in np.sort(first).tolist() if int(slots[place]) not in self.met]
        for place in new:
            self.met[int(slots[place])] = self.name(batch, int(rows[place]), int(slots[place]))
        self.blocks = join_blocks(self.blocks, blocks.take(rows[new], self.in_items(batch) | alone[owner] & ~of_people))

    def name(self, batch: Batch, row: int, slot: int) -> str:
        """The name of an id, as in the model or in the row."""
        known = self.known_names.get(slot)
        if known is None and batch.names is not None:
            features = gather(batch, self.plan, row).get(self.group, ())
            known = next((str(feature) for feature in features if feature.hash == slot), None)
        return own_name(known or str(slot), self.spaces[0])

    def close(self) -> None:
        """End the catalogue: all examples have been added."""
        order = sorted(range(len(self.met)), key=list(self.met.values()).__getitem__)
        self.names = [list(self.met.values())[place] for place in order]
        self.slots = np.array(list(self.met), np.uint32)[order]
        self.blocks = self.blocks.take(np.array(order, np.int64))
        self.inner = np.unique(pair_bits(self.blocks.namespace_hash, self.blocks.namespace_char))

    def in_items(self, batch: Batch) -> np.ndarray:
        """bool[segments]: those of the spaces of items."""
        spaces = (space_of(name, self.plan.config) for name in self.spaces)
        return np.any([segments_in(batch, self.plan.redefine, space) for space in spaces], axis=0)

    def without_items(self, batch: Batch) -> Batch:
        blocks = blocks_of(batch)
        inside = self.in_items(batch) | np.isin(pair_bits(blocks.namespace_hash, blocks.namespace_char), self.inner)
        return without_segments(replace(batch, names=None), inside)

    def scores(self, batch: Batch, rows: list[int], base: np.ndarray) -> np.ndarray:
        people, items = blocks_of(batch), np.arange(len(self.names))
        scores = np.empty((len(rows), len(items)), np.float32)
        at_once = max(1, ROWS_AT_ONCE // max(1, len(items)))
        for begin in range(0, len(rows), at_once):
            part = np.array(rows[begin : begin + at_once])
            cells = np.empty(2 * len(part) * len(items), np.int64)  # a person, an item
            cells[::2] = np.repeat(np.arange(len(part)), len(items))
            cells[1::2] = np.tile(len(part) + items, len(part))
            pairs = join_blocks(people.take(part), self.blocks).take(cells).merged(np.arange(0, len(cells) + 1, 2))
            scores[begin : begin + len(part)] = self.predicted(rows_with(pairs, batch, np.repeat(part, len(items))))
        return scores

    def predicted(self, batch: Batch) -> np.ndarray:
        """float32[rows, items] of a row for each."""
        results = Results()
        results.reserve(len(batch))
        for begin, end in row_ranges(batch, self.plan):
            self.learner.run(batch, self.plan, results, begin, end)
        return results.raw.reshape(-1, len(self.names))

    def pairs(self) -> PersonItems:
        return PersonItems(self.plan, self.partners, self.group, self.slots, one_a_row=True)


class WithoutItems:
    """The batches of a source without their items; ``look`` is called with each batch as it was."""

    def __init__(
        self, source: BatchSource, catalogue: Catalogue, look: Look | None = None, people: PersonBundles | None = None
    ) -> None:
        """``people``: the features of persons of whom rows have only the id."""
        self.source, self.catalogue, self.look, self.people = source, catalogue, look, people

    def batches(self, number: int) -> Generator[Batch]:
        with closing(self.source.batches(number)) as batches:
            for batch in batches:
                if self.look:
                    self.look(batch)
                yield self.catalogue.without_items(self.people.completed(batch) if self.people else batch)


def item_spaces(model: Restored, of: str) -> list[str]:
    """The namespaces that an item is in, that of its id first: those typed; else, of the model, those that negatives
    are drawn in, and those that dot products pair with the same namespaces.
    """
    typed = of.split(",")
    if len(typed) > 1:
        return typed
    pairs = [sides_of_pair(pair) for pair in model.features.dotproduct]
    ordered = [*pairs, *(pair[::-1] for pair in pairs)]
    partners = {right for left, right in ordered if left == of}
    alike = [right for left, right in ordered if left in partners and right not in partners]
    drawn = model.learner.config.negatives_of.split(",")
    return list(dict.fromkeys([of, *(drawn if of in drawn else ()), *alike]))


def learned_of(
    learner: Dyadic, sides: list[tuple[int, int]], names: Mapping[int, str], namespace: str
) -> tuple[list[str], np.ndarray]:
    """Names and slots, uint32[n], of the features of a namespace that were ever updated on these sides, by name."""
    learned = np.unique(np.concatenate([learner.factors(*side)[0] for side in sides]))
    names_shown = [own_name(names.get(slot, str(slot)), namespace) for slot in learned.tolist()]
    order = sorted(range(len(names_shown)), key=names_shown.__getitem__)
    return [names_shown[place] for place in order], learned[order]


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


class Neighbours:
    """The learned features of a namespace by the cosines of their vectors, those of all its sides one behind the other.

    What is added to every vector (``--dot-offset``) is no part of them; a feature whose vector is 0 is near nothing.
    """

    def __init__(self, model: Restored, names: Mapping[int, str], namespace: str) -> None:
        """The namespace or, where dot products name letters, its first. Raises UsageError for one without vectors."""
        spaces = (side for pair in model.features.dotproduct for side in sides_of_pair(pair))
        namespace = next((side for side in spaces if covers(side, namespace)), namespace)
        learner, sides = model.learner, sides_of(model, namespace)
        if not learner.config.rank:
            raise UsageError("--near needs latent vectors: a model of --rank 0 has numbers in their place")
        self.names, self.slots = learned_of(learner, sides, names, namespace)
        vectors = np.concatenate([learner.vectors(*side, self.slots) for side in sides], axis=1)
        self.length = np.linalg.norm(vectors, axis=1)
        self.directions = vectors / np.where(self.length > 0, self.length, 1)[:, None]

    def near(self, slot: int, top: int) -> list[tuple[str, float]] | None:
        """The ``top`` features of largest cosine with that at ``slot``, of equal ones by name; None: never learned."""
        places = np.flatnonzero(self.slots == slot)
        if not len(places) or not self.length[places[0]]:
            return None
        cosines = (self.directions @ self.directions[places[0]]).astype(np.float32)
        left_out = np.flatnonzero((self.slots == slot) | (self.length == 0))
        return [(self.names[place], float(cosines[place])) for place in best(cosines, left_out, top)]
