"""What ``vwlite cluster`` and ``landmarks`` do, and ``predict``, ``evaluate`` and ``inspect`` with clusters."""

from collections.abc import Iterator
from contextlib import contextmanager

from vwlite.cli import build
from vwlite.cli.build import refuse_options
from vwlite.cli.output import show_report
from vwlite.cli.runs.inspect import inspection_text
from vwlite.cli.runs.solve import feature_values, open_model_rows, open_reader, solve
from vwlite.data.config import InputConfig, available_cores
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.metric_table import CLUSTERS, as_table, choose, names_of
from vwlite.evaluation.metric_table import metrics_of_list as chosen_metrics
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.landmarks import chosen_lines
from vwlite.learners import ELSEWHERE
from vwlite.options import USUAL_MEMORY, OptionValues, Request
from vwlite.solvers.clusters.model import ClusterModel, centre_lines
from vwlite.solvers.clusters.solver import Assignment, Cluster, lines_of, measure_clusters, strongest
from vwlite.solvers.cut.find import DegreeRows
from vwlite.solvers.row_solver import RowSource
from vwlite.training.listener import DisplayMonitor
from vwlite.training.prediction_writer import PredictionWriter
from vwlite.training.solver_run import Reader

DESCRIPTION = ELSEWHERE[ClusterModel.learner].what


def run(arguments: OptionValues) -> int:
    return solve(arguments, Cluster)


@contextmanager
def open_assignment(arguments: OptionValues, predicting: bool = False) -> Iterator[tuple[Assignment, RowSource, str]]:
    """The model, the rows of the files and their format, that of the model unless it was typed."""
    model = ClusterModel.load(arguments["initial"])
    with open_model_rows(arguments, model, predicting, DegreeRows if model.config.cut else RowSource) as (source, kind):
        if isinstance(source, DegreeRows):
            source.know(model.solution.slots, model.solution.total)
        yield Assignment(model), source, kind


def predict(arguments: OptionValues) -> int:
    refuse_options("raw_predictions", model=DESCRIPTION)
    with open_assignment(arguments, predicting=True) as (assignment, source, kind):
        if arguments["probabilities"] and not assignment.softness:
            raise UsageError("--probabilities are there for clusters that were found with --soft")
        shares = assignment.shares if arguments["probabilities"] else None
        with PredictionWriter(arguments["predictions"]) as writer:
            for lines in lines_of(assignment, source, kind, assignment.distances if arguments["scores"] else shares):
                writer.write_bytes(lines)
                if writer.broken:
                    break
        source.policy.check_ratio(source.policy.lines)
    return 141 if writer.broken else 0


def evaluate(arguments: OptionValues) -> int:
    refuse_options(model=DESCRIPTION)
    asked = chosen_metrics(arguments["metrics"])
    with open_assignment(arguments) as (assignment, source, kind):
        report = measure_clusters(assignment, source, kind)
    refused: list[str] = []
    report = choose(report, names_of(CLUSTERS), asked, refuse=refused.append) if asked else report
    return show_report(arguments["json_path"], report, as_table(report), refused)


def inspect(arguments: OptionValues) -> int:
    refuse_options(model=DESCRIPTION)
    model = ClusterModel.load(arguments["model"])
    facts, features = model.facts(), strongest(model, arguments["top"])
    facts.pop("sizes")
    lines = [inspection_text({"learner": ClusterModel.learner, **facts}, [])]
    lines.append(f"\n{'cluster':>7} {'examples':>9} {'distance':>9}  strongest features")
    for number, cluster in enumerate(features):
        average = cluster["average_squared_distance"]
        distance = "n.a." if average is None else f"{average:.4g}"
        words = feature_values(cluster["features"])
        lines.append(f"{number:7} {cluster['examples']:9} {distance:>9}  {words}".rstrip())
    return show_report(arguments["json_path"], {**facts, "top": features}, "\n".join(lines))


def landmarks(arguments: OptionValues) -> int:
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
    return centre_lines(rows, request.values["count"], request.values["seed"], USUAL_MEMORY, input.threads, monitor)


def input_of(request: Request) -> InputConfig:
    return InputConfig(tuple(request.values["files"]) or ("-",), threads=available_cores())
