"""Rows of numbers, and their slots: texts are refused, whatever they look like."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from vwlite.data.batch import Batch
from vwlite.data.config import available_cores
from vwlite.data.frame_batches import open_stream
from vwlite.data.frames import is_frame, pyarrow
from vwlite.data.memory import line_batches
from vwlite.data.tables import of_dicts, table_batches
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.gamma import copy_batch
from vwlite.sklearn.validation import FEWEST
from vwlite.solvers.row_solver import MemoryRows, Rows

OF_TEXTS = ("str", "large_str", "categor", "enum", "dictionary")  # how names of such types begin


def numeric_rows(estimator: Any, X: Any, *y: Any, **checks: Any) -> Any:
    """As ``validate_data``: rows as float32, CSR or dense, and ``y``. Raises ValueError, also for texts."""
    if (text := first_text(X)) is not None:
        raise ValueError(
            f"X has texts or categories{text}, where rows of numbers are learned: put TextHasher() before the "
            "estimator in a pipeline, which makes columns of them"
        )
    if checks.get("y_numeric") and any(np.asarray(labels).dtype.kind in "US" for labels in y):
        raise ValueError("y has texts, where numbers are learned: estimators of classes take them")
    return validate_data(estimator, X, *y, accept_sparse="csr", dtype=np.float32, **checks)


def first_text(X: Any) -> str | None:
    """Where the first column of texts is, by its type and, where that is any object, by its cells; None: nowhere."""
    if hasattr(X, "columns") or hasattr(X, "schema"):
        return next((f" in column {name!r}" for name, kind, cells in columns_of(X) if of_texts(kind, cells)), None)
    if isinstance(X, list | tuple):
        first = X[:1] if not X or isinstance(X[0], str | bytes) else X[0]
        cells = first if isinstance(first, list | tuple) else ()
        return "" if any(isinstance(cell, str | bytes) for cell in cells) else None
    kind = getattr(X, "dtype", None)
    return "" if kind is not None and of_texts(kind, X) else None


def columns_of(frame: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, type and cells of each column."""
    if hasattr(frame, "iloc"):  # of pandas, whose columns may have one name
        for number, (name, kind) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
            yield name, kind, frame.iloc[:, number]
    elif hasattr(frame, "dtypes"):
        yield from zip(frame.columns, frame.dtypes, frame, strict=True)
    else:
        yield from ((one.name, one.type, ()) for one in frame.schema)


def of_texts(kind: Any, cells: Any) -> bool:
    if isinstance(kind, np.dtype) and kind.kind in "USTO":
        return kind.kind != "O" or any(isinstance(cell, str | bytes) for cell in np.asarray(cells).flat)
    return str(kind).lower().startswith(OF_TEXTS)


def is_lines_or_dicts(X: Any) -> bool:
    """Whether the first of a collection is one."""
    first = next(iter(X), None) if isinstance(X, Collection) and not hasattr(X, "indptr") else None
    return isinstance(first, str | bytes | Mapping)


def of_columns(X: Any) -> bool:
    """Whether it is a data frame; a series is not."""
    return is_frame(X) and len(getattr(X, "shape", (0, 0))) == 2


def row_batches(
    X: Any,
    format: TextFormat,
    labels: Sequence[Any] | None = None,
    namespaces: Mapping[str, Sequence[str]] | None = None,
) -> Iterable[Batch]:
    """``labels``: those of all rows; with them, what a line has before its first bar is not used.

    Raises DataError for what are no rows, and for a malformed one, naming row and column from 0; UsageError for
    ``namespaces`` of other rows than a frame's.
    """
    if isinstance(X, str | bytes):
        raise DataError("expected an iterable of lines, not a single text")
    if of_columns(X):
        return table_batches(X, labels, namespaces=namespaces, text_format=format)
    if namespaces:
        raise UsageError("namespaces: these are of data frames")
    dicts, X = of_dicts(X)
    if dicts:
        return table_batches(X, labels, text_format=format)
    return line_batches(map(fill_blank, X) if labels is None else map(with_label, map(fill_blank, X), labels), format)


def fill_blank(line: Any) -> Any:
    """A blank line as a row without features."""
    return "|" if isinstance(line, str | bytes) and not line.strip() else line


def with_label(line: Any, label: str | None) -> Any:
    """A line with this label in place of all that stands before its first bar."""
    if isinstance(line, bytes):
        line = line.decode("utf-8", "surrogateescape")
    return f"{label or ''} {line[line.index('|'):]}" if isinstance(line, str) and "|" in line else line


NAMED = {"rows": "lines, dicts or a frame", "table": "a table of numbers"}


@dataclass(kw_only=True, eq=False, repr=False)
class EitherRows(BaseEstimator):
    """Rows are lines of Vowpal Wabbit text, dicts of name and value, a data frame, or a table of numbers.

    ``namespaces`` are of data frames: the columns in each.
    """

    namespaces: Mapping[str, Sequence[str]] | None = None
    random_state: Any = 0
    n_jobs: int | None = None
    _least: ClassVar[Mapping[str, int]] = {"ensure_min_samples": 2}  # of tables, to fit

    def _text_format(self) -> TextFormat:
        """How rows are read."""
        raise NotImplementedError

    def _batches(self, X: Any, labels: Any = None, reset: bool = False) -> Iterable[Batch]:
        """``reset``: to fit. Raises ValueError, also for rows of another kind than those fitted, and DataError."""
        frame = of_columns(X)
        if (self.namespaces or not of_numbers(X)) if frame else is_lines_or_dicts(X):
            if frame:
                validate_data(self, X, skip_check_array=True, reset=reset)
            kind = "rows"
        else:
            least = self._least if reset else {}
            X = numeric_rows(self, X, reset=reset, **least)
            kind = "table"
        if reset:
            self._kind = kind
        elif self._kind != kind:
            raise ValueError(f"X is {NAMED[kind]}, and was {NAMED[self._kind]} in fit")
        if kind == "table":
            return table_batches(X, labels, text_format=self._text_format())
        return row_batches(X, self._text_format(), labels, self.namespaces)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.string = tags.input_tags.dict = True
        return tags


def of_numbers(frame: Any) -> bool:
    """Whether all columns of a data frame are numbers."""
    tests = [getattr(pyarrow().types, name) for name in ("is_integer", "is_floating", "is_boolean")]
    return all(any(test(kind) for test in tests) for kind in open_stream(frame).schema.types)


class Made(Protocol):
    """A model that was made from such rows."""

    features: FeatureConfig
    seen: list[int]
    arrays: dict[str, Any]


@dataclass(kw_only=True, eq=False, repr=False)
class SlotRowsEstimator(EitherRows):
    """Parameters that these estimators share:

    bits : int or None, default=None
        There are ``2 ** bits`` slots; by default 18 bits, or as many as keep a table's columns apart.
    value : {"raw", "log", "binary"}, default="raw"
        Values as they are, 1 + ln of what is beyond 1, or 1.
    weight : {"none", "idf", "degree"}, default="none"
        Times ln(rows / rows with the feature), where at least ``min_df`` rows have it; or over a row's degree.
    min_df : int, default=3
    unit : bool, default=False
        Scale rows to length 1.
    namespaces : dict or None, default=None
        Of data frames: ``{"user": ["age", "city"]}``, the columns in each namespace.
    random_state : int, RandomState or None, default=0
        Of the start.
    n_jobs : int or None, default=None
        Threads, -1 for all cores; the result does not depend on it.
    """

    bits: int | None = None
    value: str = "raw"
    weight: str = "none"
    min_df: int = 3
    unit: bool = False
    model_: Any = field(init=False)  # a Made

    def _text_format(self) -> TextFormat:
        return text_format(FeatureConfig(noconstant=True), skip_malformed=True).of_words(lists=True)

    def _rows(self, X: Any) -> Rows:
        """The rows to fit. Raises ValueError, DataError, UsageError."""
        batches = [*map(copy_batch, self._batches(X, reset=True))]
        features = FeatureConfig(
            noconstant=True, bits=self._bits(), value=self.value, weight=self.weight, min_df=self.min_df, unit=self.unit
        )
        return MemoryRows(features, batches, [])

    def _new_rows(self, X: Any) -> Rows:
        """Rows as the model takes those that it was not fitted to. Raises ValueError, DataError."""
        model: Made = self.model_
        rows = MemoryRows(model.features, [*map(copy_batch, self._batches(X))], model.seen)
        rows.plan.load(model.arrays)
        return rows

    def _bits(self) -> int:
        """Raises UsageError where columns of a table would share slots."""
        columns = self.n_features_in_ if self._kind == "table" else 0
        fewest = max(FEWEST, (columns - 1).bit_length())
        if self.bits is not None and columns > 2**self.bits:
            shared = f"bits={self.bits} would have {columns} columns share slots"
            raise UsageError(f"{shared}: bits={fewest} keeps them apart")
        return fewest if self.bits is None else self.bits

    @property
    def _threads(self) -> int:
        return available_cores() if self.n_jobs == -1 else self.n_jobs or 1

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31))

    def _by_column(self, vectors: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """float32[k, columns]: vectors float32[slots, k], of a table by its columns, else by ``slots_``."""
        if self._kind != "table":
            return np.ascontiguousarray(vectors.T)
        table = np.zeros((vectors.shape[1], self.n_features_in_), np.float32)
        table[:, slots] = vectors.T
        return table
