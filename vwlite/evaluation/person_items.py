"""Who has met which items: pairs of a person and an item, read from examples that hold both."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.features.group_columns import features_of, segments_of
from vwlite.features.hashing import mix64
from vwlite.features.row_blocks import blocks_of, joined, no_blocks, rows_with

GAMMA = np.uint64(0x9E3779B97F4A7C15)


def first_features(batch: Batch, plan: Plan, group: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that have features of the group, int64[n] ascending, and the slot of the first one of each, uint32[n].

    Those without a number come before all others: an id stands first.
    """
    rows, slots, values = features_of(batch, plan, group)
    order = np.lexsort((values != 1, rows))
    found, first = np.unique(rows[order], return_index=True)
    return found, slots[order[first]]


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
        found = np.full(len(slots), -1, np.int32)
        found[known] = self.order[places[known]]
        self.parts.append((keys[chosen], found[chosen]))

    def close(self) -> None:
        """All pairs have been added."""
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
    """What persons, by their keys, were first met with in the namespaces ``groups``, which tell them apart."""

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
        self.blocks = joined(self.blocks, taken)

    def completed(self, batch: Batch) -> Batch:
        """The same rows; one with nothing but the id of a person has all that the person was met with."""
        alone = np.diff(batch.namespace_start[batch.row_namespace].astype(np.int64)) == 1
        keys = keys_of(batch, self.plan, self.groups)
        source = np.arange(len(batch))
        for row in np.flatnonzero(alone).tolist():
            if (place := self.places.get(int(keys[row]))) is not None:
                source[row] = len(batch) + place
        whole = joined(blocks_of(batch), self.blocks).take(source)
        return rows_with(whole, batch, np.arange(len(batch)))
