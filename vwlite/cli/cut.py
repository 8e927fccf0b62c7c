"""``vwlite cut``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.solvers.cut.config import CutConfig


@click.command("cut", cls=Command, context_settings=SETTINGS, short_help="Cut a graph into clusters.")
@options.data_files
@options.options_in(CutConfig)
@options.output("predictions", predictions={"help": "Where the clusters go.", "default": "-"})
@options.usual_memory_option
@options.data_options
@options.bad_line_options
@options.json_option("Write cuts, volumes and eigenvalues as JSON; - is stdout, with -p elsewhere.")
@options.quiet()
def command(**arguments: Any) -> int:
    """Cut a graph into clusters with little weight between them: the normalised cut.

    \b
    vwlite cut graph.vw -k 10 > clusters
    vwlite cut graph.vw -k 10 -p clusters --json report.json

    A line is a node and its neighbours, 'node |n other:weight other:weight'; a weight that is left out is 1. An edge
    may stand at either end or at both. Weights are 0 or more. The output has a line for each node, in the order of
    their appearance: name, tab, cluster from 0, or 'none' for a node without edges.

    The sum over the clusters of the weight that leaves them, over their volume, is made small: k-means of the largest
    eigenvectors (Shi and Malik, 2000; Ng, Jordan and Weiss, 2001), then moves of nodes (Dhillon, Guan and Kulis, 2004).
    """
    from vwlite.cli.runs.cut import run

    return run(arguments)
