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
    shown = context.find_root()
    for word in words:
        if not isinstance(shown.command, click.Group):
            raise UsageError(f"{shown.command_path} has no commands of its own: see 'vwlite help {words[0]}'")
        name, found, _ = shown.command.resolve_command(shown, [word])
        assert found is not None  # otherwise an error was raised
        shown = click.Context(found, parent=shown, info_name=name, **found.context_settings)
    click.echo(shown.get_help())
