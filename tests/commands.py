"""The commands of the command line, those within groups included."""

import click

from vwlite.cli.aso import command as aso
from vwlite.cli.lm import command as lm
from vwlite.cli.root import COMMANDS, cli

GROUPS = {"aso": list(aso.commands), "lm": list(lm.commands)}
ABOUT = ("samples", "help", "completion")  # they have no options
TYPED = [name for name in COMMANDS if name not in (*GROUPS, *ABOUT)]
TYPED += [f"{group} {name}" for group, names in GROUPS.items() for name in names]


def command(name):
    """A command, or one of a group: ``aso learn``."""
    result = cli
    for word in name.split():
        result = result.get_command(click.Context(result), word)
    return result
