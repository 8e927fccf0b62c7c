"""``vwlite landmarks``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Writes
from vwlite.cli.parser import Choice, Command
from vwlite.cli.root import SETTINGS
from vwlite.features.config import FeatureConfig


@click.command("landmarks", cls=Command, context_settings=SETTINGS, short_help="Choose lines for --landmarks.")
@options.data_files
@options.count("--count", help="Lines to choose.", default=1000, show_default=True)
@click.option("--seed", "--random_seed", "seed", type=int, default=0, show_default=True, help="Seed of the choice.")
@options.file(Writes("text", stdout=True), "-o", "--out", default="-", help="Output file. [default: stdout]")
@click.option(
    "--by", type=Choice(("uniform", "kmeans")), default="uniform", show_default=True,
    help="Choose lines at random, or write the means of as many clusters.",
)
@options.options_in(FeatureConfig, only=("bits",))
@options.bad_line_options
@options.quiet()
def command(**arguments: Any) -> int:
    """Choose lines of a text at random, or means of clusters, for --landmarks of train, crr and pca.

    \b
    vwlite landmarks train.vw --count 500 -o landmarks.vw
    vwlite landmarks train.vw --count 500 --by kmeans -o landmarks.vw
    vwlite train train.vw --landmarks rbf:landmarks.vw --whiten -f model

    Every example is as likely as any other; the lines stay as they are and in their order. A file of lines written by
    hand does as well. The same seed chooses the same lines, from a file or a pipe.

    Means have the slots of their features in place of names, and no namespaces: they fit models of the same -b whose
    terms are neither weighted nor crossed.
    """
    from vwlite.cli.runs.cluster import landmarks

    return landmarks(arguments)
