"""The terms of single rows with the values that learners give them: the text's own, or weighed ones."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.shared_lines import with_shared
from vwlite.features.feature_names import CONSTANT, term_names
from vwlite.features.feature_plan import Plan
from vwlite.features.row_terms import terms_of_row


class RowTerms(NamedTuple):
    """``names`` as those of ``term_names``; where several terms have one weighed value, theirs joined by ``+``."""

    names: list[str]
    slots: np.ndarray  # uint32[terms], before they are shifted
    values: np.ndarray  # float32[terms]


def row_terms(batch: Batch, plan: Plan, row: int) -> RowTerms:
    """The terms of a row, those of its group's shared line included. ``plan`` must have seen the row's namespaces.

    Raises DataError for a row of too many terms, MemoryError.
    """
    if not plan.weights:
        return RowTerms(term_names(*of_row(batch, row, plan)), *arrays_of(batch, row, plan))
    weighed, flat = plan.weights.apply(batch)
    slots, values = arrays_of(weighed, row, flat)
    made = flat.random.names() if flat.random else []
    linear = len(slots) - len(made) - flat.constant
    known = names_by_slot(batch, row, plan)
    names = [*(known[slot] for slot in slots[:linear].tolist()), *[CONSTANT] * flat.constant, *made]
    return RowTerms(names, slots, values)


def once_each(terms: RowTerms) -> RowTerms:
    """The terms of the same name and slot as one, whose value is their sum, in the place of the first."""
    places: dict[tuple[int, str], int] = {}
    index = [places.setdefault(one, len(places)) for one in zip(terms.slots.tolist(), terms.names, strict=True)]
    if len(places) == len(index):
        return terms
    slots, names = zip(*places, strict=True)
    values = np.bincount(index, terms.values, len(places)).astype(np.float32)
    return RowTerms(list(names), np.array(slots, np.uint32), values)


def of_row(batch: Batch, row: int, plan: Plan) -> tuple[Batch, Plan, int]:
    """What the functions of single rows take, with the shared line of the row's group."""
    whole, at = with_shared(batch, row)
    return whole, plan, at


def arrays_of(batch: Batch, row: int, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    index, value, _, _ = terms_of_row(*of_row(batch, row, plan))
    return np.frombuffer(index, np.uint32), np.frombuffer(value, np.float32)


def names_by_slot(batch: Batch, row: int, plan: Plan) -> dict[int, str]:
    """The names of the terms in each slot, once each; empty where the data have no names."""
    own = copy(plan)
    own.constant, own.random = False, None
    names: dict[int, dict[str, None]] = {}
    for slot, name in zip(arrays_of(batch, row, own)[0].tolist(), term_names(*of_row(batch, row, own)), strict=True):
        names.setdefault(slot, {})[name] = None
    return {slot: "+".join(some) for slot, some in names.items()}
