"""``vwlite completion``."""

import click

from vwlite.cli.parser import Choice
from vwlite.cli.root import SETTINGS


@click.command(
    "completion",
    context_settings=SETTINGS,
    short_help="Print what makes a shell complete command lines.",
)
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script that makes a shell complete commands, options, their values and names of files.

    \b
    vwlite completion bash > ~/.local/share/bash-completion/completions/vwlite
    vwlite completion zsh > ~/.zfunc/_vwlite          (a folder in fpath)
    vwlite completion fish > ~/.config/fish/completions/vwlite.fish

    The script holds all names and starts no program. Make it anew when another version is installed.
    """
    from vwlite.cli.runs.completion import script

    click.echo(script(shell), nl=False)
