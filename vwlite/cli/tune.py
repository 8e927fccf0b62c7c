"""``vwlite tune``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.data.config import InputConfig
from vwlite.evaluation.config import TuneConfig


@click.command("tune", cls=Command, context_settings=SETTINGS, short_help="Search for the best options.")
@options.data_files
@options.options_in(TuneConfig)
@options.options_in(InputConfig, only=("kind", "columns"))
@options.output("model", model={"help": "Keep the best model there."})
@options.json_option("Write all trials as JSON; - is stdout.")
@options.quiet("Print nothing but the command line found.")
def command(**arguments: Any) -> int:
    """Search for the options of 'vwlite train', l1 or crr that do best on held-out data; print the command line found.

    \b
    vwlite tune train.vw --test held.vw --metric accuracy --vary "l 0.01..10"
    vwlite tune train.vw --test held.vw --vary "q off|ui" --vary "l2 off|1e-8|1e-6" --trials 9
    vwlite tune clicks.csv --columns "label=click user=age,city" --test held.csv --vary "l 0.1..5"
    vwlite tune train.vw --test held.vw --command l1 --with "--model crf" --metric f1 --vary "l 0.05..1"

    Options of the command may be named with or without their dashes. Values are drawn at random: low..high by
    the logarithm (whole numbers evenly), a|b|c one of them; 'off' leaves an option out, 'on' is a flag. All trials
    make a few passes, the best third of them is trained with three times as many, and so forth. What is printed did
    best of all that was tried, with these options and so many passes; the defaults (what --with leaves untouched) are
    tried too, with one pass and with any number the others make. The same seed gives the same answer, whatever the
    number of jobs.
    """
    from vwlite.cli.runs.tune import run

    return run(arguments)
