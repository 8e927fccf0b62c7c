"""Names of namespaces in ``--dotproduct`` and in options beside it: one letter, or a whole name."""

from __future__ import annotations

from collections.abc import Iterable

from vwlite.errors import UsageError


def sides_of_pair(pair: str) -> tuple[str, ...]:
    """The namespaces of a pair as typed: ``ui`` or ``user,item``."""
    return tuple(pair.split(",") if "," in pair else pair)


def covers(name: str, side: str) -> bool:
    """Whether everything in namespace ``side`` is in ``name``: a letter stands for all names that begin with it.

    A character of several bytes is no letter, but a name.
    """
    single = len(name.encode("utf-8", "surrogateescape")) == 1
    return name == side or (single and side.startswith(name))


def read_numbers(text: str, option: str) -> dict[str, float]:
    """``NS=X,NS=Y``. Raises UsageError."""
    numbers: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not (name and equals):
            raise UsageError(f"{option} takes numbers by namespace, like user=0.1, not {part!r}")
        if name in numbers:
            raise UsageError(f"{option} names {name} twice")
        numbers[name] = number
    return numbers


def check_crossed(name: str, option: str, crossed: Iterable[str]) -> None:
    """Raises UsageError where no pair and no interaction, as typed, has the namespace."""
    for value in crossed:
        for side in sides_of_pair(value):
            if side == ":" or covers(name, side) or covers(side, name):
                return
    raise UsageError(f"{option}: no pair of --dotproduct and no interaction has the namespace {name!r}")
