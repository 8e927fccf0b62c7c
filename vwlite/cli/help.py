"""``vwlite help``."""

import click

from vwlite.cli.root import SETTINGS
from vwlite.errors import UsageError


@click.command("help", context_settings=SETTINGS, short_help="Show the help of a command.")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Show the help of a command; without one, the list of commands.

    \b
    vwlite help train
    vwlite help aso learn
    """
    context_shown = context.find_root()
    for word in words:
        if not isinstance(context_shown.command, click.Group):
            raise UsageError(f"{context_shown.command_path} has no commands of its own: see 'vwlite help {words[0]}'")
        name, subcommand, _ = context_shown.command.resolve_command(context_shown, [word])
        assert subcommand is not None  # otherwise an error was raised
        context_shown = click.Context(subcommand, parent=context_shown, info_name=name, **subcommand.context_settings)
    click.echo(context_shown.get_help())
