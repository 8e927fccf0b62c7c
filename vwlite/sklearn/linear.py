"""``VWRegressor`` and ``VWClassifier``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from vwlite.api.model import Model
from vwlite.errors import UsageError
from vwlite.learners.losses import LOSSES, OF_CLASSES
from vwlite.options import not_one_of
from vwlite.sklearn.base import LinearEstimator, LossEstimator, learns_in_parts
from vwlite.sklearn.validation import LabelledClasses, importance

QUANTILE = 0.5  # unless another one is asked for
MEANS = "means"  # of several outputs, among what a new model is made of


def has_spread(loss: str) -> bool:
    """Whether a loss takes labels in units of their spread; of one that is none it does not matter."""
    return loss in LOSSES and bool(LOSSES[loss].label_spread)


@dataclass(kw_only=True, eq=False, repr=False)
class VWRegressor(RegressorMixin, LossEstimator, LinearEstimator):
    """A linear model of numbers, by any loss of ``vwlite train``; ``loss`` None is squared error.

    Several numbers for each row, y of the shape (n, K), are learned as ``--outputs K``, but for the solver coin;
    later passes then have the order of the first.

    Parameters are those of ``LossEstimator`` and ``LinearEstimator``, and

    quantile : float in (0, 1), default=0.5
        Which one the loss "quantile" estimates.
    centre : bool, default=True
        With solvers gd and bfgs the constant's weight starts at the weighted mean of y, as of the first call, unless
        labels are in units of their spread, which begin with the mean by themselves; with the loss poisson at the
        logarithm of the mean.
    centred : bool, default=False
        As ``vwlite train --centred`` with all columns: less their running means, so that their offsets do not matter.
        Not with solver bfgs, nor with several numbers a row.
    label_units : {"spread", "raw"}, default=None
        As ``vwlite train --label-units``; None is "spread" with solver gd and a loss that takes it.
    """

    quantile: float = QUANTILE
    centre: bool = True
    label_units: str | None = None
    centred: bool = False
    tol: float = 1e-3
    _shape: tuple[int, ...] = field(init=False)  # of a row of y: () or (K,)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VWRegressor:
        """Learn from X, n rows, dense or sparse, and y, n numbers or (n, K). Raises ValueError."""
        X, y = self._checked(X, y, y_numeric=True, multi_output=self._takes_several)
        weight = importance(sample_weight, X)
        y = self._taken(y, first=not (self.warm_start and hasattr(self, "model_")))
        self._learn(X, y, weight, self._learner(y, weight), fresh=not self.warm_start)
        return self

    @available_if(learns_in_parts)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> VWRegressor:
        """Learn from more rows, once, in the order given. Raises ValueError."""
        first = not hasattr(self, "model_")
        X, y = self._checked(X, y, y_numeric=True, reset=first, multi_output=self._takes_several)
        weight = importance(sample_weight, X)
        y = self._taken(y, first=first)
        if first:
            self._begin(self._seed(), self._learner(y, weight))
        self._pass_on(self._split(X), y, weight, passes=1, shuffle=False)
        return self

    @property
    def _takes_several(self) -> bool:
        return self.solver != "coin"

    def _taken(self, y: np.ndarray, *, first: bool) -> np.ndarray:
        """As the model takes it. Raises ValueError where a row's shape, () or (K,), is not that of earlier rows."""
        if not first and y.shape[1:] != self._shape:
            raise ValueError(f"a row of y has the shape {y.shape[1:]}, and had {self._shape} before")
        self._shape = y.shape[1:]
        return y if self._outputs > 1 else y.reshape(-1)

    @property
    def _outputs(self) -> int:
        return self._shape[0] if self._shape else 1

    @property
    def _shift(self) -> int:
        return (self._outputs - 1).bit_length()

    @property
    def _draws_each_pass(self) -> bool:
        return self._shuffles and self._outputs == 1  # as of all labels that are lists

    def _learner(self, y: np.ndarray, weight: np.ndarray) -> dict[str, Any]:
        several = self._outputs > 1
        mean = np.average(y, axis=0, weights=weight) if weight.any() else np.zeros(y.shape[1:])
        units = self._units
        starts = self.solver in ("gd", "bfgs") and units.get("label_units") != "spread"
        centred = self.centre and mean.any() and starts
        if self.loss == "poisson":  # which predicts the exponential of the constant
            mean = np.log(mean, out=np.zeros_like(mean), where=mean > 0)
        start = {} if not centred else {MEANS: mean} if several else {"constant": float(mean)}
        tau = {} if self.quantile == QUANTILE else {"quantile_tau": self.quantile}
        outputs = {"outputs": self._outputs} if several else {}
        return {"loss_function": self.loss or "squared", **tau, **outputs, **start, **units}

    @property
    def _units(self) -> dict[str, str]:
        if self.label_units is not None:
            return {"label_units": self.label_units}
        takes = self.solver == "gd" and has_spread(self.loss or "squared")
        return {"label_units": "spread"} if takes else {}

    def _new_model(self, seed: int, learner: Mapping[str, Any]) -> Model:
        model = super()._new_model(seed, {name: value for name, value in learner.items() if name != MEANS})
        if MEANS in learner:
            of_outputs: Any = model._learner
            of_outputs.start_constant(learner[MEANS])
        return model

    def predict(self, X: Any) -> np.ndarray:
        """float32[n], or float64[n, K]: what the loss estimates, between the labels that were learned."""
        rows = self._rows(X)
        predictions = np.asarray(self.model_.predict(rows))
        return predictions.reshape(-1, self._outputs).astype(np.float64) if self._shape else predictions

    @property
    def coef_(self) -> np.ndarray:
        """float32[n_features], or [K, n_features]"""
        weights = self._weights(self._outputs)[0]
        return weights if self._shape else weights[0]

    @property
    def intercept_(self) -> Any:
        """A float, or float32[K]."""
        constants = self._weights(self._outputs)[1]
        return constants if self._shape else float(constants[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_several
        return tags


MULTICLASS = ("softmax", "oaa")


def gives_probabilities(estimator: VWClassifier) -> bool:
    return estimator.loss in (None, "logistic", "multinomial")


@dataclass(kw_only=True, eq=False, repr=False)
class VWClassifier(LabelledClasses, LossEstimator, LinearEstimator):
    """A linear model of two classes or more, by any loss of ``vwlite train`` for them; ``loss`` None is logistic.

    Parameters are those of ``LossEstimator`` and ``LinearEstimator``, and

    multiclass : {"softmax", "oaa"}, default=None
        How more than two classes are learned: all at once, or each against the others. None is "softmax" with the
        losses that it has (logistic, multinomial, crammer_singer) and "oaa" with others.
    centred : bool, default=False
        As ``vwlite train --centred`` with all columns: less their running means, so that their offsets do not matter.
        Not with solver bfgs, nor with several numbers a row.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied.
    """

    multiclass: str | None = None
    centred: bool = False
    tol: float = 1e-3

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VWClassifier:
        """Learn from X, n rows, dense or sparse, and y, n labels of any kind. Raises ValueError."""
        X, y = self._checked(X, y)
        check_classification_targets(y)
        weight = importance(sample_weight, X)
        going_on = self.warm_start and hasattr(self, "model_")
        if not going_on:
            self._take_classes(y)
        numbers = self._numbers(y)
        self._learn(X, self._labels(numbers), self._weighted(y, numbers, weight), self._learner(), fresh=not going_on)
        return self

    @available_if(learns_in_parts)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> VWClassifier:
        """Learn from more rows, once, in the order given; the first call says which ``classes`` there are.

        Raises ValueError.
        """
        first = not hasattr(self, "model_")
        X, y = self._checked(X, y, reset=first)
        weight = importance(sample_weight, X)
        if first:
            if classes is None:
                raise ValueError("the first call to partial_fit needs classes")
            if self.class_weight == "balanced":
                raise ValueError("class_weight 'balanced' needs all rows: give partial_fit a dict of weights")
            self._take_classes(classes)
            self._begin(self._seed(), self._learner())
        elif classes is not None and not np.array_equal(self.classes_, unique_labels(classes)):
            raise ValueError(f"classes are {classes}, and were {self.classes_} at the first call to partial_fit")
        numbers = self._numbers(y)
        weight = self._weighted(y, numbers, weight)
        self._pass_on(self._split(X), self._labels(numbers), weight, passes=1, shuffle=False)
        return self

    def _labels(self, numbers: np.ndarray) -> np.ndarray:
        """As the model has them: -1 and 1, or 1 to k."""
        return 2 * numbers - 1 if self._binary else numbers + 1

    @property
    def _shift(self) -> int:
        shift = (len(self.classes_) - 1).bit_length()
        return 0 if self._binary else max(shift, 3) if self._all_at_once else shift

    @property
    def _all_at_once(self) -> bool:
        if self.multiclass is None:
            return self.loss in (None, "logistic", *OF_CLASSES)
        return self.multiclass == "softmax"

    def _learner(self) -> dict[str, Any]:
        if self.multiclass not in (None, *MULTICLASS):
            raise UsageError(f"multiclass: {not_one_of(self.multiclass, MULTICLASS)}")
        of_two = {"loss_function": OF_CLASSES.get(self.loss or "multinomial", (self.loss,))[0]}
        if self._binary:
            return of_two
        if not self._all_at_once:
            return {"oaa": len(self.classes_), "indexing": 1, **of_two}
        return {"multiclass": len(self.classes_), "indexing": 1, **({"loss_function": self.loss} if self.loss else {})}

    def decision_function(self, X: Any) -> np.ndarray:
        """float32[n], positive for ``classes_[1]``, or of more than two classes float32[n, k]."""
        rows = self._rows(X)
        return np.asarray(self.model_.predict(rows, raw=True))

    def predict(self, X: Any) -> np.ndarray:
        """The labels with the highest score."""
        scores = self.decision_function(X)
        return self._labels_by(scores)

    @available_if(gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """float64[n, k]: probabilities by the logistic function or softmax; one against all, made to sum to 1."""
        scores = self.decision_function(X).astype(np.float64)
        if not self._binary and self._all_at_once and self.loss != "logistic":
            return softmax(scores, axis=1)
        return self._shares(scores)

    @property
    def coef_(self) -> np.ndarray:
        """float32[1 or k, n_features]"""
        return self._weights(1 if self._binary else len(self.classes_))[0]

    @property
    def intercept_(self) -> np.ndarray:
        """float32[1 or k]"""
        return self._weights(1 if self._binary else len(self.classes_))[1]
