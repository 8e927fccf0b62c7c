"""Readable names of an example's terms, in the order in which the native expander makes them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from vwlite._native.expand import group_of_row
from vwlite._native.feature_words import FeatureWords
from vwlite.data.batch import Batch
from vwlite.data.multiline import with_shared
from vwlite.features.feature_plan import NAMELESS, Plan
from vwlite.features.hashing import CONSTANT_HASH, CONSTANT_NAME
from vwlite.features.interactions import LETTERS
from vwlite.features.term_weights import terms_of_row


class Feature(NamedTuple):
    """A stored feature or an n-gram."""

    space: str  # name of its namespace, empty when anonymous
    name: str
    text: str  # its text value, empty when the value is a number
    hash: int  # masked
    value: float

    def __str__(self) -> str:
        name = f"{self.space}^{self.name}" if self.space else self.name
        return f"{name}^{self.text}" if self.text else name


def term_names(batch: Batch, plan: Plan, row: int) -> list[str]:
    """Names of the terms of ``row``, one for each that ``expand_row`` gives, in its order.

    They are those of Vowpal Wabbit's audit: ``namespace^feature``, ``namespace^feature^text``,
    crossed features joined by ``*``. Bytes that are not UTF-8 become surrogate escapes. A batch
    without names has only the constant's; the others are empty.
    """
    if batch.names is None:
        return nameless(batch, plan, row)
    groups = plain_groups(batch, plan, row) if plan.plain else {
        number: list(map(str, group)) for number, group in gather(batch, plan, row).items()
    }
    terms = in_order(groups, plan)
    if plan.random:
        return [*kept_names(terms, groups, plan), *plan.random.names()]
    return terms


def in_order(groups: Mapping[int, list[str]], plan: Plan) -> list[str]:
    """The names of the terms that are made of the features of ``groups``, the constant's among them."""
    terms = [
        name
        for number, group in groups.items()
        if number < LETTERS and not plan.nonlinear[number]
        for name in group
    ]
    if plan.constant:
        terms.append(CONSTANT_NAME)
    for letters in plan.interactions:
        if all(letter in groups for letter in letters):
            terms += crossed_names(letters, groups, plan.permutations)
    return terms


def kept_names(terms: list[str], groups: Mapping[int, list[str]], plan: Plan) -> list[str]:
    """The names of the terms that random features do not replace."""
    if not plan.random.only:
        return terms
    if not plan.random.chosen:
        return [CONSTANT_NAME] if plan.constant else []
    linear = [number for number in groups if number < LETTERS and not plan.nonlinear[number]]
    names = [name for number in linear if not plan.random.of[number] for name in groups[number]]
    return names + terms[sum(len(groups[number]) for number in linear) :]


class GroupTerms(NamedTuple):
    """The features of one namespace or full name of a row, n-grams included."""

    names: list[str]  # empty ones in a batch without names
    slots: np.ndarray  # uint32[features], masked
    values: np.ndarray  # float32[features]


def group_terms(batch: Batch, plan: Plan, row: int, number: int) -> GroupTerms:
    """The terms of group ``number``, as ``--lrq`` and ``--dotproduct`` name them; none if the row lacks it.

    Raises IndexError, MemoryError.
    """
    hashes, values = (np.frombuffer(part, kind) for part, kind in zip(
        group_of_row(batch, plan, row, number), (np.uint32, np.float32), strict=True
    ))
    slots = hashes & np.uint32((1 << plan.bits) - 1)
    if batch.names is None:
        return GroupTerms([""] * len(slots), slots, values)
    return GroupTerms(list(map(str, gather(batch, plan, row).get(number, ()))), slots, values)


def nameless(batch: Batch, plan: Plan, row: int) -> list[str]:
    index, _, _, groups = terms_of_row(batch, plan, row)
    terms = [""] * (len(index) // 4)
    if plan.constant:
        terms[sum(size for letter, size in groups if not plan.nonlinear[letter])] = CONSTANT_NAME
    return terms


def gather(batch: Batch, plan: Plan, row: int) -> dict[int, list[Feature]]:
    """The row's features by group number, n-grams included, cut to ``--feature_limit``."""
    spaces: dict[int, list[Feature]] = {}
    whole: dict[int, list[Feature]] = {}  # by hash of the namespace's whole name
    mask = 2**plan.bits - 1
    for segment in range(batch.row_namespace[row], batch.row_namespace[row + 1]):
        letter = int(plan.redefine[batch.namespace_char[segment]])
        if not plan.ignore[letter]:
            features = segment_features(batch, plan, segment)
            spaces.setdefault(letter, []).extend(features)
            if batch.namespace_char[segment] not in NAMELESS:
                whole.setdefault(int(batch.namespace_hash[segment]), []).extend(features)
    for letter, features in spaces.items():
        features += grams(features, int(plan.ngram[letter]), int(plan.skips[letter]), mask)
        if plan.sort:
            spaces[letter] = features = limit_features(features, len(features))
        limit = int(plan.limit[letter])
        if limit and len(features) > limit:
            spaces[letter] = limit_features(features, limit)
    for number, wanted in enumerate(plan.name_hash.tolist(), LETTERS):
        if wanted in whole:
            spaces[number] = whole[wanted]
    return spaces


def plain_groups(batch: Batch, plan: Plan, row: int) -> dict[int, list[str]]:
    """The names of the row's features by the character of their namespace, where features are taken as they are."""
    words, groups = FeatureWords(batch, plan.redefine), {}
    first, last = batch.row_namespace[row : row + 2].tolist()
    for segment, character in enumerate(batch.namespace_char[first:last].tolist(), first):
        groups.setdefault(character, []).extend(words.of_segment(segment))
    return groups


def segment_features(batch: Batch, plan: Plan, segment: int) -> list[Feature]:
    words, mask = FeatureWords(batch, plan.redefine), 2**plan.bits - 1
    first, last = batch.namespace_start[segment : segment + 2].tolist()
    return [
        Feature(*words.parts(i, segment), int(batch.feature_hash[i]) & mask, float(batch.value[i]))
        for i in range(first, last)
    ]


def grams(features: list[Feature], longest: int, skips: int, mask: int) -> list[Feature]:
    """The n-grams of 2 to ``longest`` features; text values are no part of their names."""
    names = []
    for length in range(2, longest + 1):
        for offsets in patterns((0,), length - 1, skips, len(features)):
            for start in range(len(features) - offsets[-1]):
                members = [features[start + offset] for offset in offsets]
                index = 0
                for member in members:
                    index = index * 27942141 + member.hash & mask
                name = "^".join(member.name for member in members)
                names.append(Feature(members[0].space, name, "", index, 1.0))
    return names


def patterns(
    offsets: tuple[int, ...], missing: int, skips: int, size: int, skipped: int = 0
) -> Iterator[tuple[int, ...]]:
    """Offsets of an n-gram's members among ``size`` features, first without another skip, then with one more."""
    if offsets[-1] + missing + skipped >= size:
        return
    if missing == 0:
        yield offsets
        return
    yield from patterns((*offsets, offsets[-1] + 1 + skipped), missing - 1, skips, size)
    if skips:
        yield from patterns(offsets, missing, skips - 1, size, skipped + 1)


def limit_features(features: list[Feature], limit: int) -> list[Feature]:
    """The features of the ``limit`` smallest slots; of several in one slot the one with the smallest value."""
    first_features: dict[int, Feature] = {}
    for feature in sorted(features, key=lambda feature: (feature.hash, feature.value)):
        first_features.setdefault(feature.hash, feature)
    return list(itertools.islice(first_features.values(), limit))


def crossed_names(
    letters: tuple[int, ...], groups: dict[int, list[str]], permutations: bool
) -> Iterator[str]:
    """Names of one interaction's terms; a run of one namespace gives each choice once."""
    choose = itertools.combinations_with_replacement
    parts = []
    for letter, run in itertools.groupby(letters):
        names, times = groups[letter], len(list(run))
        chosen = itertools.product(names, repeat=times) if permutations else choose(names, times)
        parts.append(map("*".join, chosen))
    return map("*".join, itertools.product(*parts))


def with_all_linear(plan: Plan) -> Plan:
    """The plan of audits, which show the linear terms that ``--ignore_linear`` takes out."""
    if plan.nonlinear.any():
        plan = copy.copy(plan)
        plan.nonlinear = np.zeros_like(plan.nonlinear)
    return plan


class RowTerms(NamedTuple):
    """``names`` as those of ``term_names``; where several terms have one weighed value, theirs joined by ``+``."""

    names: list[str]
    slots: np.ndarray  # uint32[terms], before they are shifted
    values: np.ndarray  # float32[terms]


def row_terms(batch: Batch, plan: Plan, row: int) -> RowTerms:
    """The terms of a row, those of its group's shared line included. ``plan`` must have seen the row's namespaces.

    Raises DataError for a row of too many terms, MemoryError.
    """
    if plan.centring:
        known = {**names_by_slot(batch, row, plan), CONSTANT_HASH & ((1 << plan.bits) - 1): CONSTANT_NAME}
        slots, values = arrays_of(plan.centring.apply(batch, row, row + 1, None, False), row, plan)
        return RowTerms([known.get(slot, "") for slot in slots.tolist()], slots, values)
    if not plan.weights:
        return RowTerms(term_names(*of_row(batch, row, plan)), *arrays_of(batch, row, plan))
    weighed, flat = plan.weights.apply(batch)
    slots, values = arrays_of(weighed, row, flat)
    random_names = flat.random.names() if flat.random else []
    linear = len(slots) - len(random_names) - flat.constant
    known = names_by_slot(batch, row, plan)
    names = [*(known[slot] for slot in slots[:linear].tolist()), *[CONSTANT_NAME] * flat.constant, *random_names]
    return RowTerms(names, slots, values)


def once_each(terms: RowTerms) -> RowTerms:
    """The terms of the same name and slot as one, whose value is their sum, in the place of the first."""
    places: dict[tuple[int, str], int] = {}
    index = [places.setdefault(one, len(places)) for one in zip(terms.slots.tolist(), terms.names, strict=True)]
    if len(places) == len(index):
        return terms
    slots, names = zip(*places, strict=True)
    with np.errstate(over="ignore"):  # a sum beyond float32 is infinite, as one term may be
        values = np.bincount(index, terms.values, len(places)).astype(np.float32)
    return RowTerms(list(names), np.array(slots, np.uint32), values)


def of_row(batch: Batch, row: int, plan: Plan) -> tuple[Batch, Plan, int]:
    """The arguments of functions of single rows, with the shared line of the row's group."""
    whole, at = with_shared(batch, row)
    return whole, plan, at


def arrays_of(batch: Batch, row: int, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    index, value, _, _ = terms_of_row(*of_row(batch, row, plan))
    return np.frombuffer(index, np.uint32), np.frombuffer(value, np.float32)


def names_by_slot(batch: Batch, row: int, plan: Plan) -> dict[int, str]:
    """The names of the terms in each slot, once each; empty where the data have no names."""
    own = copy.copy(plan)
    own.constant, own.random = False, None
    names: dict[int, dict[str, None]] = {}
    for slot, name in zip(arrays_of(batch, row, own)[0].tolist(), term_names(*of_row(batch, row, own)), strict=True):
        names.setdefault(slot, {})[name] = None
    return {slot: "+".join(some) for slot, some in names.items()}
