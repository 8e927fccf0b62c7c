"""``vwlite report``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads, Writes
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS


@click.command("report", cls=Command, context_settings=SETTINGS, short_help="Draw runs, from their JSON.")
@click.argument("runs", nargs=-1, type=Reads("report"), metavar="RUN.json...")
@options.file(Writes("page", stdout=True), "-o", "--output", "out", help="The page, as HTML; - is stdout.")
@options.flag("--text", help="Print a curve of the losses, in the dots of braille characters.")
@options.file(Reads("test data"), "--test", "tests", multiple=True, help="Measure the model on this. Repeatable.")
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", help="The model that --test measures.")
@options.test_options
@options.memory_option
@options.bad_line_options
@options.quiet("Print nothing but errors, and what was asked for.")
def command(**arguments: Any) -> int:
    """Draw runs from the reports of 'vwlite train --json' and others, several in one chart.

    \b
    vwlite train train.vw -f model --json run.json
    vwlite report run.json -o report.html
    vwlite report run.json other.json -o report.html --test test.vw -i model
    vwlite report run.json --text

    The page is one file without scripts: losses while learning, figures, data, and the options in which runs differ;
    with --test ROC, precision and recall, calibration, predictions by label, confusion and the strongest features.
    """
    from vwlite.cli.runs.report import run

    return run(arguments)
