"""``VWRegressor``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from vwlite.api.model import Model
from vwlite.learners.losses import LOSSES
from vwlite.sklearn.base import LinearEstimator, learns_in_parts
from vwlite.sklearn.validation import importance

QUANTILE = 0.5  # unless another one is asked for
MEANS = "means"  # of several outputs, among what a new model is made of


def has_spread(loss: str) -> bool:
    """Whether a loss takes labels in units of their spread; of one that is none it does not matter."""
    return loss in LOSSES and bool(LOSSES[loss].label_spread)


class VWRegressor(RegressorMixin, LinearEstimator):
    """A linear model of numbers, by any loss of ``vwlite train``; ``loss`` None is squared error.

    Several numbers for each row, y of the shape (n, K), are learned as ``--outputs K``, but for the solver coin;
    later passes then have the order of the first.

    Parameters are those of ``LinearEstimator``, and

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

    _shape: tuple[int, ...]  # of a row of y: () or (K,)

    def __init__(
        self,
        *,
        loss: str | None = None,
        quantile: float = QUANTILE,
        centre: bool = True,
        label_units: str | None = None,
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
        self.quantile = quantile
        self.centre = centre
        self.label_units = label_units
        self.centred = centred

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
        found = np.asarray(self.model_.predict(rows))
        return found.reshape(-1, self._outputs).astype(np.float64) if self._shape else found

    @property
    def coef_(self) -> np.ndarray:
        """float32[n_features], or [K, n_features]"""
        found = self._weights(self._outputs)[0]
        return found if self._shape else found[0]

    @property
    def intercept_(self) -> Any:
        """A float, or float32[K]."""
        found = self._weights(self._outputs)[1]
        return found if self._shape else float(found[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._takes_several
        return tags
