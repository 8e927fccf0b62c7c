"""Who has met which items: pairs of a person and an item, read from examples that hold both."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.features.group_columns import features_of

GAMMA = np.uint64(0x9E3779B97F4A7C15)


def mixed(numbers: np.ndarray) -> np.ndarray:
    """uint64[n] of uint64[n], each bit of which depends on all bits: splitmix64 (Steele, Lea and Flood, 2014)."""
    numbers = numbers + GAMMA
    numbers = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ numbers >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return numbers ^ numbers >> np.uint64(31)


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
        keys[rows] = mixed(slots.astype(np.uint64) | np.uint64(group) << np.uint64(32))
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
