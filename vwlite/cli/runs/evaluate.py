"""What ``vwlite evaluate`` does."""

from typing import Any

from vwlite import metrics
from vwlite.cli import build
from vwlite.cli.jsonfile import write_json
from vwlite.errors import DataError
from vwlite.training import evaluate

ENOUGH = 100  # examples for bins of calibration that nobody asked for


def run(arguments: dict[str, Any]) -> int:
    config, model = build.open_model(arguments)
    loss = config.learner.loss
    session, outcomes = evaluate(config, model, build.bad_lines_config(arguments), quiet=arguments["quiet"])
    if not len(outcomes):
        raise DataError("there is no labelled example to measure the model on")
    weight = session.counters.labeled_weight
    report = metrics.evaluate(
        *outcomes.columns(),
        task="binary" if loss.name in ("logistic", "hinge") else "regression",
        output="probability" if loss.name == "logistic" and config.learner.link == "logistic" else "score",
        loss=session.counters.sum_loss / weight if weight else None,
        metrics=arguments["metrics"].split(",") if arguments["metrics"] else None,
    )
    if not arguments["metrics"] and len(outcomes) < ENOUGH:
        report.pop("calibration_bins", None)
    if arguments["json_path"] != "-":
        print(metrics.as_table(report))
    if arguments["json_path"]:
        write_json(arguments["json_path"], metrics.finite(report))
    return 0
