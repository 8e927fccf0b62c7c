"""``vwlite explain``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS


@click.command("explain", cls=Command, context_settings=SETTINGS, short_help="Show why examples got their scores.")
@options.data_files
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", required=True, help="The model.")
@options.count("-n", "--top", help="Show the N strongest terms of each sum.", default=10, show_default=True)
@options.count("--classes", help="Of classes, show the sums of the N best.", default=2, show_default=True)
@options.json_option("Write the same as JSON; - is standard output, without text.")
@options.data_options
@options.memory_option
@options.bad_line_options
@options.quiet("Print nothing but errors and explanations.")
def command(**arguments: Any) -> int:
    """Show why examples got their scores: the terms of each sum, by name, those that move it most first.

    \b
    vwlite explain -i model odd.vw
    head -1 more.vw | vwlite explain -i model - --top 5
    vwlite explain -i model test.vw --json why.json

    A prediction is made of a sum of products, weight times value, to which an example's initial prediction is added, if
    it has one. Terms are named as in the text: namespace^feature, crossed ones joined by *. A dot product of a dyadic
    model is shown as products of two features, one of each side, whose weight is the product of their latent vectors.
    For classes there is a sum for each, of which the answer's and the next best are shown.

    The names are those of the text, and need not be in the model. Labels do not matter. A malformed line is reported;
    all others are explained, and the exit status reports it at the end: 65 beyond --max-bad-ratio.
    """
    from vwlite.cli.runs.explain import run

    return run(arguments)
