"""``vwlite landmarks``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from vwlite.cli import options
from vwlite.cli.files import Writes
from vwlite.cli.parser import Choice, Command
from vwlite.cli.root import SETTINGS
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig

if TYPE_CHECKING:
    from vwlite.data.config import InputConfig
    from vwlite.options import Request
    from vwlite.training.solver_run import Reader


@click.command("landmarks", cls=Command, context_settings=SETTINGS, short_help="Choose lines for --landmarks.")
@options.data_files
@options.count("--count", help="Lines to choose.", default=1000, show_default=True)
@click.option("--seed", "--random_seed", "seed", type=int, default=0, show_default=True, help="Of the choice.")
@options.file(Writes("text", stdout=True), "-o", "--out", default="-", help="Where they go. [default: stdout]")
@click.option(
    "--by", type=Choice(("uniform", "kmeans")), default="uniform", show_default=True,
    help="Choose lines at random, or write the means of so many clusters.",
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
    return run(arguments)


def run(arguments: dict[str, Any]) -> int:
    from vwlite.cli import build
    from vwlite.cli.runs.solve import reading
    from vwlite.training.prediction_writer import PredictionWriter

    request = build.request()
    if "bits" in request.given and arguments["by"] == "uniform":
        raise UsageError("-b does nothing without --by kmeans: lines that are chosen stay as they are")
    with reading(request) as reader:
        lines = (choose_lines if arguments["by"] == "uniform" else find_means)(request, reader)
        if not lines:
            raise DataError("there is no example to choose")
        with PredictionWriter(arguments["out"]) as writer:
            writer.write_bytes(b"".join(line + b"\n" for line in lines))
    return 141 if writer.broken else 0


def choose_lines(request: Request, reader: Reader) -> list[bytes]:
    from vwlite.data.text_format import TextFormat
    from vwlite.features.landmarks import chosen_lines

    inputs = reader.open(input_of(request), TextFormat().of_words(lists=True), at_once=True)
    return chosen_lines(inputs.texts(), reader.policy, request.values["count"], request.values["seed"])


def find_means(request: Request, reader: Reader) -> list[bytes]:
    from vwlite.features.config import FeatureConfig
    from vwlite.features.feature_plan import text_format
    from vwlite.memory_limit import USUAL
    from vwlite.solvers.clusters.model import centre_lines
    from vwlite.solvers.rows import RowSource
    from vwlite.training.monitor import DisplayMonitor

    features, input = FeatureConfig(noconstant=True, **request.changes(FeatureConfig)), input_of(request)
    text = text_format(features, skip_malformed=True).of_words(lists=True)
    rows = RowSource(features, reader.open(input, text, several_passes=True), reader.policy, [])
    monitor = DisplayMonitor(reader.display, "lines")
    return centre_lines(rows, request.values["count"], request.values["seed"], USUAL, input.threads, monitor)


def input_of(request: Request) -> InputConfig:
    from vwlite.data.config import InputConfig, available_cores

    return InputConfig(tuple(request.values["files"]) or ("-",), threads=available_cores())
