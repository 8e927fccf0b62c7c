"""``Landmarks``: the kernels of rows with some of the rows fitted, for any estimator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from vwlite.data.batch import Batch
from vwlite.data.csr import joined
from vwlite.data.tables import table_batches
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.landmarks import LandmarkMap, chosen_rows
from vwlite.features.term_weights import terms_of
from vwlite.sklearn.columns import FEWEST


class Landmarks(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turns rows of numbers into their kernels with landmarks, as ``vwlite train --landmarks`` does.

    Landmarks are some of the rows fitted; with ``whiten`` dot products of features are Nystrom's approximation of the
    kernel (Williams and Seeger, NIPS 2000).

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly2", "poly3", "cosine"}, default="rbf"
        "poly2" and "poly3" are (1 + x.y)^2 and (1 + x.y)^3.
    n_components : int, default=256
        Rows taken, each as likely as any other; all where there are fewer. Rows of zeros are none.
    gamma : float or None, default=None
        Of "rbf", exp(-gamma |x - y|^2). By default 1 / the median over 1,000 pairs of the landmarks.
    whiten : bool, default=True
        Features are uncorrelated over the landmarks, the strongest first.
    nearest : int, default=0
        1 for so many landmarks with the largest kernels, 0 for all others; 0: the kernels.
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
        n_components: int = 256,
        gamma: float | None = None,
        whiten: bool = True,
        nearest: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.gamma = gamma
        self.whiten = whiten
        self.nearest = nearest
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Landmarks:
        """Choose among n rows, dense or sparse. Raises ValueError, UsageError for wrong parameters, DataError."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32)
        if self.n_components < 1:
            raise ValueError(f"n_components is 1 or more, not {self.n_components}")
        seed = int(check_random_state(self.random_state).randint(2**31))
        chosen = X[chosen_rows(X.shape[0], self.n_components, seed)]
        config = self._config()
        linear, landmarks = Plan(FeatureConfig(noconstant=True, bits=config.bits)), LandmarkMap(config)
        landmarks.set_rows(joined([terms_of(batch, linear) for batch in batches(chosen)]))
        self._arrays, self.gamma_, self._n_features_out = landmarks.arrays(), landmarks.gamma, landmarks.size
        return self

    def transform(self, X: Any) -> np.ndarray:
        """float32[n, landmarks] of n rows, dense or sparse. Raises ValueError."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=False)
        plan = Plan(self._config())
        plan.load(self._arrays)
        parts = [terms_of(batch, plan).values for batch in batches(X)]
        return np.concatenate(parts).reshape(-1, self._n_features_out)

    def _config(self) -> FeatureConfig:
        columns, rows = self.n_features_in_ - 1, int(self.n_components)
        return FeatureConfig(
            landmarks=f"{self.kernel}:the rows fitted",
            gamma=self.gamma,
            whiten=self.whiten,
            nearest=self.nearest,
            random_only=True,
            noconstant=True,
            bits=max(FEWEST, columns.bit_length(), rows.bit_length()),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def batches(X: Any) -> Iterable[Batch]:
    return table_batches(X, text_format=text_format(FeatureConfig(), skip_malformed=True))
