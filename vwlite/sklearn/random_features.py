"""``RandomFeatures`` and ``Landmarks``: columns whose dot products are about those of a kernel, for any estimator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from vwlite.data.batch import Batch, joined
from vwlite.data.tables import table_batches
from vwlite.data.text_format import TextFormat
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.gamma import find_gamma
from vwlite.features.landmarks import LandmarkMap, chosen_rows
from vwlite.features.term_weights import terms_of
from vwlite.sklearn.numeric_rows import numeric_rows
from vwlite.sklearn.validation import FEWEST


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
