"""``vwlite cut``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.errors import UsageError
from vwlite.options import OptionValues
from vwlite.solvers.cut.config import CutConfig

if TYPE_CHECKING:
    from vwlite.solvers.cut.find import Cut


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
    return run(arguments)


def run(arguments: OptionValues) -> int:
    from vwlite.cli import build
    from vwlite.cli.output import write_json
    from vwlite.cli.runs.solve import open_reader
    from vwlite.data.config import input_config
    from vwlite.data.text_format import TextFormat
    from vwlite.options import GIB
    from vwlite.solvers.cut.config import CutConfig
    from vwlite.solvers.cut.edges import read_edges
    from vwlite.solvers.cut.find import entry_check, find
    from vwlite.training.listener import DisplayMonitor
    from vwlite.training.prediction_writer import PredictionWriter

    request = build.request()
    config, input = request.config(CutConfig), input_config(request.values)
    memory = arguments["memory"] * GIB
    if input.kind == "svmlight":
        raise UsageError("--format svmlight has no names, which the nodes of a graph need")
    with open_reader(request) as reader:
        inputs = reader.open(input, TextFormat(names=True).of_words(), at_once=True)
        if inputs.hint:
            raise UsageError(f"the table has no column of nodes{inputs.hint}")
        edges = read_edges(inputs, reader.policy, entry_check(memory))
        cut = find(edges, config, memory, input.threads, DisplayMonitor(reader.display, "products"))
        with PredictionWriter(arguments["predictions"]) as writer:
            writer.write_bytes(lines_of(cut))
    if arguments["json_path"]:
        lines = {"lines": reader.policy.lines, "bad_lines": reader.policy.bad}
        write_json(arguments["json_path"], {**lines, **cut.facts()})
    return 141 if writer.broken else 0


def lines_of(cut: Cut) -> bytes:
    clusters = [b"none" if number < 0 else b"%d" % number for number in cut.cluster.tolist()]
    return b"".join(b"%s\t%s\n" % pair for pair in zip(cut.nodes, clusters, strict=True))
