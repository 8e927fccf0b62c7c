"""Which options of a command ``vwlite tune`` hands on: none that names a file, and none of its own."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from vwlite.cli.files import Difficulty, FileName
from vwlite.cli.parser import sentence
from vwlite.cli.root import plain
from vwlite.cli.runs.tuned import command_of
from vwlite.errors import UsageError
from vwlite.evaluation.tuning import Dimension
from vwlite.storage.named_files import NamedFile

OF_DATA = {"kind": "--format", "columns": "--columns"}
OURS = ("passes", "steps", "cache")  # names of parameters, beside those that name files


def read_fixed(text: str, beside: Mapping[str, Any] = MappingProxyType({}), command: str = "train") -> list[str]:
    """The options every trial has, read as the command reads them; ``beside``: those typed of ``OF_DATA``.

    Raises UsageError for those that are not to be handed on, or are typed twice.
    """
    try:
        words = shlex.split(text)
        values, _, order = command_of(command).make_parser(context(command)).parse_args(list(words))
    except ValueError as error:
        raise UsageError(f"--with: {error}") from error
    except click.UsageError as error:
        raise UsageError(f"--with: {sentence(error)}") from error
    files = values.get("files")  # click's own mark, or nothing, where there are none
    if isinstance(files, tuple) and files:
        raise UsageError(f"--with: {files[0]} is no option: {in_its_place(files, values.get('columns'))}")
    for param in order:
        check(param, "--with", param.opts[0], "hand on")
        if param.name in beside:
            raise UsageError(f"{param.opts[0]} is there twice: drop it from --with")
    return [*words, *(word for name, value in beside.items() for word in (OF_DATA[name], value))]


def in_its_place(files: Sequence[str], columns: str | None) -> str:
    """What is to be typed in place of ``files``, which are items of columns where their quotes were left out."""
    if columns and all("=" in one for one in files):
        return f"tune itself takes --columns, in quotes: --columns {shlex.quote(' '.join([columns, *files]))}"
    return "name data as FILE of tune"


def context(name: str) -> click.Context:
    command = command_of(name)
    return click.Context(command, info_name=name, **command.context_settings)


def check_varied(option: str, command: str) -> None:
    """Raises UsageError."""
    for param in command_of(command).get_params(context(command)):
        if isinstance(param, click.Option) and plain(option) in map(plain, (*param.opts, *param.secondary_opts)):
            check(param, "--vary", option, "vary")


def models_in(words: list[str], vary: Sequence[Dimension], name: str) -> Iterator[tuple[NamedFile, list[str], str]]:
    """What is handed on and may name a model all the same, as ``vwlite.storage.named_files.files_of`` has it."""
    values, _, _ = command_of(name).make_parser(context(name)).parse_args(list(words))
    for param in command_of(name).params:
        if isinstance(param.type, Difficulty):
            varied = [value for one in vary if plain(one.option) in map(plain, param.opts) for value in one.choices]
            yield param.type, [*varied, *filter(None, [values.get(param.name or "")])], param.opts[0]


def check(param: Any, where: str, option: str, what: str) -> None:
    names_file = isinstance(param.type, FileName) and not isinstance(param.type, Difficulty)
    if param.name in OURS or "--help" in param.opts or (names_file and isinstance(param, click.Option)):
        raise UsageError(f"{where}: {option} is not for tune to {what}")
