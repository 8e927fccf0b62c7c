"""``vwlite simulate``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.learners.configs.bandit import SECTION as LOGGED
from vwlite.learners.configs.explore import SECTION as EXPLORATION
from vwlite.learners.configs.explore import ExplorationConfig, SimulateConfig, SimulateGroupsConfig
from vwlite.learners.configs.gd import CoinConfig, GdConfig
from vwlite.training.config import OutputConfig

SIMULATED = "What is played"


@click.command("simulate", cls=Command, context_settings=SETTINGS, short_help="Play a bandit with labelled text.")
@options.data_files
@options.options_in(
    SimulateConfig,
    SIMULATED,
    only=("cbify", "cbify_cs", "loss0", "loss1"),
    cbify={"spelled": ("--actions", "--cbify")},
)
@options.options_in(SimulateGroupsConfig, SIMULATED, only=("cbify_ldf",))
@options.options_in(ExplorationConfig, EXPLORATION)
@options.options_in(ExplorationConfig, EXPLORATION, only=("random_seed",))
@options.options_in(ExplorationConfig, LOGGED, only=("cb_type", "clip_p", "cost_offset"))
@options.options_in(GdConfig, "Update", only=("learning_rate", "power_t", "l1", "l2", "sgd"))
@options.options_in(CoinConfig, "Update", only=("coin",))
@options.table_options
@options.feature_options
@options.data_options
@options.bad_line_options
@options.output("model", "log", "predictions", section="Output", predictions={"help": "Write the actions drawn."})
@options.family("Output", options.json_option("Write counts and losses as JSON; - is stdout."))
@options.options_in(OutputConfig, "Progress", only=("progress", "quiet"))
@options.bar_options
def command(**arguments: Any) -> int:
    """Play a bandit with labelled data: predict, draw an action, look up its cost in the label, learn that alone.

    \b
    vwlite simulate digits.vw --actions 10 --bag 5
    vwlite simulate digits.vw --actions 10 --squarecb --json -
    vwlite simulate groups.vw --cbify_ldf --softmax --lambda 10
    vwlite simulate digits.vw --actions 10 --log decisions.vw

    With --actions N labels are classes 1 to N, and the average loss is the share of wrong actions among those drawn:
    what exploring costs while it learns. "best action's loss" is that of the actions that the policy thought best, each
    before it was learned from. With --cbify_cs and --cbify_ldf both are mean costs.
    """
    from vwlite.cli.runs.train import simulate

    return simulate()
