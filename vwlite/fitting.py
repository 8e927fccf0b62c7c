"""Do values and arrays read from a file fit what is declared of them?"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from vwlite.arrays import np
from vwlite.limits import LARGEST


def check_types(values: Any) -> Any:
    """``values``, a configuration. Raises TypeError for the first field whose value is not of its declared type."""
    declared = get_type_hints(type(values))
    for field in fields(values):
        value = getattr(values, field.name)
        if not fits(value, declared[field.name]):
            raise TypeError(f"{field.name} is {str(value)[:40]!r}")
    return values


def fits(value: Any, declared: Any) -> bool:
    """Booleans are no numbers, whole numbers may stand for others, and numbers are finite."""
    if isinstance(declared, UnionType):
        return any(fits(value, one) for one in get_args(declared))
    if get_origin(declared) is tuple:
        return isinstance(value, tuple) and all(fits(one, get_args(declared)[0]) for one in value)
    if declared in (None, type(None)):
        return value is None
    if declared is float:
        return type(value) in (int, float) and abs(value) <= LARGEST
    if is_dataclass(declared):
        return isinstance(value, declared) and bool(check_types(value))
    return type(value) is declared


def numbers(arrays: dict[str, Any], name: str, like: type, shape: tuple[int, ...]) -> np.ndarray:
    """A C-contiguous array of this type and shape, finite if of floats; -1 stands for any length.

    Raises ValueError, KeyError.
    """
    array = np.ascontiguousarray(arrays[name])
    fits = len(array.shape) == len(shape) and all(one in (-1, is_) for one, is_ in zip(shape, array.shape, strict=True))
    if array.dtype != like or not fits or not np.isfinite(array).all():
        raise ValueError(f"the array {name}")
    return array
