"""``vwlite merge``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.config_check import JsonObject
from vwlite.data.config import BadLinesConfig
from vwlite.options import OptionValues

if TYPE_CHECKING:
    from vwlite.storage.model_file import Model


@click.command("merge", cls=Command, context_settings=SETTINGS, short_help="Make one model of several.")
@click.argument("models", nargs=-1, type=Reads("model"), metavar="MODEL...")
@options.output("model", model={"help": "Write the merged model there.", "required": True})
@options.file(Reads("model"), "--base", help="The model that all of them began with. [default: none]")
@options.options_in(BadLinesConfig, only=("max_ratio",))
@options.json_option("Write the merged model's counts as JSON; - is stdout.")
def command(**arguments: Any) -> int:
    """Make one model of several: of the deltas of all shards of a round, or of ordinary models made apart.

    \b
    vwlite train day/*.vw --shard 1/4 -i base -f 1.delta     (and 2/4, 3/4, 4/4, anywhere)
    vwlite merge --base base *.delta -f model
    vwlite merge monday tuesday -f both

    Shards are merged in their order, whatever the order of the files. Of ordinary models, and of those of 'vwlite crr',
    weights are averaged, each by the examples it has learned since the base, over the models that changed them.
    """
    return run(arguments)


def run(arguments: OptionValues) -> int:
    from vwlite.cli.output import write_json
    from vwlite.distributed.merge import merge_files, write
    from vwlite.storage.output_checks import lock

    with lock(arguments["model"], 0.0):
        merged = merge_files(arguments["models"], arguments["base"], arguments["max_bad_ratio"])
        write(arguments["model"], merged)
    if arguments["json_path"]:
        write_json(arguments["json_path"], report(merged))
    return 0


def report(merged: Model) -> JsonObject:
    """Return what the merged model has learned, its base included."""
    counters = merged.header["counters"]
    weight = counters["labeled_weight"]
    return {
        "examples": counters["example_number"],
        "passes": merged.header["passes"],
        "average_loss": counters["sum_loss"] / weight if weight else None,
    }
