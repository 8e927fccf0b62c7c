"""Estimators of rows of text or of numbers, whichever they are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from vwlite.data.batch import Batch
from vwlite.data.frame_batches import opened
from vwlite.data.frames import pyarrow
from vwlite.data.tables import table_batches
from vwlite.data.text_format import TextFormat
from vwlite.sklearn.numeric_rows import numeric_rows
from vwlite.sklearn.row_batches import is_lines_or_dicts, of_columns, row_batches

NAMED = {"rows": "lines, dicts or a frame", "table": "a table of numbers"}


class EitherRows(BaseEstimator):
    """Rows are lines of Vowpal Wabbit text, dicts of name and value, a data frame, or a table of numbers.

    ``namespaces`` are of data frames: the columns in each.
    """

    namespaces: Mapping[str, Sequence[str]] | None
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
    return all(any(test(kind) for test in tests) for kind in opened(frame).schema.types)
