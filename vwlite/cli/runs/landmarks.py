"""What ``vwlite landmarks`` does."""

from typing import Any

from vwlite.cli import build
from vwlite.cli.runs.solve import open_reader
from vwlite.data.config import InputConfig, available_cores
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.landmarks import chosen_lines
from vwlite.memory_limit import USUAL
from vwlite.options import Request
from vwlite.solvers.clusters.model import centre_lines
from vwlite.solvers.rows import RowSource
from vwlite.training.monitor import DisplayMonitor
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.solver_run import Reader


def run(arguments: dict[str, Any]) -> int:
    request = build.request()
    if "bits" in request.given and arguments["by"] == "uniform":
        raise UsageError("-b does nothing without --by kmeans: lines that are chosen stay as they are")
    with open_reader(request) as reader:
        lines = (choose_lines if arguments["by"] == "uniform" else find_means)(request, reader)
        if not lines:
            raise DataError("there is no example to choose")
        with PredictionWriter(arguments["out"]) as writer:
            writer.write_bytes(b"".join(line + b"\n" for line in lines))
    return 141 if writer.broken else 0


def choose_lines(request: Request, reader: Reader) -> list[bytes]:
    inputs = reader.open(input_of(request), TextFormat().of_words(lists=True), at_once=True)
    return chosen_lines(inputs.texts(), reader.policy, request.values["count"], request.values["seed"])


def find_means(request: Request, reader: Reader) -> list[bytes]:
    features, input = FeatureConfig(noconstant=True, **request.changes(FeatureConfig)), input_of(request)
    text = text_format(features, skip_malformed=True).of_words(lists=True)
    rows = RowSource(features, reader.open(input, text, several_passes=True), reader.policy, [])
    monitor = DisplayMonitor(reader.display, "lines")
    return centre_lines(rows, request.values["count"], request.values["seed"], USUAL, input.threads, monitor)


def input_of(request: Request) -> InputConfig:
    return InputConfig(tuple(request.values["files"]) or ("-",), threads=available_cores())
