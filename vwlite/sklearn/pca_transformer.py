"""``PCATransformer``: principal components of hashed text, or of wide sparse tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from vwlite.data.config import InputConfig
from vwlite.memory_limit import USUAL
from vwlite.sklearn.slot_rows import SlotRowsEstimator
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.pca.project import Projection
from vwlite.solvers.pca.solver import PcaModel
from vwlite.solvers.pca.train import NO_COMPONENTS, SubspaceIteration
from vwlite.training.monitor import Monitor


class PCATransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SlotRowsEstimator):
    """Principal components as ``vwlite pca`` finds them, and the coordinates of rows as ``vwlite project`` writes them.

    Halko, Martinsson and Tropp, SIAM Review 53, 2011. Rows are lines of Vowpal Wabbit text, dicts of name and value, a
    data frame, or a table of numbers, dense or sparse. Labels of lines are not looked at; their importance weighs.

    Parameters are those of ``SlotRowsEstimator``, and

    n_components : int, default=100
    center : bool, default=False
        Subtract the mean of the rows; sparse rows stay sparse.
    passes : int, default=3
        Over the rows; more are more exact.
    oversample : int, default=10
        Columns beside the components that make these more exact.
    scale : {"none", "left"}, default="none"
        "left" divides coordinates by the singular values.

    Attributes
    ----------
    components_ : float32 of shape (n_components, columns)
        Of lines, dicts and frames with text: (n_components, slots that occur).
    slots_ : uint32 of shape (slots that occur,), ascending
    singular_values_ : float64 of shape (n_components,)
    explained_variance_ratio_ : float64 of shape (n_components,)
        Shares of the rows' squares, with ``center`` of their variance.
    n_features_in_ : int, of tables
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        center: bool = False,
        passes: int = 3,
        oversample: int = 10,
        scale: str = "none",
        bits: int | None = None,
        value: str = "raw",
        weight: str = "none",
        min_df: int = 3,
        unit: bool = False,
        namespaces: Mapping[str, Sequence[str]] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.passes = passes
        self.oversample = oversample
        self.scale = scale
        self.bits = bits
        self.value = value
        self.weight = weight
        self.min_df = min_df
        self.unit = unit
        self.namespaces = namespaces
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> PCATransformer:
        """Find the components of n rows.

        Raises ValueError, DataError for a malformed row, UsageError for wrong parameters and where there are fewer rows
        or slots than components.
        """
        if self.scale not in ("none", "left"):
            raise ValueError(f"scale is 'none' or 'left', not {self.scale!r}")
        rows = self._rows(X)
        config = PcaConfig(
            dim=self.n_components, center=self.center, passes=self.passes, oversample=self.oversample, seed=self._seed()
        )
        found = SubspaceIteration(config, rows, NO_COMPONENTS, USUAL, self._threads).run(Monitor())
        self.model_: PcaModel = PcaModel.of(config, found, rows, InputConfig().kept)
        self._n_features_out = self.n_components
        return self

    def transform(self, X: Any) -> np.ndarray:
        """float32[n, n_components]: coordinates of n rows. Raises ValueError, DataError for a malformed row."""
        check_is_fitted(self)
        projection = Projection(self.model_, self.scale == "left")
        parts = [projection.of(part).astype(np.float32) for part in self._new_rows(X).parts()]
        return np.concatenate([np.zeros((0, self._n_features_out), np.float32), *parts])

    @property
    def components_(self) -> np.ndarray:
        return self._by_column(self.model_.solution.vectors[:, : self._n_features_out], self.slots_)

    @property
    def slots_(self) -> np.ndarray:
        return self.model_.solution.slots

    @property
    def singular_values_(self) -> np.ndarray:
        return self.model_.solution.values[: self._n_features_out]

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        spread = self.model_.solution.spread(self.model_.config.center)
        return self.singular_values_**2 / spread if spread > 0 else np.zeros(self._n_features_out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
