"""The names of the features met so far, by their slot in the weight table."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vwlite._native.feature_words import FeatureWords
from vwlite.data.batch import BLANK, SHARED, Batch, ranges
from vwlite.data.multiline import with_shared
from vwlite.errors import ModelError
from vwlite.features.feature_names import in_order, term_names, with_all_linear
from vwlite.features.feature_plan import Plan, new_namespaces
from vwlite.features.hashing import CONSTANT_NAME
from vwlite.features.landmarks import LandmarkMap
from vwlite.features.term_weights import terms_of, terms_of_row
from vwlite.storage.model_file import numbers

TERMS_AT_ONCE, MOST_ROWS = 1 << 20, 1 << 13  # that are looked through for new slots
NO_STOP = bytes(1)  # in place of ``vwlite.interrupts.STOP``
MAX_MASK_BITS = 26  # larger tables have no mask of known slots, which takes a byte per slot


class NameIndex:
    """``names``: the first name met for every slot. Names for classes after the first end with the class's number."""

    def __init__(self, layout: tuple[int, int] = (0, 1), names: dict[int, str] | None = None) -> None:
        """``layout``: that of the ``Learner``; ``names``: those already known."""
        self.names = {} if names is None else names
        self.shift, self.classes = layout
        self.known = np.zeros(0, bool)  # bool[slots], whether a slot has a name; empty for very large tables
        self.landmarks: LandmarkMap | None = None  # whose features get names once they are known

    def add(self, batch: Batch, plan: Plan, begin: int = 0, end: int | None = None) -> None:
        """Add the names of the rows ``begin`` to ``end``; rows from a cache have no names.

        ``plan`` must have seen the namespaces of these rows. Raises MemoryError.
        """
        if batch.names is None:
            return
        if not len(self.known) and plan.bits <= MAX_MASK_BITS:
            self.known = np.zeros(1 << plan.bits, bool)
            self.known[list(self.names)] = True
        plan = without_stop(with_all_linear(plan).without_pairs())
        if isinstance(plan.random, LandmarkMap) and plan.random.waiting:
            self.landmarks = plan.random
            if plan.random.only:
                return
            plan.random = None
        rows = batch.example_rows(begin, end, without=SHARED)
        if len(self.known) and plan.plain and not (plan.flat or plan.random or batch.any_flags & SHARED):
            self.add_terms(batch, plan, rows)
            return
        only = plan.random is not None and plan.random.only
        alone = bool(len(self.known)) and plan.flat and not only and not batch.any_flags & SHARED
        for row in rows[:1].tolist() if alone else rows.tolist():  # the first row's terms end with the constant
            self.add_row(batch, plan, row)
        if alone:
            self.add_features(batch, plan, rows[1:])

    def add_row(self, batch: Batch, plan: Plan, row: int) -> None:
        whole, at = with_shared(batch, row)
        slots = first_slots(whole, plan, at, self.shift)
        positions = np.flatnonzero(self.unknown(slots))
        if len(positions):
            names = term_names(whole, plan, at)
            self.enter(slots[positions].tolist(), [names[position] for position in positions.tolist()])

    def add_terms(self, batch: Batch, plan: Plan, rows: np.ndarray) -> None:
        """Add the names of the terms of ``rows``, as ``add_row`` would; only new ones are made."""
        row_names, at, size = RowNames(batch, plan), 0, 1
        while at < len(rows):
            some = rows[at : at + size]
            terms = terms_of(rows_alone(batch, some), plan)
            slots = shift_slots(terms.indices, self.shift, plan.bits)
            new = np.flatnonzero(~self.known[slots])
            new = new[np.sort(np.unique(slots[new], return_index=True)[1])]
            owners = np.searchsorted(terms.indptr, new, "right") - 1
            edges = [*np.flatnonzero(np.diff(owners, prepend=-1)).tolist(), len(new)]
            places, names = (new - terms.indptr[owners]).tolist(), []
            for start, end in pairwise(edges):
                names += row_names.of_row(int(some[0] + owners[start]), places[start:end])
            self.enter(slots[new].tolist(), names)
            at += len(some)
            size = max(1, min(MOST_ROWS, int(TERMS_AT_ONCE * len(some) / max(len(slots), 1))))

    def add_features(self, batch: Batch, plan: Plan, rows: np.ndarray) -> None:
        """Add the names of the ``rows``' features, which are all their terms but the constant, as ``add_row`` would."""
        segments = ranges(batch.row_namespace, rows)
        features = ranges(batch.namespace_start, segments)
        slots = shift_slots(batch.feature_hash[features] & np.uint32((1 << plan.bits) - 1), self.shift, plan.bits)
        new = np.flatnonzero(~self.known[slots])
        features, slots = features[new].astype(np.int64), slots[new]
        owners = np.searchsorted(batch.namespace_start, features, "right") - 1
        order = np.lexsort((features, first_alike(batch)[owners]))  # in a row, those of one character are together
        chosen = order[np.sort(np.unique(slots[order], return_index=True)[1])]
        words = FeatureWords(batch, plan.redefine)
        pairs = zip(features[chosen].tolist(), owners[chosen].tolist(), strict=True)
        self.enter(slots[chosen].tolist(), [words.shown(feature, segment) for feature, segment in pairs])

    def add_ahead(self, batch: Batch, plan: Plan) -> None:
        """Add the names of all rows of a batch that is not learned yet, without changing the plan."""
        if plan.wild:
            plan = copy.copy(plan)
            plan.seen = set(plan.seen)
            for characters in new_namespaces(batch, plan).values():
                plan.see(characters)
        self.add(batch, plan)

    def unknown(self, slots: np.ndarray) -> np.ndarray:
        if len(self.known):
            return ~self.known[slots]
        return np.array([slot not in self.names for slot in slots.tolist()], bool)

    def enter(self, slots: list[int], names: list[str]) -> None:
        for slot, name in zip(slots, names, strict=True):
            self.names.setdefault(slot, name)
            for number in range(1, self.classes):
                self.names.setdefault(slot + number, f"{name}[{number}]")
        if len(self.known):
            self.known[np.array(slots, np.int64)] = True

    def arrays(self) -> dict[str, np.ndarray]:
        """``name_slot`` uint32[n] ascending, ``name_end`` int64[n], ``name_text`` uint8[all names].

        Name ``i`` ends before byte ``name_end[i]`` of the text, where the next one begins.
        """
        if self.landmarks:
            slots = shift_slots(self.landmarks.slots(), self.shift, self.landmarks.bits)
            self.enter(slots.tolist(), self.landmarks.names())
        slots = sorted(self.names)
        words = [self.names[slot].encode("utf-8", "surrogateescape") for slot in slots]
        return {
            "name_slot": np.array(slots, np.uint32),
            "name_end": np.cumsum([len(word) for word in words], dtype=np.int64),
            "name_text": np.frombuffer(b"".join(words), np.uint8),
        }


class Makers(NamedTuple):
    """Name makers for rows with the same namespaces and numbers of features."""

    terms: list[tuple[int, ...]]  # the features that each term is made of; of the constant none
    segments: list[int]  # of each feature the one it stands in


class RowNames:
    """Names of some terms of rows, by the terms' places. Rows of the same shape are looked through once."""

    def __init__(self, batch: Batch, plan: Plan) -> None:
        self.batch, self.plan, self.words = batch, plan, FeatureWords(batch, plan.redefine)
        self.makers: dict[bytes, Makers] = {}
        self.rows, self.edges = memoryview(batch.row_namespace), memoryview(batch.namespace_start)

    def of_row(self, row: int, places: Iterable[int]) -> list[str]:
        first, last = self.rows[row], self.rows[row + 1]
        edges = self.batch.namespace_start[first : last + 1]
        begin = self.edges[first]
        shape = self.batch.namespace_char[first:last].tobytes() + (edges - edges[:1]).tobytes()
        makers = self.makers.get(shape) or self.look(shape, first, last)
        known: dict[int, str] = {}
        names = []
        for place in places:
            parts = makers.terms[place]
            for one in parts:
                if one not in known:
                    known[one] = self.words.shown(begin + one, first + makers.segments[one])
            names.append("*".join([known[one] for one in parts]) if parts else CONSTANT_NAME)
        return names

    def look(self, shape: bytes, first: int, last: int) -> Makers:
        """Names that are numbers of features tell the order of the terms."""
        groups: dict[int, list[str]] = {}
        segments: list[int] = []
        for segment in range(first, last):
            numbers = range(len(segments), len(segments) + self.edges[segment + 1] - self.edges[segment])
            groups.setdefault(int(self.batch.namespace_char[segment]), []).extend(map(str, numbers))
            segments += [segment - first] * len(numbers)
        terms = in_order(groups, self.plan)
        makers = Makers([() if one == CONSTANT_NAME else tuple(map(int, one.split("*"))) for one in terms], segments)
        self.makers[shape] = makers
        return makers


def without_stop(plan: Plan) -> Plan:
    """The plan for rows that have been run, which are named whatever signal there was meanwhile."""
    plan = copy.copy(plan)
    plan.stop = NO_STOP
    return plan


def rows_alone(batch: Batch, rows: np.ndarray) -> Batch:
    """The rows from the first to the last of ``rows``, those between that are none of these as if they were blank."""
    first, last = int(rows[0]), int(rows[-1])
    part = batch.part(first, last + 1)
    flags = np.full(len(part), BLANK, np.uint8)
    flags[rows - first] = 0
    return replace(part, flags=flags, release=None)


def first_slots(batch: Batch, plan: Plan, row: int, shift: int) -> np.ndarray:
    """uint32[terms]: the slot of each term; the first of them where a term has several."""
    return shift_slots(np.frombuffer(terms_of_row(batch, plan, row)[0], np.uint32), shift, plan.bits)


def shift_slots(slots: np.ndarray, shift: int, bits: int) -> np.ndarray:
    return slots << np.uint32(shift) & np.uint32((1 << bits) - 1) if shift else slots


def first_alike(batch: Batch) -> np.ndarray:
    """int64[segments]: the first segment of the same row whose namespace has the same character."""
    sizes = np.diff(batch.row_namespace.astype(np.int64))
    key = np.repeat(np.arange(len(sizes)), sizes) << 8 | batch.namespace_char[: sizes.sum()]
    _, firsts, alike = np.unique(key, return_index=True, return_inverse=True)
    return firsts[alike]


def name_index_from_arrays(arrays: Mapping[str, np.ndarray], bits: int) -> NameIndex:
    """The index from ``NameIndex.arrays``. Raises ModelError for damaged arrays and slots beyond 2^bits."""
    try:
        slots = numbers(arrays, "name_slot", np.uint32, (-1,))
        edges = [0, *numbers(arrays, "name_end", np.int64, (len(slots),)).tolist()]
        text = numbers(arrays, "name_text", np.uint8, (-1,)).tobytes()
        if edges != sorted(edges) or edges[-1] != len(text) or int(slots.max(initial=0)) >= 1 << bits:
            raise ValueError("slots and ends of names")
    except (KeyError, ValueError) as error:
        raise ModelError(f"the names in the model are damaged ({error})") from error
    index = NameIndex()
    for slot, (start, end) in zip(slots.tolist(), pairwise(edges), strict=True):
        index.names[slot] = text[start:end].decode("utf-8", "surrogateescape")
    return index
