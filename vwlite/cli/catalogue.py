"""All commands and their options, as completion and pages of reference list them."""

from collections.abc import Iterator
from typing import NamedTuple

import click

from vwlite.cli.files import FileName
from vwlite.cli.root import COMMANDS, cli

FILES = "files"  # in place of words: what is to be typed is the name of a file


class Known(NamedTuple):
    """A command with what may be typed after it."""

    name: str  # as it is typed: "aso learn"
    context: click.Context

    @property
    def command(self) -> click.Command:
        return self.context.command

    @property
    def options(self) -> list[click.Option]:
        """Those that its help shows."""
        params = self.command.get_params(self.context)
        return [one for one in params if isinstance(one, click.Option) and not one.hidden]

    @property
    def words(self) -> list[str] | str:
        """What may stand beside options: the names of commands, values of arguments, or FILES."""
        if isinstance(self.command, click.Group):
            return self.command.list_commands(self.context)
        if self.name == "help":
            return list(COMMANDS)
        found = [values_of(one) for one in self.command.params if isinstance(one, click.Argument)]
        words = [word for values in found if values != FILES for word in values]
        return words or (FILES if FILES in found else [])


def values_of(param: click.Parameter) -> list[str] | str:
    """What an option or argument takes: some words, FILES, or what nobody can foresee (no words)."""
    if isinstance(param.type, FileName):
        return FILES
    return list(param.type.choices) if isinstance(param.type, click.Choice) else []


def catalogue() -> list[Known]:
    """The command line itself, all commands, and those of groups, each after its group."""
    return list(below(Known("", click.Context(cli, info_name="vwlite", **cli.context_settings))))


def below(known: Known) -> Iterator[Known]:
    yield known
    if isinstance(known.command, click.Group):
        for name in known.command.list_commands(known.context):
            found = known.command.get_command(known.context, name)
            assert found is not None
            context = click.Context(found, parent=known.context, info_name=name, **found.context_settings)
            yield from below(Known(f"{known.name} {name}".strip(), context))
