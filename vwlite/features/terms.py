"""The terms of all rows of a batch at once."""

from __future__ import annotations

import numpy as np

from vwlite._native.to_csr import flatten
from vwlite.data.batch import Batch
from vwlite.data.csr import Csr
from vwlite.data.text_format import FULL
from vwlite.features.feature_plan import Plan, new_namespaces
from vwlite.features.row_terms import too_many
from vwlite.interrupts import obey

TOO_MANY, STOPPED = 103, 104  # of base/status.pxd


def terms_of(batch: Batch, plan: Plan) -> Csr:
    """A row for each line. Raises DataError for a line that makes too many, Interrupted, MemoryError."""
    indptr, capacity = np.zeros(len(batch) + 1, np.int64), 2 * len(batch.feature_hash) + len(batch)
    while True:
        indices, values = np.empty(capacity, np.uint32), np.empty(capacity, np.float32)
        status, terms = flatten(batch, plan, indptr, indices, values)
        if status == STOPPED:
            obey()
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
