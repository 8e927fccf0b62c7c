"""The options of ``vwlite train`` as keyword arguments and as one string, read from their declarations."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners import config_classes
from vwlite.learners.losses import LossConfig
from vwlite.numerals import FLOAT32_MAX, read_decimal, read_whole
from vwlite.options import Option, options_of
from vwlite.training.config import CurriculumConfig, OutputConfig, RunConfig

OF_RUNS = (InputConfig, HoldoutConfig, CurriculumConfig, RunConfig, BadLinesConfig)
OF_FILES = ("kill_cache", "keep", "block_size")  # of the configurations of runs: they are about files


@cache
def declared() -> Mapping[str, Option]:
    """The options that a model takes, by the name under which configurations are made of them."""
    found: dict[str, Option] = {}
    for config in (FeatureConfig, LossConfig, *config_classes(), *OF_RUNS):
        for one in options_of(config).values():
            if not one.vw_only and not (config in OF_RUNS and one.name in OF_FILES):
                found.setdefault(one.key, one)
    return {**found, "names": options_of(OutputConfig)["names"]}


@cache
def names() -> Mapping[str, str]:
    """What every spelling of an option, as a Python name, stands for."""
    found = {key: key for key in declared()}
    for key, one in declared().items():
        for spelling in one.spelled:
            for name in spelling.split("/"):
                if name.startswith("--") and not name.startswith("--no-"):
                    found.setdefault(name[2:].replace("-", "_"), key)
    return found


def read_options(args: str, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a string, as they are typed after ``vwlite train``, and of keyword arguments, which come last.

    Raises UsageError for unknown ones, with those that are spelled much like them, and for values of another type.
    """
    options = from_string(args)
    for name, value in keywords.items():
        key = names().get(name)
        if key is None:
            raise UsageError(f"no such option {name}{proposal(name, names())}")
        if value is not None:
            options[key] = converted(declared()[key], value)
    return {key: value for key, value in options.items() if value is not False or declared()[key].default is not False}


def proposal(name: str, known: Mapping[str, Any]) -> str:
    near = [one for one in known if one.startswith(name)][:5] or get_close_matches(name, known, n=1)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def converted(one: Option, value: Any) -> Any:
    """A keyword's value as configurations take it. Raises UsageError."""
    if one.type == "bool":
        if not isinstance(value, bool):
            raise UsageError(f"{one.display_name} takes True or False, not {value!r}")
        return value
    if one.type.startswith("tuple") and not isinstance(value, str):
        return tuple(tuple(part) if isinstance(part, list) else part for part in value)
    return reader(one)(value) if not repeatable(one) else (value,)


def repeatable(one: Option) -> bool:
    return one.type == "tuple[str, ...]" and not one.read_as


def reader(one: Option) -> Callable[[Any], Any]:
    """What reads a value; it raises UsageError."""
    read: Callable[[Any], Any] = READERS.get(one.read_as or one.type, text)

    def value_of(value: Any) -> Any:
        try:
            found = read(value)
        except (TypeError, ValueError) as error:
            raise UsageError(f"{one.display_name}: {error}") from None
        one.check(found)
        return found

    return value_of


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
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a str")
    return value


def words(value: str) -> tuple[str, ...]:
    """Names separated by commas."""
    found = tuple(value.split(","))
    if not all(found):
        raise ValueError(f"{value!r} has an empty name")
    return found


def class_weights(value: str) -> tuple[tuple[float, float], ...]:
    """``label:weight,label:weight``: pairs of numbers, the weights 0 or more."""
    try:
        pairs = [tuple(map(read_decimal, pair.split(":"))) for pair in value.split(",")]
    except ValueError:
        pairs = [()]
    if not all(len(pair) == 2 and math.isfinite(sum(pair)) and pair[1] >= 0 for pair in pairs):
        raise ValueError(f"{value!r} is not like 1:2,0:0.5")
    return tuple(pairs)  # type: ignore[arg-type]


READERS: dict[str, Callable[[Any], Any]] = {
    "float": number,
    "int": integer,
    "names": words,
    "class_weights": class_weights,
}


def from_string(args: str) -> dict[str, Any]:
    """The options of words as they are typed; of one that is given twice the last value counts, or both."""
    try:
        words = shlex.split(args)
    except ValueError as error:
        raise UsageError(f"{args!r}: {error}") from None
    found: dict[str, Any] = {}
    while words:
        word = words.pop(0)
        short = word[:1] == "-" != word[1:2]
        name, equals, value = (word[:2], word[2:], word[2:]) if short else word.partition("=")
        known = spellings().get(plain(name))
        if known is None:
            raise UsageError(f"no such option {name}{proposal(name, spellings())}")
        key, is_on = known
        one = declared()[key]
        if one.type == "bool":
            if equals:
                raise UsageError(f"option '{name}' does not take a value")
            found[key] = is_on
            continue
        if not equals and not words:
            raise UsageError(f"option '{name}' requires an argument")
        read = reader(one)(value if equals else words.pop(0))
        found[key] = (*found.get(key, ()), read) if repeatable(one) else read
    return found


@cache
def spellings() -> Mapping[str, tuple[str, bool]]:
    """What is typed: the option that it stands for, and whether it switches it on."""
    return {
        plain(name): (key, not (place and "/" in spelling))
        for key, one in declared().items()
        for spelling in one.spelled
        for place, name in enumerate(spelling.split("/"))
    }


def plain(name: str) -> str:
    """Names may be typed with ``-`` or ``_`` between words."""
    return name[:2] + name[2:].replace("-", "_")
