"""What ``vwlite evaluate`` does."""

from typing import Any

from vwlite.cli import build
from vwlite.cli.console import Console
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.answers import to_measure
from vwlite.cli.runs.named import module_for
from vwlite.errors import DataError, UsageError
from vwlite.evaluation import metrics, ranking_metrics
from vwlite.evaluation.evaluate import evaluate
from vwlite.evaluation.metric_report import as_table, finite
from vwlite.evaluation.metric_table import ORDER, chosen, names_of
from vwlite.features.config import QueryConfig
from vwlite.features.query_ids import Queries
from vwlite.training.config import RunConfig
from vwlite.training.model_loader import Restored

ENOUGH = 100  # examples for bins of calibration that nobody asked for
NO_LABELS = "there is no labelled example to measure the model on"


def run(arguments: dict[str, Any]) -> int:
    if named := module_for(arguments["initial"], arguments["memory"]):
        return named.evaluate(arguments)
    config, model = build.open_model(arguments, to_measure(arguments["initial"]))
    if not model.learner.simple_labels:
        return evaluate_classes(arguments, config, model)
    loss = config.learner.loss
    names = chosen(arguments["metrics"])
    ranked, others = ranking_metrics.choose(names, arguments["qid"])
    rankings = ranking_metrics.Rankings(Queries(QueryConfig(arguments["qid"]), config.features)) if ranked else None
    graded = bool(rankings and others is not None and {*others} <= {*names_of(ORDER)})
    bad_lines, shown = build.bad_lines_config(arguments), shown_of(arguments)
    counters, outcomes = evaluate(config, model, bad_lines, collector=rankings, grades=graded, **shown)
    if not len(outcomes):
        raise DataError(NO_LABELS)
    weight = counters.labeled_weight
    signs = getattr(config.learner, "binary", False)  # in place of probabilities
    shares = loss.name == "logistic" and config.learner.link == "logistic" and not (signs or graded)
    labels, *columns = outcomes.columns()
    if shares:  # on the scale of the predictions
        labels = (labels - loss.logistic_min) / (loss.logistic_max - loss.logistic_min)
    binary = loss.loss.two_classes and not graded and metrics.are_binary(labels)
    report = metrics.evaluate(
        *(labels, *columns),
        task="binary" if binary else "regression",
        output="probability" if shares else "score",
        loss=counters.sum_loss / weight if weight else None,
        metrics=others,
        graded=bool(ranked),
    )
    if rankings:
        report.update(rankings.evaluate(ranked))
    if not names and len(outcomes) < ENOUGH:
        report.pop("calibration_bins", None)
    return tell(report, arguments["json_path"])


def evaluate_classes(arguments: dict[str, Any], config: RunConfig, model: Restored) -> int:
    from vwlite.evaluation.class_metrics import ClassOutcomes

    outcomes = ClassOutcomes(model.learner)
    if arguments["qid"]:
        raise UsageError("--qid does not go with a model of classes")
    evaluate(config, model, build.bad_lines_config(arguments), collector=outcomes, **shown_of(arguments))
    report = outcomes.report(chosen(arguments["metrics"]))
    if report.get("examples") == 0:
        raise DataError(NO_LABELS)
    return tell(report, arguments["json_path"])


def shown_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """What ``evaluate`` is told of messages: there is no table beside them."""
    return {"quiet": arguments["quiet"], "display": Console(quiet=True)}


def tell(report: dict[str, Any], path: str | None) -> int:
    """Print the metrics or, with a path, write them as JSON; with ``-`` only that."""
    if path != "-":
        print(as_table(report))
    if path:
        write_json(path, finite(report))
    return 0
