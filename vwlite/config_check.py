"""Do values read from a file fit what is declared of them?

Declared are types, as annotations of a configuration or of a ``TypedDict`` have them, with ``Between`` for bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
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

from vwlite.numerals import FLOAT32_MAX

DOUBLE = (2 - 2**-52) * 2.0**1023  # the largest finite number
WIDEST = 1 << 64  # whole numbers from this on are nobody's
MOST = 2**53  # of what is counted in float64
SHOWN = 40  # characters of a value in a message


class Between(NamedTuple):
    """The bounds of an annotated number, both among its values."""

    low: float
    high: float


class Double:
    """Stands for finite numbers of any size, where ``float`` is for those that kernels take."""


def built(kind: type, stored: Any, **others: Any) -> Any:
    """A configuration from JSON data and from ``others``: lists stand for tuples, objects for configurations within.

    Raises ValueError for the first field that is none or whose value is not of its declared type, and UsageError as the
    configuration does.
    """
    require(stored, dict, kind.__name__)
    declared, known = get_type_hints(kind, include_extras=True), {field.name for field in fields(kind)}
    for name in stored:
        if name not in known:
            raise ValueError(f"{shown(name)} is no option")
    values = {name: taken(value, declared[name], name) for name, value in stored.items() if name not in others}
    return kind(**values, **others)


def taken(value: Any, declared: Any, name: str) -> Any:
    """JSON data as a field of a configuration holds them. Raises as ``built``."""
    if is_dataclass(declared):
        return built(declared, value)
    value = tuple(value) if isinstance(value, list) else value
    require(value, declared, name)
    return value


def check_types(values: Any) -> Any:
    """``values``, a configuration. Raises ValueError for the first field whose value is not of its declared type."""
    declared = get_type_hints(type(values), include_extras=True)
    for field in fields(values):
        require(getattr(values, field.name), declared[field.name], field.name)
    return values


def require(value: Any, declared: Any, name: str) -> None:
    """Raises ValueError for the first part of ``value``, which goes by ``name``, that is not as declared.

    Booleans are no numbers, whole numbers may stand for others, and numbers are finite.
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
        raise ValueError(f"{name} is {shown(value)}")
    for one, wanted, place in parts:
        require(one, wanted, place)


def members(value: dict[str, Any], kind: Any, name: str) -> Iterator[tuple[Any, Any, str]]:
    """What is declared of an object: its value, type and name. Raises ValueError for what is missing."""
    for key, declared in get_type_hints(kind, include_extras=True).items():
        wanted = get_args(declared)[0] if get_origin(declared) is NotRequired else declared
        if key in value:
            yield value[key], wanted, f"{name}.{key}"
        elif wanted is declared:
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
        return type(value) is int and abs(value) < WIDEST
    if is_dataclass(kind):
        return isinstance(value, kind) and bool(check_types(value))
    return type(value) is kind and (kind is not str or is_text(value))


def is_text(value: str) -> bool:
    """Whether it came of bytes, and can be made bytes again."""
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def count_in(scalars: Mapping[str, Any], name: str) -> float:
    """A count among a learner's scalars. Raises ValueError for what is none, KeyError."""
    count = float(scalars[name])
    if not 0 <= count < MOST:
        raise ValueError(f"{name} is {count}")
    return count
