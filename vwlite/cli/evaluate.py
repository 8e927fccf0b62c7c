"""``vwlite evaluate``."""

from typing import Any

import click

from vwlite.cli import SETTINGS, options
from vwlite.cli.parser import Command


@click.command("evaluate", cls=Command, context_settings=SETTINGS, short_help="Measure a model on labelled text.")
@options.data_files
@click.option("-i", "--initial_regressor", "initial", metavar="MODEL", required=True, help="The model.")
@click.option("--metric", "metrics", metavar="A,B,...", help="Only these metrics. [default: all that apply]")
@click.option("--json", "json_path", metavar="FILE", help="Write the metrics as JSON; - is stdout, without table.")
@options.data_options
@options.bad_line_options
@click.option("--quiet", is_flag=True, help="Print nothing but errors and metrics.")
def command(**arguments: Any) -> int:
    """Measure a model on labelled text: loss, accuracy, AUC, log loss, MSE, MAE, calibration.

    \b
    vwlite evaluate -i model test.vw
    vwlite evaluate -i model test.vw --metric auc,log_loss --json -

    Importance weights count; examples without a label do not.
    """
    from vwlite.cli.runs.evaluate import run

    return run(arguments)
