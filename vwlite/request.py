"""What a command line, a call or an estimator asks for: values of options, and which of them were given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from vwlite.options import Config, Option, options_of

C = TypeVar("C", bound=Config)


class Request:
    """Options as a door took them, made once; below the door configurations are taken out of it, and nothing else.

    ``values`` of all options by their keys, ``given``: the keys of those that somebody gave. ``known``: the options
    that the door takes, whatever was given.
    """

    def __init__(self, values: Mapping[str, Any], given: Collection[str], known: Mapping[str, Option]) -> None:
        self.values, self.known = dict(values), known
        self.given = {name: self.values[name] for name in given if name in self.values}

    def config(self, kind: type[C], **more: Any) -> C:
        """The configuration with the values asked for; ``more``: fields that are no options. Raises UsageError."""
        return kind(**{**more, **fields_of(kind, self.values)})

    def changes(self, kind: type[Config]) -> dict[str, Any]:
        """The fields of a configuration whose options were given."""
        return fields_of(kind, self.given)

    def spelled(self, key: str) -> str:
        """An option as it is typed."""
        return self.known[key].display_name if key in self.known else f"--{key}"


def fields_of(kind: type[Config], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those fields of a configuration whose options have a value."""
    found = {one.name: values.get(one.key) for one in options_of(kind).values()}
    return {name: value for name, value in found.items() if value is not None}
