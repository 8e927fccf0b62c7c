"""``DyadicRegressor`` and ``DyadicClassifier``: ratings, clicks and classes of pairs of users and items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from vwlite.api.model import Model
from vwlite.errors import UsageError
from vwlite.features.hashing import hash_name
from vwlite.options import not_one_of
from vwlite.sklearn.base import LossEstimator
from vwlite.sklearn.linear import MULTICLASS
from vwlite.sklearn.sides import SIDES, Sides, is_pair
from vwlite.sklearn.validation import Columns, LabelledClasses, importance

OPTIONS = (
    "rank", "learning_rate", "decay_learning_rate", "power_t", "initial_t", "dot_l2", "dot_init", "dot_init_kind",
    "dot_offset", "no_dot_linear", "dot_rates",
)  # of ``vwlite train --dotproduct``, by name
LETTERS = "ui"  # of user and item


@dataclass(kw_only=True, eq=False, repr=False)
class DyadicEstimator(LossEstimator):
    """The dot product of a latent vector of the user and one of the item, and linear weights of both.

    Rows are an array of two columns, the ids of users and items, numbers or texts; a data frame with the columns
    ``user`` and ``item``, which are ids, and others, which are numbers, texts or lists of texts; or a pair of tables,
    users' and items', a row of each for a row. An id, text or word that ``fit`` did not meet counts as none.

    Parameters
    ----------
    loss : str or None, default=None
        A loss of ``vwlite train`` that ``--dotproduct`` takes; None: squared, of classes logistic.
    rank : int, default=10
        Length of the latent vectors.
    learning_rate : float or None, default=None
        None: by the loss, as ``vwlite train`` has it.
    decay_learning_rate : float or None, default=None
        By this the rate is multiplied after each pass; None: 0.75, of ``dot_rates`` adaptive 1.
    power_t, initial_t : float, default=0.0, 1.0
        The rate also falls as ``(initial_t / (initial_t + t))**power_t``, t the weight learned so far.
    dot_l2 : float or None, default=None
        L2 decay of the latent vectors; None: by the loss.
    dot_init, dot_init_kind : float or None, {"uniform", "normal"}, default=None, "uniform"
        Scale and distribution of their start values; None: ``0.1 / sqrt(rank)``.
    dot_offset : float, default=0.0
        Is added to every element of both vectors.
    no_dot_linear : bool, default=False
        No linear weights of users and items.
    dot_rates : {"global", "adaptive"} or None, default=None
        One learning rate for all, or one for each vector and linear weight; None: global, of softmax adaptive.
    passes : int, default=10
        Over the rows.
    shuffle, random_state : bool, int or RandomState, default=True, 0
        Rows in random order, in the first pass too; start values are random as well.
    bits : int or None, default=None
        Slots of the table, as a power of 2; None: the fewest, from 18, at which no two columns share one.
    namespaces : dict or None, default=None
        Columns of a frame that belong to the user and to the item, ``{"user": ["age"], "item": ["genres"]}``: they have
        latent vectors too, which are added. All others have linear weights only.
    early_stopping, validation_fraction, n_iter_no_change : bool, float, int, default=False, 0.1, 3
        Hold rows out, and stop after ``n_iter_no_change`` passes without gain.
    warm_start : bool, default=False
        ``fit`` goes on from the model it has, whose ids stay the same.
    verbose : int, default=0
        Above 0 every pass is a note of the logger ``vwlite``.
    """

    rank: int = 10
    learning_rate: float | None = None
    decay_learning_rate: float | None = None
    power_t: float = 0.0
    initial_t: float = 1.0
    dot_l2: float | None = None
    dot_init: float | None = None
    dot_init_kind: str = "uniform"
    dot_offset: float = 0.0
    no_dot_linear: bool = False
    dot_rates: str | None = None
    namespaces: Mapping[str, Sequence[str]] | None = None

    @property
    def _goes_on(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "model_")

    def _checked(self, X: Any, y: Any, **checks: Any) -> tuple[dict[str, Any], np.ndarray]:
        """A table for each namespace, and the labels. Raises ValueError."""
        y = validate_data(self, X="no_validation", y=y, **checks)
        if not self._goes_on:
            self._sides = Sides(X, self.namespaces)
        tables = self._tables(X, reset=not self._goes_on)
        check_consistent_length(tables["user"], y)
        return tables, y

    def _new_model(self, seed: int, learner: Mapping[str, Any]) -> Model:
        widths, members, begin = self._sides.widths, {}, 0
        for space, width in widths.items():
            members[space], begin = range(begin, begin + width), begin + width
        columns = Columns(begin, {side: members[side] for side in SIDES})
        given = {name: getattr(self, name) for name in OPTIONS}
        given |= {"dotproduct": [LETTERS], "bits": columns.bits(self.bits, self._shift), "random_seed": seed}
        if "multiclass" in learner and not self.dot_offset:  # which such models do not have
            del given["dot_offset"]
        return Model(**given, **self._holding_out(), **learner)

    @property
    def _shift(self) -> int:
        """A feature has ``2**_shift`` slots."""
        return 0

    def _tables(self, X: Any, reset: bool = False) -> dict[str, Any]:
        if not is_pair(X):
            validate_data(self, X, skip_check_array=True, reset=reset)
        return self._sides.tables(X)

    def _answers(self, X: Any, **how: Any) -> Any:
        check_is_fitted(self)
        return self.model_.predict(self._tables(X), **how)

    @property
    def ids_(self) -> dict[str, np.ndarray]:
        """The ids of users and items, ascending, by side; none of tables."""
        return self._sides.ids

    @property
    def factors_(self) -> dict[str, np.ndarray]:
        """float32[n, rank] by side: the latent vectors of its ids, in the order of ``ids_``, or of a table's columns.

        Those of which nothing was learned are 0.
        """
        check_is_fitted(self)
        return {side: self._vectors(side) for side in SIDES}

    def _vectors(self, side: str) -> np.ndarray:
        learned = self.model_.factors(side[0])
        vectors = learned["vector"]
        table = np.zeros((self._sides.widths[side], vectors.shape[1]), np.float32)
        table[(learned["slot"].astype(np.int64) - hash_name(side.encode(), 0)) % 2**self.model_.bits] = vectors
        return table[: len(self.ids_[side])] if side in self.ids_ else table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


class DyadicRegressor(RegressorMixin, DyadicEstimator):
    """Numbers, such as ratings, of pairs of user and item. Parameters are those of ``DyadicEstimator``."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DyadicRegressor:
        """Learn from X, n pairs of user and item, and y, n numbers. Raises ValueError."""
        fresh = not self._goes_on
        tables, y = self._checked(X, y, y_numeric=True)
        weight = importance(sample_weight, tables["user"])
        self._learn(tables, y, weight, {"loss_function": self.loss or "squared"}, fresh=fresh)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """float32[n]: what the loss estimates, between the labels that were learned."""
        predictions: np.ndarray = self._answers(X)
        return predictions


def gives_probabilities(estimator: DyadicClassifier) -> bool:
    return estimator.loss in (None, "logistic")


@dataclass(kw_only=True, eq=False, repr=False)
class DyadicClassifier(LabelledClasses, DyadicEstimator):
    """Classes, such as clicks, of pairs of user and item.

    Parameters are those of ``DyadicEstimator``, and

    multiclass : {"oaa", "softmax"}, default="oaa"
        How more than two classes are learned: each against the others, or all at once, with vectors for each (``loss``
        None, no ``dot_offset``).
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied.
    """

    multiclass: str = "oaa"

    @property
    def _softmax(self) -> bool:
        """Whether there are more than two classes, which are learned all at once."""
        return self.multiclass == "softmax" and not self._binary

    @property
    def _shift(self) -> int:
        return (len(self.classes_) - 1).bit_length() if self._softmax else 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DyadicClassifier:
        """Learn from X, n pairs of user and item, and y, n labels of any kind. Raises ValueError."""
        fresh = not self._goes_on
        tables, y = self._checked(X, y)
        check_classification_targets(y)
        weight = importance(sample_weight, tables["user"])
        if fresh:
            self._take_classes(y)
        numbers = self._numbers(y)
        labels = 2 * numbers - 1 if self._binary else numbers + 1
        self._learn(tables, labels, self._weighted(y, numbers, weight), self._learner(), fresh=fresh)
        return self

    def _learner(self) -> dict[str, Any]:
        if self.multiclass not in MULTICLASS:
            raise UsageError(f"multiclass: {not_one_of(self.multiclass, MULTICLASS)}")
        if self._softmax:
            loss = {"loss_function": self.loss} if self.loss else {}
            return {"multiclass": len(self.classes_), "indexing": 1, **loss}
        of_classes = {} if self._binary else {"oaa": len(self.classes_), "indexing": 1}
        return {"loss_function": self.loss or "logistic", **of_classes}

    @property
    def factors_(self) -> dict[str, np.ndarray]:
        """As of ``DyadicRegressor``, of two classes. Raises AttributeError of more, each of which has its own."""
        check_is_fitted(self)
        if not self._binary:
            raise AttributeError("each of more than two classes has factors of its own, which are not shown")
        return super().factors_

    def decision_function(self, X: Any) -> np.ndarray:
        """float32[n], positive for ``classes_[1]``, or of more than two classes float32[n, k]."""
        scores: np.ndarray = self._answers(X, raw=True)
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels with the highest score."""
        return self._labels_by(self.decision_function(X))

    @available_if(gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """float64[n, k]: probabilities by the logistic function or softmax; one against all, made to sum to 1."""
        scores = self.decision_function(X).astype(np.float64)
        return np.asarray(softmax(scores, axis=1)) if self._softmax else self._shares(scores)
