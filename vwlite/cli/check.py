"""``vwlite check``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.options import family, option_of_field
from vwlite.cli.parser import Choice, Command
from vwlite.cli.root import SETTINGS
from vwlite.features.config import TABLE, FeatureConfig
from vwlite.learners.configs.outputs import OutputsConfig
from vwlite.learners.configs.per_class import MulticlassConfig, MultilineConfig, PerClassConfig
from vwlite.options import options_of
from vwlite.solvers.loglinear.config import MODELS

label_options = family(
    "Labels",
    *(option_of_field(options_of(PerClassConfig)[name]) for name in ("oaa", "csoaa", "multilabel_oaa", "named_labels")),
    option_of_field(options_of(MulticlassConfig)["multiclass"]),
    option_of_field(options_of(OutputsConfig)["outputs"]),
    option_of_field(
        options_of(MultilineConfig)["csoaa_ldf"]._replace(
            help="Lines 'class:cost | features', a blank line after each group."
        )
    ),
    click.option(
        "--l1", type=Choice(MODELS),
        help="As 'vwlite l1 --model': -1/1 or 0/1; names; names along a sequence (an empty line ends it) or a tree.",
    ),
)


@click.command("check", cls=Command, context_settings=SETTINGS, short_help="Validate text and say what is in it.")
@options.data_files
@options.options_in(FeatureConfig, TABLE, bits={"help": "The -b to report collisions of."})
@label_options
@options.data_options
@options.bad_line_options
@options.json_option("Write all as JSON; - is stdout, without the table.")
@click.option("--command", "shows_command", is_flag=True, help="Print only a command that learns these data.")
@options.quiet("Do not show malformed lines.")
def command(**arguments: Any) -> int:
    """Validate text without training, and say what is in it.

    \b
    vwlite check train.vw
    zcat days/*.gz | vwlite check --json -
    vwlite check train.vw -b 22 --strict
    vwlite check train.vw --command
    vwlite check news.vw --oaa 3 --named_labels sports,arts,money

    What the labels are - numbers, names, sequences of names, costs, lists, groups of lines with costs - is detected
    from the first lines, unless an option of 'vwlite train' or 'vwlite l1' says it; labels that are not of this kind
    make malformed lines.

    Counts of lines, labels, importance, tags, namespaces, features and their values; the losses or options that take
    these labels; how many features share their slot at -b, and the -b where at most one in ten does. Crossed features
    (-q) are not counted. The exit status is 65 where training would fail: too many malformed lines, or no labelled
    example.
    """
    from vwlite.cli.runs.check import run

    return run(arguments)
