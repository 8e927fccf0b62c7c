"""What the estimators that hold a ``Model`` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from vwlite.api.model import Model
from vwlite.api.pass_notes import passes_noted
from vwlite.sklearn.validation import check_any_weight, holdout_period


class ModelEstimator(BaseEstimator):
    """Gives a ``Model`` the rows, in the order drawn.

    ``model_`` is the ``Model``. ``n_iter_`` is the number of passes made, ``loss_`` the average loss.
    """

    model_: Model
    passes: int
    shuffle: bool
    random_state: Any
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    verbose: int

    def _new_model(self, seed: int, learner: Mapping[str, Any]) -> Model:
        """``learner``: options that depend on the labels. Raises UsageError for parameters that do not go together."""
        raise NotImplementedError

    def _begin(self, seed: int, learner: Mapping[str, Any]) -> None:
        self.model_ = self._new_model(seed, learner)
        self.n_iter_ = 0

    def _split(self, X: Any) -> Any:
        """The rows as the model learns and predicts them: a table, or one for each namespace."""
        return X

    @property
    def _shuffles(self) -> bool:
        return bool(self.shuffle)

    @property
    def _draws_each_pass(self) -> bool:
        """Whether later passes have an order of their own."""
        return self._shuffles

    def _holding_out(self) -> dict[str, Any]:
        if not self.early_stopping:
            return {"holdout_off": True}
        return {"holdout_period": holdout_period(self.validation_fraction), "early_terminate": self.n_iter_no_change}

    def _learn(self, X: Any, y: np.ndarray, weight: np.ndarray, learner: Mapping[str, Any], *, fresh: bool) -> None:
        """``fit``: rows in the order drawn, ``passes`` times."""
        check_any_weight(weight)
        random = check_random_state(self.random_state)
        seed = self._seed(random)
        if fresh or not hasattr(self, "model_"):
            self._begin(seed, learner)
        rows = self._split(X)
        if self._shuffles:
            order = random.permutation(len(y))
            rows, y, weight = rows_at(rows, order), y[order], weight[order]
        self._pass_on(rows, y, weight, passes=self.passes, shuffle=self._draws_each_pass)

    def _seed(self, random: Any = None) -> int:
        """Of the model, which shuffles later passes by it."""
        return int((random or check_random_state(self.random_state)).randint(2**31))

    def _pass_on(self, rows: Any, y: np.ndarray, weight: np.ndarray, **how: Any) -> None:
        importance = None if (weight == 1).all() else weight.astype(np.float32)
        with passes_noted(self.verbose > 0):
            learned = self.model_.learn(rows, y.astype(np.float32), weight=importance, **how)
        self.n_iter_ += learned.passes
        self.loss_ = learned.average_loss


def rows_at(rows: Any, places: np.ndarray) -> Any:
    """The rows at these places of a table, or of a table for each namespace."""
    return {space: table[places] for space, table in rows.items()} if isinstance(rows, dict) else rows[places]
