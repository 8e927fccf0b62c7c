"""The terms of single rows, for code outside the learners, and the error for rows with too many terms."""

from vwlite._native.expand import expand_row
from vwlite.data.batch import Batch
from vwlite.errors import DataError
from vwlite.features.feature_plan import Plan

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
