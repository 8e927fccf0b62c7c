"""``vwlite predict``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Predictions, Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS


@click.command("predict", cls=Command, context_settings=SETTINGS, short_help="Predict with a model.")
@options.data_files
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", required=True, help="The model.")
@options.file(Predictions(), "-p", "--predictions", default="-", show_default=True, help="Where predictions go.")
@click.option("--raw", is_flag=True, help="Margins: the plain sum of weights times values, clipped, without the link.")
@options.file(Predictions(), "-r", "--raw_predictions", help="Also write the sums, neither clipped nor linked.")
@click.option(
    *("--confidence", "--active", "confidence"),
    is_flag=True,
    help="Beside each prediction, the importance that would flip its sign: labels of the least are worth asking for.",
)
@click.option("--probabilities", is_flag=True, help="Beside a label by name, every label's probability.")
@click.option("-t", "--testonly", is_flag=True, hidden=True, help="What this command does anyway.")
@options.data_options
@options.bad_line_options
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(**arguments: Any) -> int:
    """Predict with a model: one line per example, the prediction and the example's tag.

    \b
    vwlite predict -i model test.vw > predictions
    head -1000 more.vw | vwlite predict -i model -

    Predictions of a logistic model are probabilities, those of a poisson model expected counts; --raw gives margins.
    A malformed line is reported, and its prediction is 'nan', so that predictions stay beside their lines; however many
    there are, all others have their answers, in pipes and in files, and the exit status tells at the end: 65 beyond
    --max-bad-ratio (70 where features were so large that a prediction is not a finite number). Empty lines have none.
    Labels do not matter. A model of labels by name predicts these: for sequences the most likely one
    (Viterbi), whose empty lines are kept; --probabilities adds 'label:probability' of all labels (marginals, in
    sequences).
    """
    from vwlite.cli.runs.predict import run

    return run(arguments)
