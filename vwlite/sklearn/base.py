"""What the estimators of linear models have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from vwlite.api.model import Model
from vwlite.errors import UsageError
from vwlite.options import not_one_of
from vwlite.sklearn.columns import CONSTANT, Columns
from vwlite.sklearn.validation import check_any_weight

SOLVERS = ("gd", "ftrl", "coin", "bfgs")


def learns_in_parts(estimator: LinearEstimator) -> bool:
    return estimator.solver != "bfgs"


class LinearEstimator(BaseEstimator):
    """Holds a ``Model`` and gives it the options that ``vwlite train`` would have.

    ``model_`` is the ``Model``. ``n_iter_`` is the number of passes made, ``loss_`` the average loss.
    """

    default_loss: ClassVar[str]
    model_: Model

    def __init__(
        self,
        *,
        loss: str | None = None,
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
    ) -> None:
        self.loss = loss
        self.solver = solver
        self.learning_rate = learning_rate
        self.power_t = power_t
        self.l1 = l1
        self.l2 = l2
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.bits = bits
        self.interactions = interactions
        self.namespaces = namespaces
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start

    @property
    def _shift(self) -> int:
        """A feature has ``2**_shift`` slots."""
        return 0

    def _checked(self, X: Any, y: Any, **checks: Any) -> tuple[Any, np.ndarray]:
        """Rows as float32, CSR or dense."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float32, **checks)
        return X, y

    def _begin(self, seed: int, learner: Mapping[str, Any]) -> None:
        """A new model. Raises UsageError for parameters that do not go together."""
        if self.solver not in SOLVERS:
            raise UsageError(f"solver: {not_one_of(self.solver, SOLVERS)}")
        names = getattr(self, "feature_names_in_", None)
        self._columns = Columns(self.n_features_in_, self.namespaces, names)
        given = {
            **({self.solver: True} if self.solver != "gd" else {}),
            **{name: getattr(self, name) for name in ("power_t", "l1", "l2") if getattr(self, name) != DEFAULTS[name]},
            **({"interactions": list(self.interactions)} if len(self.interactions) else {}),
        }
        if self.learning_rate != DEFAULTS["learning_rate"]:
            given["ftrl_alpha" if self.solver == "ftrl" else "learning_rate"] = self.learning_rate
        if self.solver != "bfgs":  # which takes all rows together, in any order
            given["random_seed"] = seed
        self.model_ = Model(bits=self._bits(), **given, **self._holding_out(), **learner)
        self.n_iter_ = 0

    def _bits(self) -> int:
        needed = self._columns.fewest_bits(self._shift)
        if self.bits is not None and self.bits < needed:
            columns = f"{self.n_features_in_} columns"
            raise UsageError(f"bits={self.bits} would have {columns} share slots: bits={needed} keeps them apart")
        return needed if self.bits is None else self.bits

    def _holding_out(self) -> dict[str, Any]:
        if not self.early_stopping:
            return {"holdout_off": True}
        if not 0 < self.validation_fraction <= 0.5:
            raise UsageError(f"validation_fraction is a number above 0 and up to 0.5, not {self.validation_fraction}")
        return {"holdout_period": round(1 / self.validation_fraction), "early_terminate": self.n_iter_no_change}

    def _learn(self, X: Any, y: np.ndarray, weight: np.ndarray, learner: Mapping[str, Any], *, fresh: bool) -> None:
        """``fit``: rows in the order drawn, ``passes`` times."""
        check_any_weight(weight)
        random = check_random_state(self.random_state)
        seed = self._seed(random)
        if fresh or not hasattr(self, "model_"):
            self._begin(seed, learner)
        shuffle = bool(self.shuffle) and self.solver != "bfgs"
        if shuffle:
            order = random.permutation(len(y))
            X, y, weight = X[order], y[order], weight[order]
        self._pass_on(X, y, weight, passes=self.passes, shuffle=shuffle)

    def _seed(self, random: Any = None) -> int:
        """Of the model, which shuffles later passes by it."""
        return int((random or check_random_state(self.random_state)).randint(2**31))

    def _pass_on(self, X: Any, y: np.ndarray, weight: np.ndarray, **how: Any) -> None:
        rows, importance = self._columns.split(X), None if (weight == 1).all() else weight.astype(np.float32)
        learned = self.model_.learn(rows, y.astype(np.float32), weight=importance, **how)
        self.n_iter_ += learned.passes
        self.loss_ = learned.average_loss

    def _rows(self, X: Any) -> Any:
        """What the model predicts."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=False)
        return self._columns.split(X)

    def _weights(self, classes: int) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the columns, float32[classes, n_features], and of the constant, float32[classes]."""
        check_is_fitted(self)
        table, shift = self.model_.weights, self._shift
        hashes = np.append(self._columns.hashes(), CONSTANT)
        slots = (hashes << shift) % len(table)
        found = table[slots + np.arange(classes)[:, None]]
        return found[:, :-1], found[:, -1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


DEFAULTS = {"learning_rate": 0.5, "power_t": 0.5, "l1": 0.0, "l2": 0.0}
