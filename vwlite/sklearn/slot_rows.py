"""What estimators have in common that take examples as rows of hashed slots."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from vwlite.data.config import available_cores
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.gamma import owned
from vwlite.sklearn.columns import FEWEST
from vwlite.sklearn.numeric_rows import EitherRows
from vwlite.solvers.rows import MemoryRows, Rows


class Made(Protocol):
    """A model that was made from such rows."""

    features: FeatureConfig
    seen: list[int]
    arrays: dict[str, Any]


class SlotRowsEstimator(EitherRows):
    """Parameters that these estimators share:

    bits : int or None, default=None
        There are ``2 ** bits`` slots; by default 18 bits, or as many as keep a table's columns apart.
    value : {"raw", "log", "binary"}, default="raw"
        Values as they are, 1 + ln of what is beyond 1, or 1.
    weight : {"none", "idf", "degree"}, default="none"
        Times ln(rows / rows with the feature), where at least ``min_df`` rows have it; or over a row's degree.
    min_df : int, default=3
    unit : bool, default=False
        Scale rows to length 1.
    namespaces : dict or None, default=None
        Of data frames: ``{"user": ["age", "city"]}``, the columns in each namespace.
    random_state : int, RandomState or None, default=0
        Of the start.
    n_jobs : int or None, default=None
        Threads, -1 for all cores; the result does not depend on it.
    """

    bits: int | None
    value: str
    weight: str
    min_df: int
    unit: bool
    random_state: Any
    n_jobs: int | None
    model_: Any  # a Made

    def _text_format(self) -> TextFormat:
        return text_format(FeatureConfig(noconstant=True), skip_malformed=True).of_words(lists=True)

    def _rows(self, X: Any) -> Rows:
        """The rows to fit. Raises ValueError, DataError, UsageError."""
        batches = [*map(owned, self._batches(X, reset=True))]
        features = FeatureConfig(
            noconstant=True, bits=self._bits(), value=self.value, weight=self.weight, min_df=self.min_df, unit=self.unit
        )
        return MemoryRows(features, batches, [])

    def _new_rows(self, X: Any) -> Rows:
        """Rows as the model takes those that it was not fitted to. Raises ValueError, DataError."""
        model: Made = self.model_
        rows = MemoryRows(model.features, [*map(owned, self._batches(X))], model.seen)
        rows.plan.load(model.arrays)
        return rows

    def _bits(self) -> int:
        """Raises UsageError where columns of a table would share slots."""
        columns = self.n_features_in_ if self._kind == "table" else 0
        fewest = max(FEWEST, (columns - 1).bit_length())
        if self.bits is not None and columns > 2**self.bits:
            shared = f"bits={self.bits} would have {columns} columns share slots"
            raise UsageError(f"{shared}: bits={fewest} keeps them apart")
        return fewest if self.bits is None else self.bits

    @property
    def _threads(self) -> int:
        return available_cores() if self.n_jobs == -1 else self.n_jobs or 1

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31))

    def _by_column(self, vectors: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """float32[k, columns]: vectors float32[slots, k], of a table by its columns, else by ``slots_``."""
        if self._kind != "table":
            return np.ascontiguousarray(vectors.T)
        table = np.zeros((vectors.shape[1], self.n_features_in_), np.float32)
        table[:, slots] = vectors.T
        return table
