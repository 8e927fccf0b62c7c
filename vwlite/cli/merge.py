"""``vwlite merge``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.data.config import BadLinesConfig


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

    Shards are merged in their order, whatever the order of the files. Of ordinary models weights are averaged, each by
    the examples it has learned since the base, over the models that changed them.
    """
    from vwlite.cli.runs.merge import run

    return run(arguments)
