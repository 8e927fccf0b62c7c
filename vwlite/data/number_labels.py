"""Labels of several numbers in memory, as text has them: ``3.5,,-1``."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.text_writer import number_texts
from vwlite.errors import DataError


def number_words(column: Any, first: int) -> list[bytes | None]:
    """Per row its numbers, of which NaN and None are missing; None where all are. A text stands for itself.

    ``first`` is the number of the first row in messages. Raises DataError for rows that are no numbers.
    """
    rows = [numbers_of(row, entry) for row, entry in enumerate(column, first)]
    texts = iter(number_texts(np.concatenate([np.zeros(0, np.float32), *rows])))
    lists = [",".join([next(texts) for _ in row]).encode() for row in rows]
    pairs = zip(column, lists, strict=True)
    words = (one.encode("utf-8", "surrogateescape") if isinstance(one, str) else text for one, text in pairs)
    return [word if word.strip(b",") else None for word in words]


def numbers_of(row: int, entry: Any) -> np.ndarray:
    """float32[n], NaN for what is missing; empty for a text or a row without any."""
    if entry is None or isinstance(entry, str):
        return np.zeros(0, np.float32)
    try:
        values = np.atleast_1d(np.array(entry, np.float64))
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    if values.ndim != 1:
        raise DataError(f"row {row}: label {entry!r} is no list of numbers")
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float32)
    if np.isinf(numbers).any():
        raise DataError(f"row {row}: label {entry!r} has a number beyond single precision")
    return numbers


def are_number_lists(y: Any) -> bool:
    """Whether labels, an array or a list of rows, are lists of numbers; lists of classes have whole numbers alone."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "biuf":
        return y.ndim == 2
    first = next((one for one in y if one is not None), None) if isinstance(y, list | tuple) else None
    if isinstance(first, np.ndarray):
        return first.dtype.kind == "f"
    return isinstance(first, list | tuple) and any(isinstance(one, float | np.floating) for one in first)
