"""``vwlite train``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.data.config import FoldConfig, ShardConfig
from vwlite.training.config import INITIAL, OutputConfig


@click.command("train", cls=Command, context_settings=SETTINGS, short_help="Learn a model from text.")
@options.data_files
@options.options_in(OutputConfig, "Output", only=("model",))
@options.declared(INITIAL)
@options.data_options
@options.cache_options
@options.pass_options
@options.options_in(FoldConfig, "Passes")
@options.curriculum_options
@options.options_of_learners()
@options.class_weights
@options.table_options
@options.feature_options
@options.weighting_options
@options.random_options
@options.learned_options
@options.theta_options
@options.bad_line_options
@options.options_in(
    OutputConfig, "Output",
    only=(
        "predictions", "raw_predictions", "readable_model", "invert_hash", "names", "save_per_pass",
        "predict_only_model", "support",
    ),
)
@options.restart_options
@options.options_in(ShardConfig, "Shards")
@options.family("Output", options.json_option("Write counts and losses as JSON; - is stdout."))
@options.options_in(
    OutputConfig, "Progress",
    only=("progress", "by_file", "quiet"),
    quiet={"help": "Print nothing but errors. Files that are learned again are warned of."},
)
@options.bar_options
def command(**arguments: Any) -> int:
    """Learn a model from text.

    FILEs are read one after the other, those of a folder by their names; none, or -, means standard input. Compressed
    input is recognised by its content.

    \b
    vwlite train train.vw -f model --loss_function logistic
    zcat days/*.gz | vwlite train -f model -b 24 -q ui
    vwlite train more.vw -i model -f model            (go on with more data)
    vwlite train ratings.vw -f model -c --passes 10   (holds out every tenth line)
    vwlite train ratings.vw -f model --folds 5        (says how well it would do on other data)

    Malformed lines are never learned from: they are counted, and the first ten shown. Labels of two-class losses are
    0/1 or -1/1. Predictions of a logistic model are probabilities, those of a poisson model expected counts.
    """
    from vwlite.cli.runs.train import run

    return run(arguments)


command.screen = {  # type: ignore[attr-defined]
    "Model": options.MODEL,
    "What is learned": ("loss_function", "oaa", "multilabel_oaa", "dotproduct"),
    "From what": options.FROM_WHAT,
    "How": ("learning_rate", "passes", "cache", "l1", "l2", "shuffle_first"),
    "Output": ("predictions", *options.OUTPUT),
    "Nightly jobs": options.NIGHTLY,
}
