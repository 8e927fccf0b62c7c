"""``vwlite l1``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.data.config import InputConfig
from vwlite.features.config import TABLE, ApplyConfig, FeatureConfig
from vwlite.solvers.loglinear.config import HeldOutConfig, L1Config
from vwlite.training.config import CurriculumConfig


@click.command("l1", cls=Command, context_settings=SETTINGS, short_help="Learn sparse log-linear models.")
@options.data_files
@options.solver_output()
@options.options_in(L1Config)
@options.options_in(HeldOutConfig)
@options.options_in(CurriculumConfig, "Curriculum")
@options.options_in(
    InputConfig, "Classes", class_weights={"read_as": "label_weights", "metavar": "NAME:W,..."}
)
@options.file(Reads("Theta"), "--theta", help="Add the features that this Theta makes of examples.")
@options.options_in(ApplyConfig)
@options.usual_memory_option
@options.data_options
@options.cache_options
@options.options_in(FeatureConfig, TABLE, bits={"shown": "18; 32, the whole hash, with named labels"})
@options.feature_options
@options.bad_line_options
@options.names_option
@options.restart_options
@options.json_option("Write the figures of every pass as JSON; - is stdout.")
@options.quiet()
def command(**arguments: Any) -> int:
    """Learn sparse log-linear models: two classes, several classes, label sequences and trees (CRFs).

    \b
    vwlite l1 train.vw -f model --l1 1
    vwlite l1 news.vw -f model --model multinomial --l1 0.5 --holdout 0.1
    vwlite convert conll train.txt.gz > train.vw
    vwlite l1 train.vw -f tagger --model crf --l1 0.5 --passes 30 --names
    vwlite evaluate -i tagger test.vw --metric conll
    vwlite l1 train.vw -f tagger --model crf --theta theta

    The L1 penalty makes most weights exactly 0. It is that of the objective, C |w| against the sum of log p; 'vwlite
    train --l1' is another, Vowpal Wabbit's truncated gradient, against the mean loss of its adaptive updates. The
    constant is penalised like any feature (--noconstant leaves it out). Weights of named labels are kept by the whole
    32-bit hash unless -b says less; two classes have a table of 18 bits. -i continues with the model's options; --l1,
    --penalty and the like may be typed anew. --theta is for named labels: the features of what 'vwlite aso learn' made
    are added as 'vwlite aso apply' adds them, and the model keeps the map. OWL-QN begins there with an empty memory.
    """
    from vwlite.cli.runs.solve import solve
    from vwlite.solvers.loglinear.solver import L1

    return solve(arguments, L1)


command.screen = {  # type: ignore[attr-defined]
    "Model": options.MODEL,
    "What is learned": ("kind_of_model", "loss", "dense_pairs", "edge"),
    "From what": options.FROM_WHAT,
    "How": ("l1", "l2", "solver", "learning_rate", "passes", "holdout", "holdout_metric"),
    "Output": options.OUTPUT,
    "Nightly jobs": options.NIGHTLY,
}
