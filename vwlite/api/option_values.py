"""How the values of options are read, typed or given in Python. Each raises ValueError for what is none."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from typing import Any

from vwlite.numerals import FLOAT32_MAX, read_decimal, read_whole
from vwlite.options import AUTO
from vwlite.storage.named_files import NamesInFile

MAX_LEVELS = 10000  # of a range


def number(value: Any) -> float:
    """A finite number of single precision."""
    try:
        read = read_decimal(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        read = math.nan
    if not math.isfinite(read):
        raise ValueError(f"{value!r} is not a finite number")
    if abs(read) > FLOAT32_MAX:
        raise ValueError(f"{value!r} is beyond the numbers of single precision, up to {FLOAT32_MAX:.7g}")
    return read


def integer(value: Any) -> int:
    """A whole number, also one of NumPy's."""
    try:
        return read_whole(value) if isinstance(value, str) else value.__index__()
    except (AttributeError, ValueError):
        raise ValueError(f"{value!r} is not a valid integer") from None


def text(value: Any) -> str:
    """A str, or a path."""
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a str")
    return value


def words(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Names separated by commas, or ``@FILE``, which has one in each line."""
    found = value if isinstance(value, tuple) else tuple(value.split(","))
    if isinstance(value, str) and value.startswith("@"):
        found = names_in_file(value[1:])
    if not all(found):
        raise ValueError(f"{value!r} has an empty name")
    return found


def names_in_file(path: str) -> tuple[str, ...]:
    try:
        with open(path, "rb") as file:
            lines = file.read().decode("utf-8", "surrogateescape").splitlines()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    return NamesInFile.of((name for line in lines if (name := line.strip())), path)


def classes(value: Any) -> Any:
    """A whole number, or ``auto``."""
    return value if value == AUTO else integer(value)


def class_weights(value: str | tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """``label:weight,label:weight``: pairs of numbers, the weights 0 or more."""
    if isinstance(value, tuple):
        return value
    pairs = label_weights(value, like="1:2,0:0.5")
    if not all(isinstance(label, float) and math.isfinite(label) for label, _ in pairs):
        raise ValueError(f"{value!r} is not like 1:2,0:0.5")
    return pairs  # type: ignore[return-value]


def label_weights(value: str, like: str = "red:2,blue:0.5") -> tuple[tuple[float | str, float], ...]:
    """The same of labels that are names or numbers."""
    pairs: list[tuple[float | str, float]] = []
    for pair in value.split(","):
        label, _, typed = pair.rpartition(":")
        weight = decimal_or_none(typed)
        if not label or weight is None or not 0 <= weight < math.inf:
            raise ValueError(f"{value!r} is not like {like}")
        number = decimal_or_none(label)
        pairs.append((label if number is None else number, weight))
    return tuple(pairs)


def decimal_or_none(text: str) -> float | None:
    try:
        return read_decimal(text)
    except ValueError:
        return None


def levels(value: str | tuple[float, ...]) -> tuple[float, ...]:
    """``1..5``, whole numbers one apart, or ``1,2,4``."""
    if isinstance(value, tuple):
        return tuple(map(number, value))
    low, dots, high = value.partition("..")
    if not dots:
        return tuple(map(number, value.split(",")))
    first, last = integer(low), integer(high)
    if last <= first:
        raise ValueError(f"{value!r} is no range of levels: the first is below the last")
    if last - first > MAX_LEVELS:
        raise ValueError(f"{value!r} are more than {MAX_LEVELS} levels")
    return tuple(map(float, range(first, last + 1)))


def per_output(value: Any) -> Any:
    """A number, or several: ``0.1,0.5,0.9``."""
    several = value.split(",") if isinstance(value, str) and "," in value else value
    return tuple(map(number, several)) if isinstance(several, list | tuple) else number(value)


def duration(value: Any) -> float:
    """Seconds: a number, or ``90s``, ``10m``, ``2h``."""
    if isinstance(value, int | float):
        return number(value)
    match = re.fullmatch(r"(\d+(?:\.\d*)?)([smh]?)", value, re.ASCII)
    if not match:
        raise ValueError(f"{value!r} is no length of time: 90s, 10m and 2h are")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def decays(value: Any) -> Any:
    """A number, or ``NS=X,NS=Y`` as it is."""
    return value if isinstance(value, str) and "=" in value else number(value)


def units(value: Any) -> str:
    """``300,200``, or the whole numbers themselves: one, or several."""
    if isinstance(value, str):
        return value
    return ",".join(str(integer(one)) for one in (value if isinstance(value, list | tuple) else (value,)))


READERS: dict[str, Callable[[Any], Any]] = {
    "float": number,
    "int": integer,
    "names": words,
    "classes": classes,
    "class_weights": class_weights,
    "label_weights": label_weights,
    "levels": levels,
    "decays": decays,
    "per_output": per_output,
    "duration": duration,
    "units": units,
}
