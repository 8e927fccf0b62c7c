"""``vwlite project``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Choice, Command
from vwlite.cli.root import SETTINGS


@click.command("project", cls=Command, context_settings=SETTINGS, short_help="Write examples as principal components.")
@options.data_files
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", required=True, help="A model of vwlite pca.")
@options.output("predictions", predictions={"help": "File for the lines.", "default": "-"})
@click.option(
    "--scale", type=Choice(("none", "left")), default="none", metavar="none|left", show_default=True,
    help="left: divide components by their singular values.",
)
@options.data_options
@options.bad_line_options
@options.quiet()
def command(**arguments: Any) -> int:
    """Write every example as its principal components: '1 'tag |pca 0:0.031 1:-0.2 ...'.

    \b
    vwlite project -i model new.vw > new.pca
    vwlite project -i model new.vw | vwlite train -f classifier

    Labels, importance and tags are kept. A malformed line becomes an empty line.
    """
    from vwlite.cli.runs.pca import project

    return project(arguments)
