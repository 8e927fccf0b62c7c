"""``vwlite landmarks``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Writes
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS


@click.command("landmarks", cls=Command, context_settings=SETTINGS, short_help="Choose lines for --landmarks.")
@options.data_files
@options.count("--count", help="Lines to choose.", default=1000, show_default=True)
@click.option("--seed", "--random_seed", "seed", type=int, default=0, show_default=True, help="Of the choice.")
@options.file(Writes("text", stdout=True), "-o", "--out", default="-", help="Where they go. [default: stdout]")
@options.bad_line_options
@options.quiet()
def command(**arguments: Any) -> int:
    """Choose lines of a text at random, for --landmarks of train, crr and pca.

    \b
    vwlite landmarks train.vw --count 500 -o landmarks.vw
    vwlite train train.vw --landmarks rbf:landmarks.vw --whiten -f model

    Every example is as likely as any other; the lines stay as they are and in their order. A file of lines written by
    hand does as well. The same seed chooses the same lines, from a file or a pipe.
    """
    from vwlite.cli.runs.landmarks import run

    return run(arguments)
