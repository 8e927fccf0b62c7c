"""Rows of numbers: texts are refused, whatever they look like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

OF_TEXTS = ("str", "large_str", "categor", "enum", "dictionary")  # how names of such types begin


def numeric_rows(estimator: Any, X: Any, *y: Any, **checks: Any) -> Any:
    """As ``validate_data``: rows as float32, CSR or dense, and ``y``. Raises ValueError, also for texts."""
    if (found := first_text(X)) is not None:
        raise ValueError(
            f"X has texts or categories{found}, where rows of numbers are learned: put TextHasher() before the "
            "estimator in a pipeline, which makes columns of them"
        )
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
