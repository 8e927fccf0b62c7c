"""What ``predict``, ``evaluate`` and ``inspect`` do with models of ``vwlite aso tasks``."""


import numpy as np

from vwlite.cli.build import refuse_options
from vwlite.cli.output import show_report
from vwlite.cli.root import complain
from vwlite.cli.runs.aso import paths_of, read
from vwlite.cli.runs.classes import Examples
from vwlite.config_check import JsonObject
from vwlite.errors import UsageError, escaped
from vwlite.evaluation.metric_table import as_table, choose
from vwlite.evaluation.metric_table import metrics_of_list as chosen_metrics
from vwlite.learners import ELSEWHERE
from vwlite.options import OptionValues
from vwlite.solvers.aso.config import OF_SIGNS
from vwlite.solvers.aso.task_data import probabilities
from vwlite.solvers.aso.tasks import TASKS, figure_of, load_tasks, rows_of
from vwlite.training.prediction_writer import PredictionWriter

UNSUPPORTED = ("probabilities", "scores", "raw_predictions")
DESCRIPTION = ELSEWHERE[TASKS].what


def predict(arguments: OptionValues) -> int:
    refuse_options(*UNSUPPORTED, model=DESCRIPTION, supported=("probabilities",))
    model = load_tasks(arguments["initial"])
    if arguments["probabilities"] and model.config.loss not in OF_SIGNS:
        raise UsageError("--probabilities needs a model of tasks with labels -1 and 1, not one of numbers")
    corpus, policy = read(arguments, paths_of(arguments), tags=True, data=model.data, to_the_end=True)
    data = rows_of(model, corpus)
    unknown = int((data.task < 0).sum())
    if unknown and not arguments["quiet"]:
        complain(f"vwlite: {unknown} examples are of no task that was learned; the mean of the tasks answers")
    values = model.predict(data)
    if arguments["probabilities"]:
        values = probabilities(model.config.loss, values)
    examples = Examples(values[:, None], np.ones((len(values), 1), bool), corpus)
    with PredictionWriter(arguments["predictions"]) as writer:
        writer.write_bytes(examples.lines([f"{value:.6g}".encode() for value in values.tolist()]))
    policy.check_ratio(policy.lines)
    return 141 if writer.broken else 0


def evaluate(arguments: OptionValues) -> int:
    refuse_options(*UNSUPPORTED, model=DESCRIPTION)
    model = load_tasks(arguments["initial"])
    corpus, _ = read(arguments, paths_of(arguments), tags=True, data=model.data)
    _, report = figure_of(model, corpus)
    refused: list[str] = []
    report = choose(report, report, chosen_metrics(arguments["metrics"]), refuse=refused.append)
    return show_report(arguments["json_path"], report, as_table(report), refused)


def inspect(arguments: OptionValues) -> int:
    """Print the strongest features of each row of Theta."""
    refuse_options(*UNSUPPORTED, model=DESCRIPTION)
    model = load_tasks(arguments["model"])
    facts: JsonObject = {"learner": TASKS, "tasks": len(model.tasks), "features": len(model.words)}
    facts["objective"] = model.objectives[-1] if model.objectives else 0.0
    rows = []
    for column in model.theta.T:
        order = np.argsort(-np.abs(column), kind="stable")[: arguments["top"]].tolist()
        rows.append([{"name": model.words.names[at], "weight": float(column[at])} for at in order])
    lines = [f"{name:<12}{value}" for name, value in facts.items()]
    for number, entries in enumerate(rows, 1):
        shown = (f"{escaped(entry['name'])}:{entry['weight']:.4g}" for entry in entries)
        lines.append(f"row {number}: {' '.join(shown)}")
    return show_report(arguments["json_path"], {**facts, "theta": rows}, "\n".join(lines))
