"""``vwlite crr``: combined regression and ranking."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Writes
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS

LOSSES = ["squared", "logistic", "hinge"]


@click.command("crr", cls=Command, context_settings=SETTINGS, short_help="Learn to rank and to predict at once.")
@options.data_files
@options.file(Writes("model"), "-f", "--final_regressor", "model", help="Write the model there.")
@options.number("--alpha", help="Share of regression, 1 for it alone, 0 for ranking. [default: 0.5]", default=0.5)
@options.number("--lambda", "penalty", help="L2 penalty; sets the step sizes too. [default: 0.001]", default=0.001)
@options.count("--steps", help="Random examples or pairs to learn from.", default=1_000_000, show_default=True)
@click.option(
    "--loss_function", type=click.Choice(LOSSES), default="squared", show_default=True, help="Of examples and pairs."
)
@options.number("--logistic_min", help="Label that means 'never'. [default: -1 or 0, as the labels are]")
@options.number("--logistic_max", help="Label that means 'always'. [default: 1]")
@options.text("--qid", help="What tells queries apart: tag, none, or a namespace. [default: tags]", metavar="NS")
@click.option(
    "--pair-sampling",
    "sampling",
    type=click.Choice(["pairs", "query"]),
    default="pairs",
    show_default=True,
    help="All pairs are as likely; or all queries, and all pairs of a query.",
)
@options.count("--pair-buffer", help="Keep N examples of each label of a query instead of a cache.", default=0)
@click.option(
    "--rate",
    type=click.Choice(["inverse", "invsqrt", "constant"]),
    default="inverse",
    show_default=True,
    help="Step sizes: 1/(lambda i), X/sqrt(i) or X.",
)
@options.number("-l", "--learning_rate", help="X of invsqrt and constant. [default: 0.02]")
@click.option("--project", is_flag=True, help="Keep the weights in the ball of radius 1/sqrt(lambda), as Pegasos does.")
@options.count("--random_seed", "--seed", "seed", help="Seed of the draws.", default=0)
@options.data_options
@options.cache_options
@options.table_options
@options.feature_options
@options.bad_line_options
@click.option("--names", is_flag=True, help="Keep the features' names in the model, for 'vwlite inspect'.")
@options.json_option("Write the facts of the training as JSON; - is stdout.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(**arguments: Any) -> int:
    """Learn to rank and to predict at once: one linear model out of random examples and random candidate pairs.

    \b
    vwlite crr train.vw -f model --alpha 0.5 --lambda 0.001 --steps 1000000
    vwlite crr Fold1/train.txt --format svmlight -f model
    vwlite evaluate -i model test.vw --metric mse,map,ndcg@10 --qid tag

    A candidate pair is two examples of one query with different labels. The query is the example's tag ('q17|..., or
    qid: in SVMlight files); without tags all examples are one query. Steps draw from the cache, a temporary one when
    none is named, so no order of the input matters to them. Squared loss takes any labels and predicts them; logistic
    takes 0 to 1, or -1 and 1, and predicts probabilities; hinge takes any and learns which are above 0.
    """
    from vwlite.cli.runs.crr import run

    return run(arguments)
