"""``vwlite train``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Predictions, Reads, Writes
from vwlite.cli.parser import Command, Duration
from vwlite.cli.root import SETTINGS
from vwlite.storage.output_checks import BEST, CHECKPOINT, LEDGER, LOCK


@click.command("train", cls=Command, context_settings=SETTINGS, short_help="Learn a model from text.")
@options.data_files
@options.file(
    *(Writes("model", LOCK, CHECKPOINT, BEST, LEDGER), "-f", "--final_regressor", "model"),
    help="Write the model there.",
)
@options.file(
    *(Reads("model", LEDGER), "-i", "--initial_regressor", "initial"), help="Go on exactly where this model stopped."
)
@options.data_options
@options.cache_options
@options.pass_options
@options.curriculum_options
@options.options_of_learners()
@options.class_weights
@options.table_options
@options.feature_options
@options.bad_line_options
@options.file(
    *(Predictions(CHECKPOINT), "-p", "--predictions"), help="Write the prediction made before each update; - is stdout."
)
@options.file(Predictions(CHECKPOINT), "-r", "--raw_predictions", help="The same before clipping and link.")
@options.file(Writes("text", BEST), "--readable_model", help="Write the model as text.")
@options.file(Writes("text", BEST), "--invert_hash", help="Write it as text with the features' names.")
@click.option("--names", is_flag=True, help="Keep the features' names in the model, for 'vwlite inspect'.")
@click.option("--save_per_pass", is_flag=True, help="Also write MODEL.1, MODEL.2, ... after each pass.")
@click.option("--predict_only_model", is_flag=True, help="A smaller model that cannot go on learning.")
@click.option(
    "--checkpoint-every", type=Duration(), metavar="TIME", help="Write MODEL.ckpt every so often: 90s, 10m, 2h."
)
@click.option("--resume", is_flag=True, help="Go on where this command was stopped, from MODEL.ckpt if there is one.")
@click.option(
    "--skip-seen",
    is_flag=True,
    help="Skip files that the model of -i has learned, after MODEL.ledger. With -i M -f M: begin where there is no M.",
)
@options.lock_option
@options.json_option("Write counts and losses as JSON; - is stdout.")
@options.progress_options
@options.bar_options
def command(**arguments: Any) -> int:
    """Learn a model from text.

    FILEs are read one after the other; none, or -, means standard input. Compressed input is recognised by its content.

    \b
    vwlite train train.vw -f model --loss_function logistic
    zcat days/*.gz | vwlite train -f model -b 24 -q ui
    vwlite train more.vw -i model -f model            (go on with more data)
    vwlite train ratings.vw -f model -c --passes 10   (holds out every tenth line)

    Malformed lines are never learned from: they are counted, and the first ten shown. Labels of two-class losses are
    0/1 or -1/1. Predictions of a logistic model are probabilities, those of a poisson model expected counts.
    """
    from vwlite.cli.runs.train import run

    return run(arguments)


# First in --help, in this order.
command.common = (  # type: ignore[attr-defined]
    *("model", "initial", "loss_function", "learning_rate", "passes", "bits", "quadratic"),
    *("l1", "l2", "names", "quiet"),
)
