"""``VWPolicy``: a policy from logged decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from vwlite.api.keywords import read_options
from vwlite.api.memory_run import log_passes
from vwlite.api.run_configs import new_learner_config
from vwlite.evaluation.policy_value import policy_value
from vwlite.sklearn.base import LinearEstimator
from vwlite.sklearn.numeric_rows import numeric_rows


@dataclass(eq=False, repr=False)
class VWPolicy(LinearEstimator):
    """A policy that shows one of ``n_actions`` actions by the least cost, learned from logged decisions.

    Actions are counted from 0, as the columns of ``predict_proba``. It is a contextual bandit as ``vwlite train --cb``
    and, with ``exploration``, ``--cb_explore`` learn it; see docs/bandits.md.

    Parameters
    ----------
    n_actions : int
    cb_type : {"mtr", "direct", "ips", "dr", "dm"}, default="mtr"
        How costs that were not observed are made up for.
    cost_offset : float, "max" or None, default=None
        Learn costs as differences to this number, or to the highest cost so far.
    clip_p : float, default=0.0
        Raise probabilities below this to this.
    exploration : dict or None, default=None
        Options of an explorer by their names, such as ``{"epsilon": 0.1}`` or ``{"softmax": True, "lambda": 4}``; None:
        the best action is always shown.
    solver, learning_rate, power_t, l1, l2, passes, shuffle, random_state, bits, interactions, namespaces, warm_start, \
verbose
        As of ``VWRegressor``, but that one pass is made and solver is "gd", "ftrl" or "coin".
    """

    n_actions: int
    _: KW_ONLY
    cb_type: str = "mtr"
    cost_offset: float | str | None = None
    clip_p: float = 0.0
    exploration: Mapping[str, Any] | None = None
    passes: int = 1

    def fit(self, X: Any, action: Any, cost: Any, p: Any) -> VWPolicy:
        """Learn from n decisions: X, n rows of features, dense or sparse; ``action``, int[n], the one that was shown,
        ``cost``, float[n], what it cost, and ``p``, float[n], the probability with which it was shown. Raises
        ValueError.
        """
        X, labels = self._log(X, action, cost, p, reset=True)
        self._learn(X, labels, np.ones(len(labels)), self._options(), fresh=not self.warm_start)
        return self

    def partial_fit(self, X: Any, action: Any, cost: Any, p: Any) -> VWPolicy:
        """Learn from more decisions, once, in the order given. Raises ValueError."""
        first = not hasattr(self, "model_")
        X, labels = self._log(X, action, cost, p, reset=first)
        if first:
            self._begin(self._seed(), self._options())
        self._pass_on(self._split(X), labels, np.ones(len(labels)), passes=1, shuffle=False)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The best action for each row, int64[n]."""
        rows = self._rows(X)
        return np.asarray(self.model_.predict(rows), np.int64) - 1

    def predict_proba(self, X: Any) -> np.ndarray:
        """How likely each action is to be shown, float64[n, n_actions]; without ``exploration`` 1 for the best."""
        if self.exploration is None:
            return (self.predict(X)[:, None] == np.arange(self.n_actions)).astype(float)
        rows = self._rows(X)
        return np.asarray(self.model_.predict(rows, probabilities=True), float)

    def predict_cost(self, X: Any) -> np.ndarray:
        """The predicted costs of the actions, float32[n, n_actions]."""
        rows = self._rows(X)
        return np.asarray(self.model_.predict(rows, scores=True))

    def score(self, X: Any, action: Any, cost: Any, p: Any) -> float:
        """Minus what the policy costs, as ``vwlite.policy_value`` estimates it (``cv``) from other decisions."""
        pi = self.predict_proba(X)
        return -policy_value(pi, column_or_1d(action), column_or_1d(cost), column_or_1d(p))["cv"].value

    def _log(self, X: Any, action: Any, cost: Any, p: Any, reset: bool) -> tuple[Any, np.ndarray]:
        """The rows, and their labels as text. Raises ValueError for what is no decision."""
        X = numeric_rows(self, X, reset=reset)
        shown, costs, chances = column_or_1d(action), column_or_1d(cost), column_or_1d(p)
        check_consistent_length(X, shown, costs, chances)
        if not all(one in range(self.n_actions) for one in np.unique(shown).tolist()):
            raise ValueError(f"action: numbers from 0 to {self.n_actions - 1}")
        costs, chances = costs.astype(float), chances.astype(float)
        if not np.isfinite(costs).all():
            raise ValueError("cost: finite numbers")
        if not ((chances > 0) & (chances <= 1)).all():
            raise ValueError("p: probabilities above 0 and at most 1")
        each = zip(shown.astype(int).tolist(), costs.tolist(), chances.tolist(), strict=True)
        return X, np.array([f"{one + 1}:{of!r}:{chance!r}" for one, of, chance in each], object)

    def _options(self) -> Mapping[str, Any]:
        """The options of the learner."""
        learner = {"cb_explore" if self.exploration is not None else "cb": self.n_actions, "cb_type": self.cb_type}
        offset = {} if self.cost_offset is None else {"cost_offset": str(self.cost_offset)}
        clip = {"clip_p": self.clip_p} if self.clip_p else {}
        return {**learner, **offset, **clip, **(self.exploration or {})}

    @property
    def _shift(self) -> int:
        config: Any = new_learner_config(read_options("", self._options()))
        return int(config.weight_sets * self.n_actions - 1).bit_length()

    @property
    def _draws_each_pass(self) -> bool:
        return False  # as of all labels that are words

    def _pass_on(self, rows: Any, y: np.ndarray, weight: np.ndarray, **how: Any) -> None:
        with log_passes(self.verbose > 0):
            learned = self.model_.learn(rows, y.tolist(), **how)
        self.n_iter_ += learned.passes
        self.loss_ = learned.average_loss
