"""What ``vwlite landmarks`` does."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from vwlite.api import configs
from vwlite.api.run_configs import bad_lines_config
from vwlite.cli import build
from vwlite.cli.console import Reading
from vwlite.data import block_parser
from vwlite.data.config import InputConfig, available_cores
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.landmark_choice import chosen_lines
from vwlite.memory_limit import USUAL
from vwlite.solvers.clusters.centres import centre_lines
from vwlite.solvers.rows import RowSource
from vwlite.training.monitor import DisplayMonitor
from vwlite.training.prediction_writer import PredictionWriter


def run(arguments: dict[str, Any]) -> int:
    if "bits" in build.typed() and arguments["by"] == "uniform":
        raise UsageError("-b does nothing without --by kmeans: lines that are chosen stay as they are")
    paths, tolerance = tuple(arguments["files"]) or ("-",), bad_lines_config(arguments)
    with Reading(arguments["quiet"], paths) as reading, ExitStack() as opened:
        shown = {"max_ratio": tolerance.max_ratio, "fail_fast": tolerance.strict, "watch": reading.part}
        policy = BadLines(None, None if arguments["quiet"] else reading.say, **shown)
        opened.enter_context(policy.keeping(tolerance.keep))
        choose: Callable[..., list[bytes]] = {"uniform": lines_of, "kmeans": means_of}[arguments["by"]]
        lines = choose(arguments, paths, policy, reading, opened)
        if not lines:
            raise DataError("there is no example to choose")
        writer = opened.enter_context(PredictionWriter(arguments["out"]))
        writer.write_bytes(b"".join(line + b"\n" for line in lines))
    return 141 if writer.broken else 0


def lines_of(arguments: dict[str, Any], paths: tuple[str, ...], policy: BadLines, *_: Any) -> list[bytes]:
    labels_of_any_kind = TextFormat().of_words(lists=True)
    parts = block_parser.read(paths, labels_of_any_kind, threads=available_cores())
    return chosen_lines(parts, policy, arguments["count"], arguments["seed"])


def means_of(
    arguments: dict[str, Any], paths: tuple[str, ...], policy: BadLines, reading: Reading, opened: ExitStack
) -> list[bytes]:
    features = FeatureConfig(noconstant=True, **configs.feature_changes(build.typed()))
    threads = available_cores()
    text = text_format(features, skip_malformed=True).of_words(lists=True)
    inputs = Inputs(InputConfig(paths, threads=threads), text, several_passes=True)
    opened.callback(inputs.close)
    rows, monitor = RowSource(features, inputs, policy, []), DisplayMonitor(reading.bar, "lines")
    return centre_lines(rows, arguments["count"], arguments["seed"], USUAL, threads, monitor)
