"""``RandomFeatures``: columns whose dot products are about those of a kernel, for any estimator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vwlite.data.batch import Batch
from vwlite.data.tables import table_batches
from vwlite.data.text_format import TextFormat
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.gamma import find_gamma
from vwlite.features.term_weights import terms_of
from vwlite.sklearn.columns import FEWEST
from vwlite.sklearn.numeric_rows import numeric_rows


class RandomFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turns rows of numbers into random features of a kernel, as ``vwlite train --random_features`` does.

    Rahimi and Recht, NIPS 2007; Yu et al., NIPS 2016; Pham and Pagh, KDD 2013; Cho and Saul, NIPS 2009. Nothing is
    learned but ``gamma``, where it is not given.

    Parameters
    ----------
    kernel : {"rbf", "laplace", "poly2", "poly3", "arccos"}, default="rbf"
    n_components : int, default=1024
        Number of features, rounded up to a multiple of 64. The mean error of a dot product is below
        1.1 / sqrt(n_components) for rows of length 1.
    gamma : float or None, default=None
        Of "rbf", exp(-gamma |x - y|^2), and "laplace", the same of the sum of absolute differences. By default 1 / the
        median over 1,000 pairs of the first 2,000 rows.
    fold : int, default=1024
        Columns of a number of ``fold`` or more are added up in so many buckets by hash; a power of two.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    gamma_ : float or None
        None for kernels that have none.
    n_features_in_ : int
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        n_components: int = 1024,
        gamma: float | None = None,
        fold: int = 1024,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.gamma = gamma
        self.fold = fold
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RandomFeatures:
        """Find ``gamma`` for n rows, dense or sparse. Raises ValueError, and UsageError for wrong parameters."""
        X = numeric_rows(self, X)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        config = self._config(self.gamma)
        self.gamma_, self._n_features_out = find_gamma(Plan(config), self._batches(X)), config.random_size
        return self

    def transform(self, X: Any) -> np.ndarray:
        """float32[n, n_components] of n rows, dense or sparse. Raises ValueError."""
        check_is_fitted(self)
        X = numeric_rows(self, X, reset=False)
        plan = Plan(self._config(self.gamma_))
        parts = [terms_of(batch, plan).values for batch in self._batches(X)]
        return np.concatenate(parts).reshape(-1, self._n_features_out)

    def _config(self, gamma: float | None) -> FeatureConfig:
        return FeatureConfig(
            random_features=f"{self.kernel}:{self.n_components}",
            gamma=gamma,
            fold=self.fold,
            random_only=True,
            noconstant=True,
            hash_seed=self._seed,
            bits=max(FEWEST, (self.n_features_in_ - 1).bit_length(), int(self.n_components).bit_length()),
        )

    def _batches(self, X: Any) -> Iterable[Batch]:
        format: TextFormat = text_format(FeatureConfig(), skip_malformed=True)
        return table_batches(X, text_format=format)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
