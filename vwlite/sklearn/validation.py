"""What estimators check of columns, labels and weights, by scikit-learn's public functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_array, check_consistent_length

from vwlite.api.memory_run import log
from vwlite.errors import UsageError
from vwlite.features.hashing import CONSTANT_HASH, hash_name
from vwlite.training.listener import Monitor


def importance(sample_weight: Any, X: Any) -> np.ndarray:
    """float64[n]: a weight for each row. Raises ValueError."""
    rows = X.shape[0]
    if sample_weight is None or np.isscalar(sample_weight):
        return np.full(rows, 1.0 if sample_weight is None else sample_weight)
    weight: np.ndarray = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", ensure_min_samples=0
    )
    if weight.ndim != 1:
        raise ValueError(f"sample_weight has {weight.ndim} dimensions, not 1")
    check_consistent_length(X, weight)
    if (weight < 0).any():
        raise ValueError("sample_weight holds negative weights")
    return weight


def check_any_weight(weight: np.ndarray) -> None:
    """Raises ValueError where no row counts."""
    if not weight.any():
        raise ValueError("sample_weight is zero for every row: there is nothing to learn from")


def holdout_period(validation_fraction: float) -> int:
    """Every how many rows one is held out. Raises UsageError."""
    if not 0 < validation_fraction <= 0.5:
        raise UsageError(f"validation_fraction is a number above 0 and up to 0.5, not {validation_fraction}")
    return round(1 / validation_fraction)


class Notes(Monitor):
    """Prints the lines of a solver's table, as ``verbose`` asks for it."""

    def __init__(self, verbose: int) -> None:
        self.say = notes(verbose)

    def line(self, text: str) -> None:
        self.say(text)


def notes(verbose: int) -> Callable[[str], None]:
    """Where the lines of a solver go: to the logger, or nowhere."""
    return log.info if verbose > 0 else lambda line: None


@dataclass(kw_only=True, eq=False, repr=False)
class LabelledClasses(ClassifierMixin):
    """A classifier whose labels are numbered by their places in ``classes_``."""

    class_weight: Mapping[Any, float] | str | None = None
    classes_: np.ndarray = field(init=False)

    def _take_classes(self, labels: Any) -> None:
        """Raises ValueError for a single class."""
        classes = unique_labels(labels)
        if len(classes) < 2:
            raise ValueError(f"y has one class, {classes.tolist()[0]!r}: learning needs two classes or more")
        self.classes_ = classes

    @property
    def _binary(self) -> bool:
        return len(self.classes_) == 2

    def _numbers(self, y: np.ndarray) -> np.ndarray:
        """int64[n]: the place of each label. Raises ValueError for an unknown label."""
        numbers: np.ndarray = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = self.classes_[numbers] != y
        if unknown.any():
            label = y[unknown].tolist()[0]
            raise ValueError(f"y has the label {label!r}, which is none of the classes {self.classes_}")
        return numbers

    def _weighted(self, y: np.ndarray, numbers: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The weights of rows times those of their classes."""
        if self.class_weight is None:
            return weight
        of_classes: np.ndarray = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        return weight * of_classes[numbers]

    def _labels_by(self, scores: np.ndarray) -> np.ndarray:
        """The labels with the highest scores, float[n] of the second of two classes or float[n, k]."""
        numbers = (scores > 0).astype(np.int64) if self._binary else scores.argmax(axis=1)
        return self.classes_[numbers]

    def _shares(self, scores: np.ndarray) -> np.ndarray:
        """float64[n, k]: the logistic function of scores as ``_labels_by`` takes them, each row made to sum to 1."""
        if self._binary:
            return expit(np.stack([-scores, scores], axis=1))
        shares: np.ndarray = expit(scores)
        return shares / shares.sum(axis=1, keepdims=True)


@dataclass(kw_only=True, eq=False, repr=False)
class LogLinearEstimator(BaseEstimator):
    """The parameters of ``vwlite l1`` that models of rows and of sequences have."""

    C: float = 1.0
    l2: float = 0.0
    solver: str
    group: bool = False
    penalty: str = "cumulative"
    rate: str = "exponential"
    learning_rate: float | None = None
    decay: float = 0.85
    warm_passes: int = 0
    passes: int | None = None
    tolerance: float | None = None
    shuffle: bool = True
    random_state: Any = 0


FEWEST, MOST = 18, 32  # bits


class Columns:
    """The ``n_columns`` columns of tables, some of them in namespaces.

    Column ``j`` of a namespace's is the feature ``j`` of it; those of no namespace are anonymous features.
    """

    def __init__(
        self,
        n_columns: int,
        namespaces: Mapping[str, Sequence[int | str]] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """``namespaces``: the columns of each, by number or, where columns have ``names``, by name.

        Raises UsageError for a column that does not exist or is in two namespaces.
        """
        self.n_columns = n_columns
        self.members: dict[str, np.ndarray] = {}
        if not namespaces:
            return
        numbers = {name: number for number, name in enumerate(() if names is None else names)}
        owner: dict[int, str] = {}
        for space, members in namespaces.items():
            for one in members:
                number = numbers.get(one) if isinstance(one, str) else int(one)
                if number is None or not -n_columns <= number < n_columns:
                    raise UsageError(f"namespaces: there is no column {one!r} for {space!r}")
                if owner.setdefault(number % n_columns, space) != space:
                    raise UsageError(f"namespaces: column {one!r} is in {owner[number % n_columns]!r} and {space!r}")
        rest = [number for number in range(n_columns) if number not in owner]
        grouped = {space: [number for number, of in owner.items() if of == space] for space in namespaces}
        self.members = {space: np.array(found) for space, found in {**grouped, "": rest}.items() if found}

    def split(self, X: Any) -> Any:
        """The table itself or, with namespaces, a table for each."""
        return {space: in_order(X[:, found]) for space, found in self.members.items()} or X

    def hashes(self) -> np.ndarray:
        """int64[n_columns]: the hash of each column's feature."""
        if not self.members:
            return np.arange(self.n_columns)
        hashes = np.empty(self.n_columns, np.int64)
        for space, found in self.members.items():
            hashes[found] = (np.arange(len(found)) + (hash_name(space.encode(), 0) if space else 0)) % 2**32
        return hashes

    def bits(self, given: int | None, shift: int = 0) -> int:
        """The number of bits: the given one or, if it is None, the fewest possible. Raises UsageError for too few."""
        needed = self.fewest_bits(shift)
        if given is not None and given < needed:
            columns = f"{self.n_columns} columns"
            raise UsageError(f"bits={given} would have {columns} share slots: bits={needed} keeps them apart")
        return needed if given is None else given

    def fewest_bits(self, shift: int) -> int:
        """Bits, from 18, at which no column shares a slot with another or the constant, each having ``2**shift``.

        Of more than 11,650,396 columns in no namespace one is the constant's, whatever the bits: it is let through.
        """
        needed = range(max(FEWEST, shift), MOST + 1)
        if not self.members:
            return first_of(bits for bits in needed if self.n_columns <= self.room(2 ** (bits - shift)))
        hashes = np.append(self.hashes(), CONSTANT_HASH)
        return first_of(bits for bits in needed if distinct(hashes % 2 ** (bits - shift)))

    def room(self, slots: int) -> int:
        """The number of columns without namespace that there may be beside the constant."""
        return CONSTANT_HASH % slots if self.n_columns <= CONSTANT_HASH else slots


def in_order(table: Any) -> Any:
    """The columns of each row ascending, as they are in an array."""
    return table.sorted_indices() if hasattr(table, "sorted_indices") else table


def distinct(values: np.ndarray) -> bool:
    return len(np.unique(values)) == len(values)


def first_of(bits: Iterable[int]) -> int:
    first = next(iter(bits), None)
    if first is None:
        raise UsageError(f"even with {MOST} bits some columns share a slot")
    return first
