"""``vwlite pca``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.solvers.pca.config import PcaConfig


@click.command("pca", cls=Command, context_settings=SETTINGS, short_help="Find principal components of text.")
@options.data_files
@options.solver_output()
@options.options_in(PcaConfig)
@options.data_options
@options.cache_options
@options.table_options
@options.feature_options_without_constant
@options.weighting_options
@options.random_options
@options.bad_line_options
@options.names_option
@options.restart_options
@options.json_option("Write singular values and counts as JSON; - is stdout.")
@options.quiet()
def command(**arguments: Any) -> int:
    """Find the principal components of text, without its labels.

    \b
    vwlite pca text.vw -f model --dim 100 --weight idf --unit --names
    vwlite project -i model new.vw > new.pca
    vwlite inspect model --top 10

    Labels are any words; they are not looked at. No example is kept: memory is two numbers of each column for each slot
    that occurs. Several passes read a cache, a temporary one when none is named; with --passes 1 nothing is kept, and
    the components are rough. With -i later text is added to a model's. Halko, Martinsson and Tropp, SIAM Review 53
    (2011).
    """
    from vwlite.cli.runs.pca import run

    return run(arguments)


command.screen = {  # type: ignore[attr-defined]
    "Model": options.MODEL,
    "What is learned": ("dim", "center"),
    "From what": (*options.FROM_WHAT, "weight", "unit"),
    "How": ("passes", "oversample", "seed"),
    "Output": options.OUTPUT,
    "Nightly jobs": options.NIGHTLY,
}
