"""The examples that ``--dual`` keeps in memory: their terms, one a slot, with what they count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vwlite._native import weigh_terms
from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.data.csr import Csr, joined
from vwlite.features.feature_plan import Plan
from vwlite.features.terms import terms_of


class Examples(NamedTuple):
    """Row ``i`` of ``rows`` has terms in the columns ``slots``, uint32[columns] ascending."""

    rows: Csr
    importance: np.ndarray  # float64[rows]
    base: np.ndarray  # float64[rows], initial predictions
    slots: np.ndarray


class KeptRows:
    """Keeps labelled examples that have features and some importance. The learners of several classes may share it."""

    def __init__(self, bits: int, constant_slot: int, bias_scale: float) -> None:
        """The constant's value is multiplied by ``bias_scale``."""
        self.bits, self.constant_slot, self.bias_scale = bits, constant_slot, bias_scale
        self.parts: list[Csr] = []
        self.numbers: list[np.ndarray] = []  # float64[2, rows]: importance, initial prediction
        self.last: tuple[Any, int, int] | None = None  # what was added last
        self.kept = np.zeros(0, np.int64)  # rows of the batch added last
        self.skipped = 0  # examples without features
        self.examples: Examples | None = None

    def add(self, batch: Batch, plan: Plan, held: np.ndarray | None, begin: int, end: int) -> np.ndarray:
        """The rows ``[begin, end)``, those not held out; answers which are kept, int64[n]. Once for all who share it.

        Raises DataError for a row of too many terms, Interrupted, MemoryError.
        """
        added = batch.value, begin, end
        if self.last and self.last[0] is batch.value and self.last[1:] == added[1:]:
            return self.kept
        self.last = added
        if plan.weights:
            batch, plan = plan.weights.apply(batch)
        usable = ~np.isnan(batch.label) & (batch.importance > 0) & (batch.flags & (BLANK | SAVE) == 0)
        if held is not None:
            usable &= held[: len(batch)] == 0
        usable[:begin] = usable[end:] = False
        terms = terms_of(batch, plan)
        if self.bias_scale != 1 and plan.constant:
            terms.values[terms.indices == self.constant_slot] *= np.float32(self.bias_scale)
        if weigh_terms.merge(terms.indptr, terms.indices, terms.values, 0):
            raise MemoryError("the terms of examples need more memory than there is")
        full = usable & (terms.sizes > 0)
        self.kept = np.flatnonzero(full)
        self.skipped += int((usable & ~full).sum())
        self.parts.append(terms.take(self.kept))
        numbers = np.stack((batch.importance, batch.initial_prediction)).astype(np.float64)
        self.numbers.append(numbers[:, full])
        return self.kept

    def settle(self) -> Examples:
        """All of them."""
        if self.examples is None:
            importance, base = np.concatenate([*self.numbers, np.zeros((2, 0))], axis=1)
            rows, self.parts, self.numbers, self.last = joined(self.parts), [], [], None
            self.examples = Examples(rows, importance, base, self.number(rows))
        return self.examples

    def release(self) -> None:
        """Nobody needs them any more."""
        self.examples = None

    def number(self, rows: Csr) -> np.ndarray:
        """The slots that occur; the columns of the rows become places in there."""
        occurs = np.zeros(1 << self.bits, bool)
        occurs[rows.indices] = True
        slots = np.flatnonzero(occurs)
        place = np.zeros(1 << self.bits, np.uint32)
        place[slots] = np.arange(len(slots), dtype=np.uint32)
        rows.indices = place[rows.indices]
        return slots
