"""Checks of type, shape and finiteness of arrays read from a file."""

from __future__ import annotations

from typing import Any

import numpy as np


def matrix(rows: Any, name: str, shape: tuple[int, int]) -> np.ndarray:
    """float64[shape] of finite numbers from JSON data. Raises ValueError."""
    try:
        found = np.array(rows, np.float64)
    except TypeError as error:
        raise ValueError(f"{name} are no numbers") from error
    if found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"{name} are damaged")
    return found


def numbers(arrays: dict[str, Any], name: str, like: type, shape: tuple[int, ...]) -> np.ndarray:
    """A C-contiguous array of this type and shape, finite if of floats; -1 stands for any length.

    Raises ValueError, KeyError.
    """
    array = arrays[name]
    if isinstance(array, tuple):
        raise ValueError(f"{name} is a table")
    array = np.ascontiguousarray(array)
    alike = len(array.shape) == len(shape) and all(n in (-1, is_) for n, is_ in zip(shape, array.shape, strict=True))
    if array.dtype != like or not alike or not np.isfinite(array).all():
        raise ValueError(f"the array {name}")
    return array
