"""What the estimators of linear models have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vwlite.api.memory_run import log_passes
from vwlite.api.model import Model
from vwlite.errors import UsageError
from vwlite.features.hashing import CONSTANT_HASH
from vwlite.options import not_one_of
from vwlite.sklearn.numeric_rows import numeric_rows
from vwlite.sklearn.validation import Columns, check_any_weight, holdout_period


@dataclass(kw_only=True, eq=False, repr=False)
class ModelEstimator(BaseEstimator):
    """Gives a ``Model`` the rows, in the order drawn. The fields of estimators are their parameters.

    ``model_`` is the ``Model``. ``n_iter_`` is the number of passes made, ``loss_`` the average loss.
    """

    passes: int = 10
    shuffle: bool = True
    random_state: Any = 0
    bits: int | None = None
    warm_start: bool = False
    verbose: int = 0
    model_: Model = field(init=False)

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

    def _holding_out(self) -> Mapping[str, Any]:
        """The options that say which rows are held out."""
        return {"holdout_off": True}

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
        """The seed of the model, by which it shuffles later passes."""
        return int((random or check_random_state(self.random_state)).randint(2**31))

    def _pass_on(self, rows: Any, y: np.ndarray, weight: np.ndarray, **how: Any) -> None:
        importance = None if (weight == 1).all() else weight.astype(np.float32)
        with log_passes(self.verbose > 0):
            learned = self.model_.learn(rows, y.astype(np.float32), weight=importance, **how)
        self.n_iter_ += learned.passes
        self.loss_ = learned.average_loss


def rows_at(rows: Any, places: np.ndarray) -> Any:
    """The rows at these places of a table, or of a table for each namespace."""
    return {space: table[places] for space, table in rows.items()} if isinstance(rows, dict) else rows[places]


@dataclass(kw_only=True, eq=False, repr=False)
class LossEstimator(ModelEstimator):
    """Learns labels by a loss, and may stop when rows that are held out are predicted no better."""

    loss: str | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 3

    def _holding_out(self) -> Mapping[str, Any]:
        if not self.early_stopping:
            return super()._holding_out()
        return {"holdout_period": holdout_period(self.validation_fraction), "early_terminate": self.n_iter_no_change}


SOLVERS = ("gd", "ftrl", "coin", "bfgs")


def learns_in_parts(estimator: LinearEstimator) -> bool:
    return estimator.solver != "bfgs"


@dataclass(kw_only=True, eq=False, repr=False)
class LinearEstimator(ModelEstimator):
    """Gives its ``Model`` the options that ``vwlite train`` would have."""

    centred, tol = False, 1e-3  # where an estimator has no such parameter

    solver: str = "gd"
    learning_rate: float = 0.5
    power_t: float = 0.5
    l1: float = 0.0
    l2: float = 0.0
    interactions: Sequence[str] = ()
    namespaces: Mapping[str, Sequence[int | str]] | None = None

    @property
    def _shift(self) -> int:
        """A feature has ``2**_shift`` slots."""
        return 0

    def _checked(self, X: Any, y: Any, **checks: Any) -> tuple[Any, np.ndarray]:
        """Rows as float32, CSR or dense."""
        X, y = numeric_rows(self, X, y, **checks)
        return X, y

    def _new_model(self, seed: int, learner: Mapping[str, Any]) -> Model:
        if self.solver not in SOLVERS:
            raise UsageError(f"solver: {not_one_of(self.solver, SOLVERS)}")
        names = getattr(self, "feature_names_in_", None)
        self._columns = Columns(self.n_features_in_, self.namespaces, names)
        numbers = ("learning_rate", "power_t", "l1", "l2", "tol")
        changed = {name for name in numbers if getattr(self, name) != getattr(LinearEstimator, name)}
        given = {name: getattr(self, name) for name in ["power_t", "l1", "l2"] if name in changed}
        if self.solver != "gd":
            given[self.solver] = True
        if len(self.interactions):
            given["interactions"] = list(self.interactions)
        if self.centred:
            given["centred"] = [space or "_" for space in self._columns.members or ("",)]
        if "tol" in changed:
            given["termination"] = self.tol
        if "learning_rate" in changed:
            given["ftrl_alpha" if self.solver == "ftrl" else "learning_rate"] = self.learning_rate
        if self.solver != "bfgs":  # which takes all rows together, in any order
            given["random_seed"] = seed
        try:
            return Model(bits=self._columns.bits(self.bits, self._shift), **given, **self._holding_out(), **learner)
        except UsageError as error:
            raise UsageError(OPTION.sub(keyword_of, str(error))) from None

    def _split(self, X: Any) -> Any:
        return self._columns.split(X)

    @property
    def _shuffles(self) -> bool:
        return bool(self.shuffle) and self.solver != "bfgs"

    def _rows(self, X: Any) -> Any:
        """The rows as the model reads them for predictions."""
        check_is_fitted(self)
        X = numeric_rows(self, X, reset=False)
        return self._split(X)

    def _weights(self, classes: int) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the columns, float32[classes, n_features], and of the constant, float32[classes]."""
        check_is_fitted(self)
        table, shift = self.model_.weights, self._shift
        hashes = np.append(self._columns.hashes(), CONSTANT_HASH)
        slots = (hashes << shift) % len(table)
        by_class = table[slots + np.arange(classes)[:, None]]
        weights, constants = by_class[:, :-1], by_class[:, -1]
        if self.centred:
            means = self.model_._plan.centring.means(self._columns.hashes())
            constants = (constants - weights.astype(float) @ means).astype(np.float32)
        return weights, constants

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


OPTION = re.compile(r"--([a-z]\w*(?:-\w+)*)|(?<!\S)-l(?![-\w])")
KEYWORDS = {  # of estimators, where they differ from the options of a model
    "loss_function": "loss", "quantile_tau": "quantile", "termination": "tol", "ftrl_alpha": "learning_rate",
    "random_seed": "random_state", **{name: f"solver {name}" for name in SOLVERS if name != "gd"},
}  # fmt: skip


def keyword_of(option: re.Match[str]) -> str:
    """The estimator's keyword for an option named in a message."""
    name = option[1].replace("-", "_") if option[1] else "learning_rate"
    return KEYWORDS.get(name, name)
