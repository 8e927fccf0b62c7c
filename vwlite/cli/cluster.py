"""``vwlite cluster``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.solvers.clusters.config import ClusterConfig


@click.command("cluster", cls=Command, context_settings=SETTINGS, short_help="Find clusters of text by k-means.")
@options.data_files
@options.solver_output()
@options.options_in(ClusterConfig)
@options.data_options
@options.cache_options_without_k
@options.table_options
@options.feature_options_without_constant
@options.weighting_options
@options.random_options
@options.bad_line_options
@options.names_option
@options.restart_options
@options.json_option("Write sizes and distances of the clusters as JSON; - is stdout.")
@options.quiet()
def command(**arguments: Any) -> int:
    """Find clusters of text by k-means, without its labels.

    \b
    vwlite cluster text.vw -f model -k 20 --spherical --weight idf --names
    vwlite predict -i model new.vw
    vwlite inspect model --top 10

    Labels are any words; they are not looked at. Examples go to the nearest mean and means to their examples until no
    example changes its cluster; examples are kept in memory where there is room, else they are read from a cache, a
    temporary one when none is named. The start are examples drawn by --random_seed, with -i the means of a model;
    --restarts tries several. --batch moves means after every N examples, which takes fewer passes and finds clusters
    that are less tight. With --spherical only the direction of examples counts, as texts of different length need it.
    With --cut the clusters are those of a graph whose weights are the examples' dot products: the normalised cut.
    """
    from vwlite.cli.runs.cluster import run

    return run(arguments)


command.screen = {  # type: ignore[attr-defined]
    "Model": options.MODEL,
    "What is learned": ("clusters", "spherical", "cut", "soft"),
    "From what": (*options.FROM_WHAT, "weight", "unit"),
    "How": ("passes", "batch", "restarts", "seed"),
    "Output": options.OUTPUT,
    "Nightly jobs": options.NIGHTLY,
}
