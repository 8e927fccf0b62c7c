"""What ``vwlite evaluate`` does."""

from typing import Any

from vwlite import metrics, ranking
from vwlite.cli import build
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.named import module_for
from vwlite.errors import DataError
from vwlite.queries import Queries, QueryConfig
from vwlite.training import evaluate

ENOUGH = 100  # examples for bins of calibration that nobody asked for


def run(arguments: dict[str, Any]) -> int:
    if named := module_for(arguments["initial"]):
        return named.evaluate(arguments)
    config, model = build.open_model(arguments)
    loss = config.learner.loss
    names = arguments["metrics"].split(",") if arguments["metrics"] else None
    ranked, others = ranking.choose(names, arguments["qid"])
    rankings = ranking.Rankings(Queries(QueryConfig(arguments["qid"]), config.features)) if ranked else None
    grades = rankings is not None and others is not None and set(others) <= {"auc"}
    bad_lines = build.bad_lines_config(arguments)
    session, outcomes = evaluate(config, model, bad_lines, arguments["quiet"], rankings, grades)
    if not len(outcomes):
        raise DataError("there is no labelled example to measure the model on")
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
    if arguments["json_path"] != "-":
        print(metrics.as_table(report))
    if arguments["json_path"]:
        write_json(arguments["json_path"], metrics.finite(report))
    return 0
