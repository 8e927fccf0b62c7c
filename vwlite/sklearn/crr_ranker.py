"""``CRRRanker``: combined regression and ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from vwlite.data.config import InputConfig
from vwlite.data.tables import table_batches
from vwlite.evaluation.ranking_metrics import Ranking
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.group_columns import Queries
from vwlite.features.hashing import CONSTANT_HASH
from vwlite.learners.losses import LossConfig
from vwlite.sklearn.numeric_rows import numeric_rows
from vwlite.sklearn.validation import Columns, check_any_weight, importance, notes
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.dataset import GradedLabels, TrainingSet
from vwlite.solvers.crr.train import Descent
from vwlite.training.listener import LineMonitor

SHARED = (  # parameters that are called as the solver calls them
    "pair_loss", "truncate", "alpha", "penalty", "l1", "steps", "rate", "learning_rate", "average", "calibrate",
    "project", "sampling",
)


@dataclass(kw_only=True, eq=False, repr=False)
class CRRRanker(RegressorMixin, BaseEstimator):
    """A linear model that predicts numbers and ranks the rows of a query at once, as ``vwlite crr`` learns it.

    Minimises ``alpha`` times the mean loss of rows, ``1 - alpha`` times that of the differences of two rows of a query,
    and ``penalty / 2`` times the squared length of the weights, the constant's among them, by stochastic steps
    (Sculley, "Combined regression and ranking", KDD 2010).

    Parameters
    ----------
    loss : {"squared", "logistic", "hinge", "absolute", "modified_huber"}, default="squared"
        Logistic takes labels -1 and 1, or from 0 to 1, and predicts probabilities.
    pair_loss : str or None, default=None
        Loss of pairs, where it is another.
    pairs : {"random", "all", "lambda-ndcg", "lambda-map"}, default="random"
        A step takes a random pair; or all pairs of a random query, alike or weighted by the change of NDCG or MAP when
        the two rows change places.
    truncate : int or None, default=None
        Aim at NDCG of the first of a query.
    alpha : float or None, default=None
        Share of regression: 1 for it alone, 0 for ranking; None: 0.5, and 0 where steps take queries.
    penalty : float, default=0.001
        L2 penalty (``--lambda``); it sets the step sizes too.
    l1 : float, default=0.0
        L1 penalty, which makes most weights 0.
    steps : int or None, default=None
        Random rows, pairs or queries to learn from; None: 1000000, and 30 for each query where steps take queries.
    rate : {"inverse", "invsqrt", "constant", "adaptive"} or None, default=None
        Step sizes: ``1 / (penalty i)``, ``learning_rate / sqrt(i)``, ``learning_rate``, or that divided by the root of
        a weight's sum of squared gradients; None: ``inverse``, and ``adaptive`` where steps take queries.
    learning_rate : float or None, default=None
        Of the latter three; None: 0.02, and 0.1 of ``adaptive``.
    average : bool or None, default=None
        Predict with the mean of the weights after the last half of the steps; None: where steps take queries.
    calibrate : bool, default=False
        At the end give scores the scale and offset at which they predict labels best.
    project : bool, default=False
        Keep the weights in the ball of radius ``1 / sqrt(penalty)``.
    sampling : {"pairs", "query"} or None, default=None
        All pairs are as likely; or all queries, and all pairs of a query. None: ``query``, and ``pairs`` where a step
        takes all pairs of a query.
    random_state : int, RandomState or None, default=0
        Of the draws.
    verbose : int, default=0
        Above 0 the course of ``fit`` is noted in the logger ``vwlite``.

    Attributes
    ----------
    coef_ : float32 of shape (n_features,)
    intercept_ : float
    n_queries_, n_pairs_ : int, how many there were
    """

    loss: str = "squared"
    pair_loss: str | None = None
    pairs: str = "random"
    truncate: int | None = None
    alpha: float | None = None
    penalty: float = 0.001
    l1: float = 0.0
    steps: int | None = None
    rate: str | None = None
    learning_rate: float | None = None
    average: bool | None = None
    calibrate: bool = False
    project: bool = False
    sampling: str | None = None
    random_state: Any = 0
    verbose: int = 0

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> CRRRanker:
        """Learn from X, n rows, dense or sparse, and y, n numbers; ``qid``, n of any kind, says which query each row is
        of. Without it all rows are one query. Raises ValueError, DataError where no query has two different labels.
        """
        X, y = numeric_rows(self, X, y, y_numeric=True, ensure_min_samples=2)
        weight = importance(sample_weight, X)
        check_any_weight(weight)
        config = self._config()
        columns = Columns(self.n_features_in_)
        features = FeatureConfig(bits=columns.fewest_bits(0))
        plan, labels = Plan(features), GradedLabels(config.loss)
        data = TrainingSet(labels, Queries(config.queries, features), features, plan, InputConfig())
        numbers = query_numbers(qid, X)
        format = text_format(features, skip_malformed=True)
        for batch in table_batches(X, y.astype(np.float32), weight=weight.astype(np.float32), text_format=format):
            batch.label = labels.check(batch)
            end = batch.first_line + len(batch)
            data.add(batch, numbers[batch.first_line : end], batch.importance)
        descent = Descent(config, data)
        descent.run(LineMonitor(notes(self.verbose)))
        facts, table = descent.facts, descent.learner.weights[:, 0]
        self.coef_, self.intercept_ = table[: self.n_features_in_].copy(), float(table[CONSTANT_HASH % len(table)])
        self.n_queries_, self.n_pairs_ = facts["queries"], facts["pairs"]
        return self

    def _config(self) -> CrrConfig:
        return CrrConfig(
            loss=LossConfig(self.loss),
            pairing=self.pairs,
            queries=QueryConfig("none"),
            seed=int(check_random_state(self.random_state).randint(2**31)),
            **{name: getattr(self, name) for name in SHARED},
        )

    def predict(self, X: Any) -> np.ndarray:
        """float64[n]; with logistic loss probabilities of the upper label."""
        check_is_fitted(self)
        X = numeric_rows(self, X, reset=False)
        scores: np.ndarray = safe_sparse_dot(X.astype(np.float64), self.coef_.astype(np.float64)) + self.intercept_
        return expit(scores) if self.loss == "logistic" else scores

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """Mean NDCG of the queries, as LETOR 4.0 defines it; without ``qid`` R squared."""
        if qid is None:
            return float(super().score(X, y, sample_weight))
        predicted = self.predict(X)
        weight = importance(sample_weight, X)
        columns = (query_numbers(qid, X), np.asarray(y, np.float32), predicted.astype(np.float32), weight)
        return Ranking(*columns).measure("ndcg")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def query_numbers(qid: Any, X: Any) -> np.ndarray:
    """uint64[n]: equal numbers, equal queries. Raises ValueError."""
    if qid is None:
        return np.zeros(X.shape[0], np.uint64)
    queries = check_array(qid, ensure_2d=False, dtype=None, input_name="qid")
    if queries.ndim != 1:
        raise ValueError(f"qid has {queries.ndim} dimensions, not 1")
    check_consistent_length(X, queries)
    return np.unique(queries, return_inverse=True)[1].astype(np.uint64)
