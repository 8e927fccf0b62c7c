"""Checks values read from a file against declared types.

Types are declared by the annotations of a configuration or of a ``TypedDict``, with ``Between`` for bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from vwlite.errors import ModelError
from vwlite.options import FLOAT32_MAX

# An object of JSON: a header, which ``require`` checks where it is read, or a report, whose schema is in docs/.
JsonObject = dict[str, Any]
DOUBLE = (2 - 2**-52) * 2.0**1023  # the largest finite number
INT_LIMIT = 1 << 64  # whole numbers are smaller than this in size
COUNT_LIMIT = 2**53  # counts are smaller than this: float64 holds them exactly
MAX_SHOWN_CHARACTERS = 40  # of a value in a message


class Between(NamedTuple):
    """The bounds of an annotated number, both inclusive."""

    low: float
    high: float


class Double:
    """The type of finite numbers of double precision; ``float`` means those of single precision, which kernels take."""


@contextmanager
def contents_of(path: str, what: str) -> Iterator[None]:
    """A context in which KeyError and ValueError mean that the file is not ``what``, and raise ModelError."""
    try:
        yield
    except ModelError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is not {what} ({error})") from error


@cache
def declared_types(kind: Any) -> Mapping[str, Any]:
    """The declared types of the fields of a configuration, or of the members of a ``TypedDict``, by name."""
    return get_type_hints(kind, include_extras=True)


def built(kind: type, stored: Any, **others: Any) -> Any:
    """A configuration from JSON data and from ``others``; lists become tuples, objects become nested configurations.

    Raises ValueError for an unknown field or a value that is not of the declared type, and UsageError as the
    configuration does.
    """
    require(stored, dict, kind.__name__)
    declared, known = declared_types(kind), {field.name for field in fields(kind)}
    for name in stored:
        if name not in known:
            raise ValueError(f"{excerpt(name)} is no option")
    values = {name: convert_json(value, declared[name], name) for name, value in stored.items() if name not in others}
    return kind(**values, **others)


def convert_json(value: Any, declared: Any, name: str) -> Any:
    """JSON data converted to the declared type of a field. Raises as ``built``."""
    if is_dataclass(declared):
        return built(declared, value)
    value = tuple(value) if isinstance(value, list) else value
    require(value, declared, name)
    return value


def check_types(values: Any) -> Any:
    """``values``, a configuration. Raises ValueError for the first field whose value is not of its declared type."""
    declared = declared_types(type(values))
    for field in fields(values):
        require(getattr(values, field.name), declared[field.name], field.name)
    return values


def require(value: Any, declared: Any, name: str) -> None:
    """Raises ValueError for the first part of ``value`` that is not of the declared type; ``name`` is for messages.

    Booleans are not numbers, whole numbers are accepted where ``float`` is declared, and numbers must be finite.
    """
    kind, inner = get_origin(declared) or declared, get_args(declared)
    parts: Iterable[tuple[Any, Any, str]] = ()
    if kind is Annotated:
        require(value, inner[0], name)
        right = inner[1].low <= value <= inner[1].high
    elif kind in (Union, UnionType):
        right = any(fits(value, one) for one in inner)
    elif kind is Literal:
        right = any(type(value) is type(one) and value == one for one in inner)
    elif kind in (list, tuple) and inner:
        right, parts = type(value) is kind, ((one, inner[0], name) for one in value) if type(value) is kind else ()
    elif is_typeddict(kind):
        right, parts = isinstance(value, dict), members(value, kind, name) if isinstance(value, dict) else ()
    elif kind is dict and inner:
        right = isinstance(value, dict)
        parts = ((one, inner[1], f"{name}.{key}") for key, one in value.items()) if right else ()
    else:
        right = is_one(value, kind)
    if not right:
        raise ValueError(f"{name} is {excerpt(value)}")
    for one, expected, path in parts:
        require(one, expected, path)


def members(value: JsonObject, kind: Any, name: str) -> Iterator[tuple[Any, Any, str]]:
    """Value, declared type and name of each member of an object. Raises ValueError for a missing one."""
    for key, declared in declared_types(kind).items():
        expected = get_args(declared)[0] if get_origin(declared) is NotRequired else declared
        if key in value:
            yield value[key], expected, f"{name}.{key}"
        elif expected is declared:
            raise ValueError(f"{name}.{key} is missing")


def fits(value: Any, declared: Any) -> bool:
    try:
        require(value, declared, "it")
    except ValueError:
        return False
    return True


def is_one(value: Any, kind: Any) -> bool:
    """Whether a single value is of a declared type."""
    if kind is Any:
        return True
    if kind in (None, type(None)):
        return value is None
    if kind in (float, Double):
        return type(value) in (int, float) and abs(value) <= (FLOAT32_MAX if kind is float else DOUBLE)
    if kind is int:
        return type(value) is int and abs(value) < INT_LIMIT
    if is_dataclass(kind):
        return isinstance(value, kind) and bool(check_types(value))
    return type(value) is kind and (kind is not str or is_text(value))


def is_text(value: str) -> bool:
    """Whether the text can be encoded: it has no surrogates but those that stand for bytes that are not UTF-8."""
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def excerpt(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."


def count_in(scalars: Mapping[str, Any], name: str) -> float:
    """A count among a learner's scalars. Raises ValueError for a number that cannot be a count, KeyError."""
    count = float(scalars[name])
    if not 0 <= count < COUNT_LIMIT:
        raise ValueError(f"{name} is {count}")
    return count
