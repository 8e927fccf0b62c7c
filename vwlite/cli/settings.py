"""Options that are not on the command line: from the environment and, after that, from ``--config FILE``."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from vwlite.errors import InputMissing, UsageError
from vwlite.options import OptionValues

VARIABLE = "VWLITE_CONFIG"  # names the file where --config does not
SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
LARGEST = 1 << 20  # bytes of a file
UNSETTABLE = ("data", "config_file", "help")  # data are named where they are used


class Setting(NamedTuple):
    """An option with its value, as the command line's parser has it, and where it stands."""

    option: click.Option
    value: Any
    place: str


def read_settings(context: click.Context, typed: OptionValues) -> dict[str, Setting]:
    """The settings of a command, by the names of its parameters, without options that are ``typed``.

    Raises UsageError for unknown options and for values that are none, InputMissing.
    """
    path = typed.get("config_file") or os.environ.get(VARIABLE)
    values = [*(from_file(context, path) if path else ()), *from_environment(context)]
    return {str(value.option.name): value for value in values if value.option.name not in typed}


def from_environment(context: click.Context) -> Iterator[Setting]:
    """``VWLITE_TRAIN_LOSS_FUNCTION=logistic`` and the like."""
    prefix = "_".join(["VWLITE", *path_of(context), ""]).upper()
    for variable in sorted(os.environ):
        if variable.startswith(prefix) and os.environ[variable]:
            option = option_of(context, variable.removeprefix(prefix).lower(), f"${variable}")
            value = from_text(option, os.environ[variable], f"${variable}")
            if value is not None:
                yield Setting(option, value, f"${variable}")


def from_text(option: click.Option, text: str, place: str) -> Any:
    if not option.is_flag:
        import shlex  # which few runs need

        try:
            return shlex.split(text) if option.multiple else text
        except ValueError as error:  # of quotes
            raise UsageError(f"{place}: {error}") from None
    if text.lower() not in SWITCHES:
        raise UsageError(f"{place}: {text!r} is neither 1 nor 0")
    return switch_value(option, SWITCHES[text.lower()])


def from_file(context: click.Context, path: str) -> Iterator[Setting]:
    """The table of the command: ``[train]``, ``[aso.learn]``."""
    table, root = read(path), context.find_root().command
    commands = root.list_commands(context) if isinstance(root, click.Group) else list(table)
    for name in table:
        if name not in commands:
            raise UsageError(f"{path}: {raise_unknown('command', name, commands)}")
    words = path_of(context)
    for word in words:
        table = table.get(word, {})
        if not isinstance(table, dict):
            raise UsageError(f"{path}: {word} is not a table: write [{'.'.join(words)}]")
    for key, content in table.items():
        place = f"{path} [{'.'.join(words)}] {key}"
        option = option_of(context, key, place)
        value = from_toml(option, content, place)
        if value is not None:
            yield Setting(option, value, place)


def read(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise UsageError(f"{path} is not a configuration file: it has more than {LARGEST} bytes")
        return tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise InputMissing(f"cannot open the configuration {path}: {error.strerror}") from error
    except UsageError:
        raise
    except (ValueError, RecursionError) as error:  # TOML's own, and of text that is not UTF-8 or is nested too deep
        raise UsageError(f"{path}: {error}") from error


def from_toml(option: click.Option, content: Any, place: str) -> Any:
    parts = content if isinstance(content, list) else [content]
    if option.is_flag and isinstance(content, bool):
        return switch_value(option, content)
    if option.is_flag:
        raise UsageError(f"{place}: {content!r} is not true or false")
    if not all(isinstance(part, str | int | float) and not isinstance(part, bool) for part in parts):
        raise UsageError(f"{place}: {content!r} is not a value of the option")
    texts = [str(part) for part in parts]
    return texts if option.multiple else ",".join(texts)


def switch_value(option: click.Option, on: bool) -> bool | None:
    """Return the value of a switch that is off; None where off is what there is without the option."""
    return on if on or option.secondary_opts else None


def option_of(context: click.Context, name: str, place: str) -> click.Option:
    """The option of that name, which is one of its spellings without dashes, or its name in Python."""
    known = {}
    for param in context.command.params:
        if isinstance(param, click.Option) and param.name not in UNSETTABLE:
            spelled = [opt.lstrip("-") for opt in param.opts]
            known.update({plain_name(key): param for key in (str(param.name), *spelled)})
    if plain_name(name) not in known:
        raise UsageError(f"{place}: {raise_unknown('option', name, known)}")
    return known[plain_name(name)]


def plain_name(name: str) -> str:
    """Names may have ``-`` or ``_`` between words."""
    return name.replace("-", "_")


def raise_unknown(what: str, name: str, known: Any) -> str:
    from difflib import get_close_matches

    near = get_close_matches(plain_name(name), known, n=1)
    return f"no such {what} {name}{f' (did you mean {near[0]}?)' if near else ''}"


def path_of(context: click.Context) -> list[str]:
    """The words of the command, without the program's name."""
    words = []
    at: click.Context | None = context
    while at is not None and (at.parent is not None or not isinstance(at.command, click.Group)):
        words.insert(0, str(at.command.name))
        at = at.parent
    return words
