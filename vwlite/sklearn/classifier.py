"""``VWClassifier``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from vwlite.errors import UsageError
from vwlite.learners.losses import OF_CLASSES
from vwlite.options import not_one_of
from vwlite.sklearn.base import LinearEstimator, learns_in_parts
from vwlite.sklearn.validation import LabelledClasses, importance

MULTICLASS = ("softmax", "oaa")


def gives_probabilities(estimator: VWClassifier) -> bool:
    return estimator.loss in (None, "logistic", "multinomial")


class VWClassifier(LabelledClasses, LinearEstimator):
    """A linear model of two classes or more, by any loss of ``vwlite train`` for them; ``loss`` None is logistic.

    Parameters are those of ``LinearEstimator``, and

    multiclass : {"softmax", "oaa"}, default=None
        How more than two classes are learned: all at once, or each against the others. None is "softmax" with the
        losses that it has (logistic, multinomial, crammer_singer) and "oaa" with others.
    centred : bool, default=False
        As ``vwlite train --centred`` with all columns: less their running means, so that their offsets do not matter.
        Not with solver bfgs, nor with several numbers a row.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied.
    """

    def __init__(
        self,
        *,
        loss: str | None = None,
        multiclass: str | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        centred: bool = False,
        solver: str = "gd",
        learning_rate: float = 0.5,
        power_t: float = 0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        passes: int = 10,
        tol: float = 1e-3,
        shuffle: bool = True,
        random_state: Any = 0,
        bits: int | None = None,
        interactions: Sequence[str] = (),
        namespaces: Mapping[str, Sequence[int | str]] | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            loss=loss,
            solver=solver,
            learning_rate=learning_rate,
            power_t=power_t,
            l1=l1,
            l2=l2,
            passes=passes,
            tol=tol,
            shuffle=shuffle,
            random_state=random_state,
            bits=bits,
            interactions=interactions,
            namespaces=namespaces,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.centred = centred

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
