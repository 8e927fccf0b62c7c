"""Rows as estimators of text take them: lines, dicts or a data frame, as batches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from vwlite.data.batch import Batch
from vwlite.data.frames import is_frame
from vwlite.data.lines import line_batches
from vwlite.data.tables import of_dicts, table_batches
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError


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
    return line_batches(map(filled, X) if labels is None else map(with_label, map(filled, X), labels), format)


def filled(line: Any) -> Any:
    """A blank line as a row without features."""
    return "|" if isinstance(line, str | bytes) and not line.strip() else line


def with_label(line: Any, label: str | None) -> Any:
    """A line with this label in place of all that stands before its first bar."""
    if isinstance(line, bytes):
        line = line.decode("utf-8", "surrogateescape")
    return f"{label or ''} {line[line.index('|'):]}" if isinstance(line, str) and "|" in line else line
