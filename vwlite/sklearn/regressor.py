"""``VWRegressor``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from vwlite.sklearn.base import LinearEstimator, learns_in_parts
from vwlite.sklearn.validation import importance


class VWRegressor(RegressorMixin, LinearEstimator):
    """A linear model of numbers, by any loss of ``vwlite train``; ``loss`` None is squared error.

    Parameters are those of ``LinearEstimator``, and

    centre : bool, default=True
        With solvers gd and bfgs the constant's weight starts at the weighted mean of y, as of the first call.
    """

    def __init__(
        self,
        *,
        loss: str | None = None,
        centre: bool = True,
        solver: str = "gd",
        learning_rate: float = 0.5,
        power_t: float = 0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        passes: int = 10,
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
        self.centre = centre

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VWRegressor:
        """Learn from X, n rows, dense or sparse, and y, n numbers. Raises ValueError."""
        X, y = self._checked(X, y, y_numeric=True)
        weight = importance(sample_weight, X)
        self._learn(X, y, weight, self._learner(y, weight), fresh=not self.warm_start)
        return self

    @available_if(learns_in_parts)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> VWRegressor:
        """Learn from more rows, once, in the order given. Raises ValueError."""
        first = not hasattr(self, "model_")
        X, y = self._checked(X, y, y_numeric=True, reset=first)
        weight = importance(sample_weight, X)
        if first:
            self._begin(self._seed(), self._learner(y, weight))
        self._pass_on(self._split(X), y, weight, passes=1, shuffle=False)
        return self

    def _learner(self, y: np.ndarray, weight: np.ndarray) -> dict[str, Any]:
        mean = float(np.average(y, weights=weight)) if weight.any() else 0.0
        centred = {"constant": mean} if self.centre and mean and self.solver in ("gd", "bfgs") else {}
        return {"loss_function": self.loss or "squared", **centred}

    def predict(self, X: Any) -> np.ndarray:
        """float32[n]: what the loss estimates, between the labels that were learned."""
        rows = self._rows(X)
        return np.asarray(self.model_.predict(rows))

    @property
    def coef_(self) -> np.ndarray:
        """float32[n_features]"""
        return self._weights(1)[0][0]

    @property
    def intercept_(self) -> float:
        return float(self._weights(1)[1][0])
