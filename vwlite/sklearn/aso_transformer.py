"""``ASOTransformer``: features for problems with few labels, learned from rows without any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from vwlite.api.aso_model import ASOModel, kinds_of
from vwlite.data.config import available_cores
from vwlite.data.row_columns import is_missing
from vwlite.data.text_format import TextFormat
from vwlite.sklearn.numeric_rows import EitherRows
from vwlite.solvers.aso.auxiliary import LABELLED, read_aux
from vwlite.solvers.aso.config import SolverConfig
from vwlite.solvers.aso.corpus import text_format


@dataclass(kw_only=True, eq=False, repr=False)
class ASOTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, EitherRows):
    """The structure that many problems made of unlabelled rows share, as ``vwlite aso learn`` learns it.

    Rows are lines of Vowpal Wabbit text, dicts of name and value, a data frame, or a table of numbers, dense or sparse.
    Every namespace, or group of them, gets features of its own (Ando and Zhang, JMLR 6, 2005).

    Parameters
    ----------
    aux : str or sequence of str, default=("freq",)
        Kinds of problems, as ``--aux`` takes them: "freq", "freq-k:3", "mask:next", "top-k:2", "labels" ...
    dim : int, default=50
        Features of each group.
    dims : dict or None, default=None
        Those of groups by name, where they are others.
    groups : sequence of sequences of str, default=()
        Namespaces of each group; by default each namespace is one.
    max_problems, min_count : int, default=1000, 2
        Problems kept of each set; rows that must hold a feature.
    iterations : int, default=1
        Rounds of learning and decomposing.
    positive : bool, default=True
        Decompose positive weights only.
    loss : {"modified_huber", "logistic", "hinge", "squared"}, default="modified_huber"
        Of the problems.
    penalty, learning_rate, passes : float, float, int, default=1e-4, 0.5, 5
        L2 penalty (``--lambda``), rate and number of passes of their solver.
    scale : float, default=1.0
        Length of each group's features.
    unit : bool, default=True
        Scale rows to length 1 to learn, and each group's features to length ``scale``.
    idf : bool, default=False
        Weigh features by ln(n / rows that have them), before rows are scaled.
    namespaces : dict or None, default=None
        Of data frames: ``{"user": ["age", "city"]}``, the columns in each namespace.
    random_state : int, RandomState or None, default=0
        Of orders and views.
    n_jobs : int or None, default=None
        Threads, -1 for all cores; the result does not depend on it.

    Attributes
    ----------
    components_ : float32 of shape (h, p)
        Theta; its columns are those of the table, or the features ``features_``.
    features_ : list of (namespace, name), the p features, of what is no table
    singular_values_ : float64 of shape (h,)
    model_ : the ``ASOModel``
    """

    _least: ClassVar[Mapping[str, int]] = {"ensure_min_samples": 2, "ensure_min_features": 2}

    aux: str | Sequence[str] = ("freq",)
    dim: int = 50
    dims: Mapping[str, int] | None = None
    groups: Sequence[Sequence[str]] = ()
    max_problems: int = 1000
    min_count: int = 2
    iterations: int = 1
    positive: bool = True
    loss: str = "modified_huber"
    penalty: float = 1e-4
    learning_rate: float = 0.5
    passes: int = 5
    scale: float = 1.0
    unit: bool = True
    idf: bool = False

    def fit(self, X: Any, y: Any = None) -> ASOTransformer:
        """Learn from n rows. ``y`` matters to ``aux`` top-k, multi-k, confidence, range and pivot, which need labels of
        some rows (None or NaN where unknown; lists, where a row has several), and to "labels", whose labels are numbers
        of problems or lists of these. Without it lines have their own.

        Raises ValueError, DataError where there is no row or no problem.
        """
        kinds = {read_aux(one).kind for one in kinds_of(self.aux)}
        supervised = not kinds.isdisjoint(LABELLED)
        given = list(y) if y is not None and (supervised or "labels" in kinds) else None
        labels = None if given is None else [*map(label_word, given)]
        if labels is not None:
            check_consistent_length(X, labels)
        model = self._new_model(several=given is not None and any(map(is_list, given)))
        batches = self._batches(X, labels, reset=True)
        model.fit(batches, self._batches(X, labels) if supervised else None)
        self.model_, self._n_features_out = model, sum(map(len, model.groups.values()))
        return self

    def _new_model(self, several: bool) -> ASOModel:
        threads = available_cores() if self.n_jobs == -1 else self.n_jobs or 1
        solver = SolverConfig(
            loss=self.loss,
            penalty=self.penalty,
            rate=self.learning_rate,
            passes=self.passes,
            seed=int(check_random_state(self.random_state).randint(2**31)),
            threads=threads,
        )
        return ASOModel(
            self.aux,
            solver=solver,
            dim=self.dim,
            dims=tuple((self.dims or {}).items()),
            groups=tuple(map(tuple, self.groups)),
            most=self.max_problems,
            least=self.min_count,
            iterations=self.iterations,
            positive=self.positive,
            unit=self.unit,
            idf=self.idf,
            several=several,
        )

    def _text_format(self) -> TextFormat:
        return text_format()

    def transform(self, X: Any) -> np.ndarray:
        """float32[n, h]: Theta's features of n rows, those of each group side by side. Raises ValueError."""
        check_is_fitted(self)
        return self.model_.transform(self._batches(X), scale=self.scale, unit=self.unit)

    @property
    def components_(self) -> np.ndarray:
        components = self.model_.components
        if self._kind != "table":
            return components
        table = np.zeros((len(components), self.n_features_in_), np.float32)
        table[:, self.model_.theta.words.key] = components  # the hash of a column is its number
        return table

    @property
    def features_(self) -> list[tuple[str, str]]:
        return self.model_.feature_names

    @property
    def singular_values_(self) -> np.ndarray:
        return np.concatenate([*self.model_.groups.values()])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def is_list(label: Any) -> bool:
    return isinstance(label, list | tuple | set | np.ndarray)


def label_word(label: Any) -> Any:
    """A label as text has it, a list with commas; None where there is none."""
    if is_list(label):
        label = ",".join(map(str, label)) or None
    return None if is_missing(label) else label
