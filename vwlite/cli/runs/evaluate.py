"""What ``vwlite evaluate`` does."""

from typing import Any

from vwlite import metrics, ranking
from vwlite.cli import build
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.named import module_for
from vwlite.config import RunConfig
from vwlite.errors import DataError, UsageError
from vwlite.queries import Queries, QueryConfig
from vwlite.restore import Restored
from vwlite.training import evaluate

ENOUGH = 100  # examples for bins of calibration that nobody asked for
NO_LABELS = "there is no labelled example to measure the model on"


def run(arguments: dict[str, Any]) -> int:
    if named := module_for(arguments["initial"]):
        return named.evaluate(arguments)
    config, model = build.open_model(arguments)
    if not model.learner.simple_labels:
        return evaluate_classes(arguments, config, model)
    loss = config.learner.loss
    names = arguments["metrics"].split(",") if arguments["metrics"] else None
    ranked, others = ranking.choose(names, arguments["qid"])
    rankings = ranking.Rankings(Queries(QueryConfig(arguments["qid"]), config.features)) if ranked else None
    grades = rankings is not None and others is not None and set(others) <= {"auc"}
    bad_lines = build.bad_lines_config(arguments)
    session, outcomes = evaluate(config, model, bad_lines, arguments["quiet"], rankings, grades)
    if not len(outcomes):
        raise DataError(NO_LABELS)
    weight = session.counters.labeled_weight
    binary = loss.loss.two_classes and not grades
    of_grades = ["auc"] if ranked and not binary and others and "auc" in others else []
    report = metrics.evaluate(
        *outcomes.columns(),
        task="binary" if binary else "regression",
        output="probability" if loss.name == "logistic" and config.learner.link == "logistic" else "score",
        loss=session.counters.sum_loss / weight if weight else None,
        metrics=others and [name for name in others if name not in of_grades],
    )
    if of_grades:
        report["auc"] = metrics.auc_of_grades(*outcomes.columns())
    if rankings:
        report.update(rankings.evaluate(ranked))
    if not arguments["metrics"] and len(outcomes) < ENOUGH:
        report.pop("calibration_bins", None)
    return tell(report, arguments["json_path"])


def evaluate_classes(arguments: dict[str, Any], config: RunConfig, model: Restored) -> int:
    from vwlite.class_metrics import ClassOutcomes

    outcomes = ClassOutcomes()
    if arguments["qid"]:
        raise UsageError("--qid does not go with a model of classes")
    names = arguments["metrics"].split(",") if arguments["metrics"] else None
    evaluate(config, model, build.bad_lines_config(arguments), arguments["quiet"], outcomes)
    report = outcomes.report(model.learner, names)
    if report.get("examples") == 0:
        raise DataError(NO_LABELS)
    return tell(report, arguments["json_path"])


def tell(report: dict[str, Any], path: str | None) -> int:
    """Print the metrics or, with a path, write them as JSON; with ``-`` only that."""
    if path != "-":
        print(metrics.as_table(report))
    if path:
        write_json(path, metrics.finite(report))
    return 0
