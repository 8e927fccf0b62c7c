"""``vwlite evaluate``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.evaluation.config import PhraseConfig, RankingConfig, ValueConfig
from vwlite.evaluation.metric_table import sections
from vwlite.features.config import QueryConfig
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig


class WithMetrics(Command):
    """Its help ends with the metrics there are."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for what, metrics in sections().items():
            with formatter.section(f"Metrics of {what}"):
                formatter.write_dl(metrics)


@click.command("evaluate", cls=WithMetrics, context_settings=SETTINGS, short_help="Measure a model on labelled text.")
@options.data_files
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", required=True, help="The model.")
@click.option("--metric", "metrics", metavar="A,B,...", help="Only these, named below. [default: all that apply]")
@options.options_in(QueryConfig)
@options.options_in(RankingConfig)
@options.options_in(PhraseConfig)
@options.options_in(ValueConfig)
@options.file(Reads("model"), "--against", help="Compare with this model, query by query.")
@options.file(
    Reads("model"),
    "--regressor",
    help="A model of costs, for dr, dm and switch. [default: the policy, or one by two folds of the data]",
)
@options.json_option("Write the metrics as JSON; - is stdout, without table.")
@options.options_in(GdConfig, only=["levels"])
@options.data_options
@options.options_in(DyadicConfig, "Dot products of latent vectors", only=("dot_unseen", "min_updates"))
@options.memory_option
@options.bad_line_options
@options.quiet("Print nothing but errors and metrics.")
def command(**arguments: Any) -> int:
    """Measure a model on labelled text: loss, accuracy, F1, AUC, log loss, MSE, calibration, rankings.

    \b
    vwlite evaluate -i model test.vw
    vwlite evaluate -i model test.vw --metric auc,log_loss --json -
    vwlite evaluate -i model test.vw --metric mse,map,ndcg,ndcg@10 --qid tag
    vwlite evaluate -i model test.vw --metric mrr,gauc,p@5 --qid tag --bootstrap 1000 --against other
    vwlite evaluate -i policy later.vw --value --against old

    Importance weights count; examples without a label do not. Metrics of order go by the sums that predictions are made
    of, before they are clipped and linked, whatever the loss. A metric without a value, such as the AUC where all
    labels are equal, is n.a. in the table and null in JSON. Metrics of rankings rank the examples of each query as
    LETOR does: labels above 0 are relevant, equal predictions count with the mean over their orders, and a query weighs
    the mean importance of its examples. --bootstrap draws queries with replacement. --against tells how far this model
    is above another one: the mean difference over queries, its 95% interval, and p of a randomisation test. Capitals do
    not matter in a metric's name.
    """
    from vwlite.cli.runs.evaluate import run

    return run(arguments)
