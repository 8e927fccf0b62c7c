"""``vwlite crr``: combined regression and ranking."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.features.config import QueryConfig
from vwlite.learners.losses import LossConfig
from vwlite.solvers.crr.config import LOSS_NAMES, CrrConfig
from vwlite.training.config import CurriculumConfig


@click.command("crr", cls=Command, context_settings=SETTINGS, short_help="Learn to rank and to predict at once.")
@options.data_files
@options.solver_output()
@options.options_in(CrrConfig)
@options.options_in(
    LossConfig, "Loss",
    name={"help": "Of examples, and of pairs unless --pair_loss is another.", "choices": LOSS_NAMES},
    logistic_min={"help": "Label that means 'never'.", "shown": "-1 or 0, as the labels are"},
    logistic_max={"help": "Label that means 'always'."},
    only=("name", "logistic_min", "logistic_max"),
)
@options.options_in(QueryConfig)
@options.options_in(
    CurriculumConfig, "Curriculum",
    by={"help": "What makes examples hard: length, value:NAMESPACE; or pairs: difference, a small one of labels."},
    start={"help": "Share of the first N steps, to which each N steps add as much."},
    steps={"help": "Grow the share after every N steps; needed with --curriculum.", "shown": ""},
    only=("order", "by", "start", "steps", "weights", "width", "sample"),
)
@options.class_weights
@options.data_options
@options.cache_options
@options.table_options
@options.feature_options
@options.weighting_options
@options.random_options
@options.theta_options
@options.bad_line_options
@options.names_option
@options.restart_options
@options.json_option("Write counts and losses of the training as JSON; - is stdout.")
@options.quiet()
def command(**arguments: Any) -> int:
    """Learn to rank and to predict at once: one linear model out of random examples and random candidate pairs.

    \b
    vwlite crr train.vw -f model --alpha 0.5 --lambda 0.001 --steps 1000000
    vwlite crr Fold1/train.txt --format svmlight -f model
    vwlite crr Fold1/train.txt --format svmlight -f model --pairs lambda-ndcg --calibrate
    vwlite evaluate -i model test.vw --metric mse,map,ndcg@10 --qid tag

    A candidate pair is two examples of one query with different labels. The query is the example's tag ('q17|..., or
    qid: in SVMlight files); without tags all examples are one query. Steps draw from the cache, a temporary one when
    none is named, so no order of the input matters to them. Squared loss takes any labels and predicts them; logistic
    takes 0 to 1, or -1 and 1, and predicts probabilities; hinge takes any and learns which are above 0. -i makes
    --steps more of a model, whose options it has: --alpha, --seed and --pair-sampling may be typed anew.
    """
    from vwlite.cli.runs.solve import solve
    from vwlite.solvers.crr.solver import Crr

    return solve(arguments, Crr)


command.screen = {  # type: ignore[attr-defined]
    "Model": options.MODEL,
    "What is learned": ("qid", "alpha", "loss_function", "pair_loss"),
    "From what": options.FROM_WHAT,
    "How": ("steps", "learning_rate", "penalty", "l1", "sampling"),
    "Output": options.OUTPUT,
    "Nightly jobs": options.NIGHTLY,
}
