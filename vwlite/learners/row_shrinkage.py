"""The price of the lengths of rows, a row for each feature; see ``cython_ext/learners/row_shrinkage.pxd``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite.storage.weight_table import Table, values_of, zeros

COLUMNS = ("penalty", "reached", "reached_low")


class RowShrinkage:
    """``rows`` float32[rows, 3]: the penalty of each, and ``total`` when that was reached, as the sum of two numbers.

    ``total`` float64[1] is the sum of ``price`` times step sizes over all examples learned.
    """

    def __init__(self, rows: int, price: float) -> None:
        self.price, self.total, self.rows = price, np.zeros(1), zeros(rows, len(COLUMNS))

    def tables(self) -> dict[str, Table]:
        return {"shrinkage": Table(self.rows, COLUMNS)}

    def header(self) -> dict[str, float]:
        return {"penalty": float(self.total[0])}

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float]) -> None:
        """Take over what ``tables`` and ``header`` gave. Raises ValueError for other shapes and numbers, KeyError."""
        rows, total = values_of(arrays, "shrinkage"), float(scalars["penalty"])
        if rows.shape != self.rows.shape:
            raise ValueError(f"a table of shape {rows.shape} for {len(self.rows)} rows")
        if not 0 <= total < np.inf:
            raise ValueError(f"a penalty of {total}")
        self.rows, self.total[0] = rows, total
