"""``PCATransformer`` and ``HashedKMeans``: components and clusters of hashed text or of wide sparse tables."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from vwlite.data.config import InputConfig
from vwlite.options import USUAL_MEMORY
from vwlite.sklearn.numeric_rows import SlotRowsEstimator
from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.model import ClusterModel
from vwlite.solvers.clusters.solver import Assignment, method_of
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.pca.solver import PcaModel, Projection
from vwlite.solvers.pca.train import NO_COMPONENTS, SubspaceIteration
from vwlite.training.listener import Monitor


@dataclass(eq=False, repr=False)
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

    n_components: int = 100
    _: KW_ONLY
    center: bool = False
    passes: int = 3
    oversample: int = 10
    scale: str = "none"

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
        solution = SubspaceIteration(config, rows, NO_COMPONENTS, USUAL_MEMORY, self._threads).run(Monitor())
        self.model_: PcaModel = PcaModel.of(config, solution, rows, InputConfig().kept)
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


@dataclass(eq=False, repr=False)
class HashedKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, SlotRowsEstimator):
    """k-means as ``vwlite cluster`` does it.

    Lloyd, IEEE Transactions on Information Theory 28 (1982); Sculley, WWW 2010; Dhillon and Modha, Machine Learning 42
    (2001). Rows are lines of Vowpal Wabbit text, dicts of name and value, a data frame, or a table of numbers, dense or
    sparse. Labels of lines are not looked at; their importance weighs.

    Parameters are those of ``SlotRowsEstimator``, and

    n_clusters : int, default=8
    spherical : bool, default=False
        Rows and means of length 1: the nearest mean is that of the largest cosine.
    batch_size : int, default=0
        Move the means after this number of rows; 0: after each pass, until nothing changes.
    max_iter : int, default=100
        Passes at most.
    n_init : int, default=1
        Starts, of which the one with the least average distance is kept.
    init : {"scalable", "random"}, default="scalable"
        First means: rows far from one another (k-means||), or any.
    trim : float, default=0.0
        Share of the rows that move no mean: those farthest from their means.
    soft : float, default=0.0
        Above 0 every row moves all means, by shares exp(-squared distance / soft).
    sparse_means : float, default=0.0
        Above 0 the absolute values of every mean sum up to so much at most.

    Attributes
    ----------
    labels_ : int32 of shape (n,), clusters of the rows fitted
    inertia_ : float, sum of their squared distances from the means, each times its importance
    cluster_centers_ : float32 of shape (n_clusters, columns)
        Of lines, dicts and frames with text: (n_clusters, slots that occur).
    slots_ : uint32 of shape (slots that occur,), ascending
    n_iter_ : int, passes made
    n_features_in_ : int, of tables
    """

    n_clusters: int = 8
    _: KW_ONLY
    spherical: bool = False
    batch_size: int = 0
    max_iter: int = 100
    n_init: int = 1
    init: str = "scalable"
    trim: float = 0.0
    soft: float = 0.0
    sparse_means: float = 0.0

    def fit(self, X: Any, y: Any = None) -> HashedKMeans:
        """Find the clusters of n rows.

        Raises ValueError, DataError for a malformed row, UsageError for wrong parameters and where there are fewer
        different rows than clusters.
        """
        rows = self._rows(X)
        config = ClusterConfig(
            clusters=self.n_clusters,
            spherical=self.spherical,
            batch=self.batch_size,
            passes=self.max_iter,
            restarts=self.n_init,
            seeding=self.init,
            trim=self.trim,
            soft=self.soft,
            sparse_means=self.sparse_means,
            seed=self._seed(),
        )
        solution = method_of(config)(config, rows, None, USUAL_MEMORY, self._threads).run(Monitor())
        self.model_: ClusterModel = ClusterModel.of(config, solution, rows, InputConfig().kept)
        self.n_iter_, self._n_features_out = solution.passes, self.n_clusters
        assignment, clusters, self.inertia_ = Assignment(self.model_), [np.zeros(0, np.int32)], 0.0
        for part in rows.parts():
            cluster, distance = assignment.nearest(part)
            clusters.append(cluster)
            self.inertia_ += float(part.weight @ distance)
        self.labels_ = np.concatenate(clusters)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """int32[n]: clusters of n rows. Raises ValueError, DataError for a malformed row."""
        check_is_fitted(self)
        assignment = Assignment(self.model_)
        parts = [assignment.nearest(part)[0] for part in self._new_rows(X).parts()]
        return np.concatenate([np.zeros(0, np.int32), *parts])

    @available_if(lambda self: self.soft > 0)
    def predict_proba(self, X: Any) -> np.ndarray:
        """float64[n, n_clusters]: the shares of n rows in the clusters, with ``soft``. Raises ValueError, DataError."""
        check_is_fitted(self)
        assignment = Assignment(self.model_)
        parts = [assignment.shares(part) for part in self._new_rows(X).parts()]
        return np.concatenate([np.zeros((0, self._n_features_out)), *parts])

    def transform(self, X: Any) -> np.ndarray:
        """float32[n, n_clusters]: distances of n rows from the means. Raises ValueError, DataError."""
        check_is_fitted(self)
        assignment = Assignment(self.model_)
        parts = [np.maximum(assignment.distances(part), 0) for part in self._new_rows(X).parts()]
        squares = np.concatenate([np.zeros((0, self._n_features_out)), *parts])
        return np.sqrt(squares).astype(np.float32)

    def score(self, X: Any, y: Any = None) -> float:
        """Less the sum of the rows' squared distances from the means. Raises ValueError, DataError."""
        check_is_fitted(self)
        assignment = Assignment(self.model_)
        return -sum(float(part.weight @ assignment.nearest(part)[1]) for part in self._new_rows(X).parts())

    @property
    def cluster_centers_(self) -> np.ndarray:
        return self._by_column(self.model_.solution.means, self.slots_)

    @property
    def slots_(self) -> np.ndarray:
        return self.model_.solution.slots

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
