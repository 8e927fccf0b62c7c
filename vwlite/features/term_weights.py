"""Other values for the terms of examples: functions of counts, weights of slots, rows of length 1.

``idf``: Sparck Jones, Journal of Documentation 28 (1972), ln(n / df). ``degree`` is the row sum of the kernel X X', by
which the normalised cut divides (Shi and Malik, IEEE PAMI 22, 2000).
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite._native import weigh_terms
from vwlite._native.expand import expand_row, flatten
from vwlite.data.batch import BLANK, Batch, Csr
from vwlite.data.text_format import FULL
from vwlite.errors import DataError
from vwlite.features.config import VALUES, FeatureConfig
from vwlite.features.feature_plan import ANONYMOUS, Plan, new_namespaces
from vwlite.interrupts import raise_if_stopped
from vwlite.storage.model_file import numbers

MAX_TERMS = 100_000_000  # MAX_TERMS of features/row_buffer.pxd
ADVICE = "cross fewer namespaces (-q, --interactions), use shorter n-grams or a --feature_limit, or divide the line"


def terms_of_row(batch: Batch, plan: Plan, row: int) -> tuple[bytes, bytes, int, list[tuple[int, int]]]:
    """As ``expand_row``. Raises DataError for too many, IndexError, MemoryError."""
    try:
        return expand_row(batch, plan, row)
    except OverflowError:
        raise too_many(batch, row) from None


def too_many(batch: Batch, row: int) -> DataError:
    """The error for a row whose features, n-grams and interactions are more than ``MAX_TERMS``."""
    first, last = batch.row_namespace[row], batch.row_namespace[row + 1]
    own = int(batch.namespace_start[last]) - int(batch.namespace_start[first])
    return DataError(
        f"{batch.location(row)}: {own:,} features make more than {MAX_TERMS:,} "
        f"with their interactions and n-grams: {ADVICE}"
    )


TOO_MANY, STOPPED = 103, 104  # of base/status.pxd


def terms_of(batch: Batch, plan: Plan) -> Csr:
    """A row for each line. Raises DataError for a line that makes too many, Interrupted, MemoryError."""
    indptr, capacity = np.zeros(len(batch) + 1, np.int64), 2 * len(batch.feature_hash) + len(batch)
    while True:
        indices, values = np.empty(capacity, np.uint32), np.empty(capacity, np.float32)
        status, terms = flatten(batch, plan, indptr, indices, values)
        if status == STOPPED:
            raise_if_stopped()
        if status == TOO_MANY:
            raise too_many(batch, terms)
        if status != FULL:
            break
        capacity = 2 * max(capacity, terms)
    if status:
        raise MemoryError("an example's interactions need more memory than there is")
    return Csr(indptr, indices[:terms].copy(), values[:terms].copy())


def meet(batch: Batch, plan: Plan) -> None:
    """Let wildcards stand for the namespaces of all of the batch's rows."""
    if plan.wild:
        for characters in new_namespaces(batch, plan).values():
            plan.see(characters)


ARRAYS = ("term_slot", "term_count", "term_examples")


class TermWeights:
    """Gives the terms of the examples of a plan other values.

    ``counts`` float64[2^bits]: with ``idf`` how many examples have a slot, with ``degree`` the sum of their values
    there; ``examples``: how many were counted.
    """

    def __init__(self, config: FeatureConfig, plan: Plan) -> None:
        self.config, self.plan = config, plan
        self.flat = Plan(FeatureConfig(bits=config.bits, noconstant=config.noconstant))
        self.flat.random = plan.random  # which is made from the terms' final values
        self.counts = np.zeros(2**config.bits if config.weight != "none" else 0)
        self.examples, self.factor = 0, np.zeros(0, np.float32)
        self.waiting = config.weight != "none"  # for ``count`` of all examples and ``settle``
        self.kept: tuple[Any, int, Csr, np.ndarray | None] | None = None  # terms of the last batch

    def merged(self, batch: Batch) -> Csr:
        """The terms without the constant's, one a slot, by the slots, with their values before they are weighted."""
        own = copy(self.plan)
        own.constant = False
        if self.config.weighs_terms:
            own.random = None
        terms = terms_of(batch, own)
        if weigh_terms.merge(terms.indptr, terms.indices, terms.values, VALUES.index(self.config.value)):
            raise MemoryError("the terms of examples need more memory than there is")
        if self.config.weight == "degree":
            self.check_sign(batch, terms)
        return cut_tail(terms)

    def check_sign(self, batch: Batch, terms: Csr) -> None:
        negative = np.flatnonzero(terms.values[: terms.indptr[-1]] < 0)
        if len(negative):
            row = int(np.searchsorted(terms.indptr, negative[0], side="right")) - 1
            raise DataError(f"{batch.location(row)}: --weight degree needs values of 0 or more")

    def count(self, batch: Batch) -> None:
        """Count the examples of a batch. Raises DataError for a negative value where it has no meaning."""
        meet(batch, self.plan)
        terms = self.merged(batch)
        values = terms.values if self.config.weight == "degree" else None
        slots, place = np.unique(terms.indices, return_inverse=True)
        self.counts[slots] += np.bincount(place, values, len(slots))
        self.examples += int((batch.flags & BLANK == 0).sum())

    def settle(self) -> None:
        """All examples have been counted."""
        self.waiting = False
        if self.config.weight == "idf":
            counts = np.maximum(self.counts, 1)
            frequent = self.counts >= self.config.min_df
            self.factor = np.where(frequent, np.log(max(self.examples, 1) / counts), 0).astype(np.float32)

    def terms(self, batch: Batch) -> tuple[Csr, np.ndarray | None]:
        """The terms with their final values, and of ``degree`` those of the rows, float64[rows], else None."""
        terms, degree = self.merged(batch), None
        if self.config.weight == "idf":
            weigh_terms.scale(terms.indptr, terms.indices, terms.values, self.factor)
            terms = cut_tail(terms)
        if self.config.weight == "degree":
            degree = np.zeros(len(terms))
            weigh_terms.divide_by_degree(terms.indptr, terms.indices, terms.values, self.counts, degree)
        if self.config.unit:
            weigh_terms.normalize(terms.indptr, terms.values)
        return terms, degree

    def apply(self, batch: Batch) -> tuple[Batch, Plan]:
        """The batch with its terms as features, and the plan that takes them as they are.

        With ``degree`` examples have their importance times their degree. The terms are kept for the next ranges of
        rows of the same features.
        """
        if self.kept is None or self.kept[0] is not batch.value or self.kept[1] != len(self.plan.seen):
            self.kept = batch.value, len(self.plan.seen), *self.terms(batch)
        _, _, terms, degree = self.kept
        importance = batch.importance if degree is None else (batch.importance * degree).astype(np.float32)
        return replace(batch, importance=importance, names=None, release=None, **columns_of(terms)), self.flat

    @property
    def degree(self) -> np.ndarray | None:
        """float64[rows], of the batch applied to last; None unless values are divided by it."""
        return self.kept[3] if self.kept else None

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that a model contains: counts of the slots that occur, uint32 and float64, and the number of
        examples."""
        if self.config.weight == "none":
            return {}
        slots = np.flatnonzero(self.counts)
        return dict(
            zip(ARRAYS, (slots.astype(np.uint32), self.counts[slots], np.array([self.examples], np.int64)), strict=True)
        )

    def load(self, arrays: Mapping[str, Any]) -> None:
        """Take over a model's. Raises ValueError, KeyError for arrays that are none of these."""
        if self.config.weight == "none":
            return
        slots = numbers(arrays, "term_slot", np.uint32, (-1,))
        counts = numbers(arrays, "term_count", np.float64, (len(slots),))
        examples = int(numbers(arrays, "term_examples", np.int64, (1,))[0])
        rising = (slots[1:] > slots[:-1]).all() and (not len(slots) or slots[-1] < len(self.counts))
        if not (rising and np.isfinite(counts).all() and (counts >= 0).all() and examples >= 0):
            raise ValueError("the counts of its terms")
        self.counts[slots], self.examples = counts, examples
        self.settle()


def columns_of(terms: Csr) -> dict[str, np.ndarray]:
    """The columns of a batch that has terms as features, in one namespace without a name."""
    rows = len(terms)
    return {
        "row_namespace": np.arange(rows + 1, dtype=np.uint32),
        "namespace_char": np.full(rows, ANONYMOUS, np.uint8),
        "namespace_hash": np.zeros(rows, np.uint32),
        "namespace_start": terms.indptr.astype(np.uint32),
        "feature_hash": terms.indices,
        "value": terms.values,
    }


def cut_tail(terms: Csr) -> Csr:
    """Without what the kernel left behind the last term."""
    last = int(terms.indptr[-1])
    return Csr(terms.indptr, terms.indices[:last], terms.values[:last])
