"""``vwlite l1``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Held, Reads, Writes
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.features.config import TABLE, FeatureConfig
from vwlite.storage.output_checks import LOCK


@click.command("l1", cls=Command, context_settings=SETTINGS, short_help="Learn sparse log-linear models.")
@options.data_files
@options.file(Writes("model", LOCK), "-f", "--final_regressor", "model", help="Write the model there.")
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", help="Go on exactly where this model stopped.")
@click.option(
    "--model", "kind_of_model", type=options.L1_MODELS, default="binary", show_default=True,
    help="Labels -1/1 or 0/1; names; names along a sequence (an empty line ends one).",
)
@options.number("--l1", help="C of the objective: sum of log p(y|x) - C |w|. [default: 1]", default=1.0)
@click.option(
    "--solver", type=click.Choice(["sgd", "owlqn"]), default="sgd", show_default=True,
    help="Stochastic gradient steps, or batch quasi-Newton (OWL-QN).",
)
@click.option(
    "--penalty", type=click.Choice(["naive", "clipping", "cumulative"]), default="cumulative", show_default=True,
    help="On all weights at each step; or on the example's, what is due, never across zero; or what is due in all.",
)
@click.option(
    "--rate", type=click.Choice(["harmonic", "exponential"]), default="exponential", show_default=True,
    help="Step sizes after t passes: X/(1+t) or X*A^t.",
)
@options.number("-l", "--learning_rate", help="X of the rate. [default: 0.05, multinomial 0.1, crf 0.2]")
@options.number("--decay_learning_rate", "decay", help="A of the exponential rate.", default=0.85, show_default=True)
@options.count("--passes", help="Passes or iterations at most. [default: 30, owlqn: 1000]")
@options.number("--tolerance", help="owlqn stops when an iteration gains less. [default: 1e-7, relative]", default=1e-7)
@options.file(
    Held(), "--holdout",
    help="Hold out a share (0.1), every Nth example or sequence, or a FILE. [default: nothing]",
)
@click.option(
    "--holdout-metric", type=click.Choice(["f1", "accuracy", "log_loss"]),
    help="What a better pass is. [default: f1 of phrases, accuracy of other names, else log_loss]",
)
@options.count("--early_terminate", help="Stop after N passes without gain.", default=8, show_default=True)
@click.option("--dense-pairs", is_flag=True, help="Pair every feature with every label, not only those seen together.")
@options.listed("--edge", help="Namespaces (letters) that transitions are conditioned on.", metavar="ABC")
@click.option("--shuffle/--no-shuffle", default=None, help="Random order in every pass. [default: yes]")
@options.count("--random_seed", "--seed", "seed", help="Seed of these orders.", default=0)
@options.max_memory
@options.data_options
@options.cache_options
@options.options_in(FeatureConfig, TABLE, bits={"shown": "18; 32, the whole hash, with named labels"})
@options.feature_options
@options.bad_line_options
@click.option("--names", is_flag=True, help="Keep the features' names in the model, for 'vwlite inspect'.")
@options.lock_option
@options.json_option("Write the figures of every pass as JSON; - is stdout.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(**arguments: Any) -> int:
    """Learn sparse log-linear models: two classes, several classes, label sequences (linear-chain CRFs).

    \b
    vwlite l1 train.vw -f model --l1 1
    vwlite l1 news.vw -f model --model multinomial --l1 0.5 --holdout 0.1
    vwlite convert conll train.txt.gz > train.vw
    vwlite l1 train.vw -f tagger --model crf --l1 0.5 --passes 30 --names
    vwlite evaluate -i tagger test.vw --metric conll

    The L1 penalty makes most weights exactly 0. It is that of the objective, C |w| against the sum of log p; 'vwlite
    train --l1' is another, Vowpal Wabbit's truncated gradient, against the mean loss of its adaptive updates. The
    constant is penalised like any feature (--noconstant leaves it out). Weights of named labels are kept by the whole
    32-bit hash unless -b says less; two classes have a table of 18 bits. -i continues with the model's options; --l1,
    --penalty and the like may be typed anew. OWL-QN begins there with an empty memory.
    """
    from vwlite.cli.runs.l1 import run

    return run(arguments)
