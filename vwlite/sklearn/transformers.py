"""Transformers for any estimator: ``TextHasher``, hashed columns of Vowpal Wabbit text; ``RandomFeatures`` and
``Landmarks``, columns whose dot products are about those of a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from vwlite.data.batch import Batch, join_rows
from vwlite.data.tables import table_batches
from vwlite.data.text_format import TextFormat
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, new_namespaces, text_format
from vwlite.features.gamma import find_gamma
from vwlite.features.landmarks import LandmarkMap, chosen_rows
from vwlite.features.term_weights import terms_of
from vwlite.sklearn.numeric_rows import numeric_rows, row_batches
from vwlite.sklearn.validation import FEWEST


@dataclass(eq=False, repr=False)
class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turns rows of numbers into features whose dot products are about those of a kernel."""

    kernel: str = "rbf"
    _: KW_ONLY
    n_components: int
    gamma: float | None = None
    random_state: Any = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class RandomFeatures(KernelFeatures):
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
        Columns of a number of ``fold`` or more are hashed into this number of buckets; a power of two.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    gamma_ : float or None
        None for kernels that have none.
    n_features_in_ : int
    """

    n_components: int = 1024
    fold: int = 1024

    def fit(self, X: Any, y: Any = None) -> RandomFeatures:
        """Find ``gamma`` for n rows, dense or sparse. Raises ValueError, and UsageError for wrong parameters."""
        X = numeric_rows(self, X)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        config = self._config(self.gamma)
        self.gamma_, self._n_features_out = find_gamma(Plan(config), batches(X)), config.random_size
        return self

    def transform(self, X: Any) -> np.ndarray:
        """float32[n, n_components] of n rows, dense or sparse. Raises ValueError."""
        check_is_fitted(self)
        X = numeric_rows(self, X, reset=False)
        plan = Plan(self._config(self.gamma_))
        parts = [terms_of(batch, plan).values for batch in batches(X)]
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


@dataclass(kw_only=True, eq=False, repr=False)
class Landmarks(KernelFeatures):
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
        With N: 1 for the N landmarks with the largest kernels, 0 for all others; 0: the kernels themselves.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    gamma_ : float or None
        None for kernels that have none.
    n_features_in_ : int
    """

    n_components: int = 256
    whiten: bool = True
    nearest: int = 0

    def fit(self, X: Any, y: Any = None) -> Landmarks:
        """Choose among n rows, dense or sparse. Raises ValueError, UsageError for wrong parameters, DataError."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32)
        if self.n_components < 1:
            raise ValueError(f"n_components is 1 or more, not {self.n_components}")
        seed = int(check_random_state(self.random_state).randint(2**31))
        chosen = X[chosen_rows(X.shape[0], self.n_components, seed)]
        config = self._config()
        linear, landmarks = Plan(FeatureConfig(noconstant=True, bits=config.bits)), LandmarkMap(config)
        landmarks.set_rows(join_rows([terms_of(batch, linear) for batch in batches(chosen)]))
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


def batches(X: Any) -> Iterable[Batch]:
    return table_batches(X, text_format=text_format(FeatureConfig(), skip_malformed=True))


@dataclass(kw_only=True, eq=False, repr=False)
class TextHasher(TransformerMixin, BaseEstimator):
    """Turns lines of Vowpal Wabbit text, dicts or data frames into sparse rows of ``2 ** bits`` hashed columns.

    A feature's column is the slot that ``vwlite train`` has for it, n-grams and crossed namespaces included; the
    constant is left out. Labels, importance and tags of the lines are not used, whatever they are. Nothing is learned:
    ``fit`` only checks the parameters.

    Parameters
    ----------
    bits : int, default=18
        There are ``2 ** bits`` columns.
    hash : {"strings", "all"}, default="strings"
        With "strings" a name of digits is its own number; with "all" every name is hashed.
    hash_seed : int, default=0
        Seed of the hash.
    quadratic, cubic, interactions : sequences of str, default=()
        Namespaces to cross, by letters ("ui") or by names ("user,item").
    ignore, keep : sequences of str, default=()
        Drop the namespaces that begin with these letters, or all others.
    ngram, skips, feature_limit : sequences of str, default=()
        As the options of ``vwlite train`` of these names: "2" or, for namespace a, "a2".
    affix : str, default=""
        Prefixes and suffixes of names to add, like "+2a,-3b".
    spelling : sequence of str, default=()
        Namespaces whose names' spelling classes are added.
    namespaces : dict or None, default=None
        Of data frames: ``{"user": ["age", "city"]}``, the columns in each namespace; others are anonymous.
    """

    bits: int = 18
    hash: str = "strings"
    hash_seed: int = 0
    quadratic: Sequence[str] = ()
    cubic: Sequence[str] = ()
    interactions: Sequence[str] = ()
    ignore: Sequence[str] = ()
    keep: Sequence[str] = ()
    ngram: Sequence[str] = ()
    skips: Sequence[str] = ()
    feature_limit: Sequence[str] = ()
    affix: str = ""
    spelling: Sequence[str] = ()
    namespaces: Mapping[str, Sequence[str]] | None = None

    def fit(self, X: Any = None, y: Any = None) -> TextHasher:
        """Check the parameters. Raises UsageError."""
        self._plan_and_format()
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Rows of ``X``: n lines; n dicts of name and value, a number, a text, a list of words, or a dict, which is a
        namespace; or a data frame (extra ``arrow``), whose columns are numbers, texts or lists of words.

        CSR of float32, n rows; a column that a row has twice counts the sum. Raises DataError for a malformed row,
        naming row and column from 0; UsageError for wrong parameters.
        """
        plan, format = self._plan_and_format()
        parts = []
        for batch in row_batches(X, format, namespaces=self.namespaces):
            if plan.wild:
                for characters in new_namespaces(batch, plan).values():
                    plan.see(characters)
            parts.append(terms_of(batch, plan))
            if batch.release:
                batch.release()
        terms = join_rows(parts)
        index = np.int32 if self.bits < 32 and terms.indptr[-1] < 2**31 else np.int64
        entries = (terms.values, terms.indices.astype(index), terms.indptr.astype(index))
        table = csr_matrix(entries, shape=(len(terms), 1 << self.bits))
        table.sum_duplicates()
        return table

    def _plan_and_format(self) -> tuple[Plan, TextFormat]:
        """Raises UsageError for what the options of these names do not take."""
        lists = ("quadratic", "cubic", "interactions", "ignore", "keep", "ngram", "skips", "feature_limit", "spelling")
        given: dict[str, Any] = {name: tuple(getattr(self, name)) for name in lists}
        single = {name: getattr(self, name) for name in ("bits", "hash", "hash_seed", "affix")}
        features = FeatureConfig(noconstant=True, **given, **single)
        return Plan(features), text_format(features, skip_malformed=True).of_words(lists=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        tags.requires_fit = False
        return tags
