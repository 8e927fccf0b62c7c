"""What ``vwlite aso tasks`` does, and ``predict``, ``evaluate`` and ``inspect`` with its models."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.api import configs
from vwlite.cli.console import Bar, Reading
from vwlite.cli.jsonfile import write_json
from vwlite.cli.root import complain
from vwlite.cli.runs.aso import paths_of, policy_for, read
from vwlite.cli.runs.classes import Examples
from vwlite.cli.runs.named import refuse
from vwlite.errors import DataError, UsageError
from vwlite.escapes import escaped
from vwlite.evaluation.class_metrics import choose
from vwlite.evaluation.metric_report import as_table
from vwlite.evaluation.metric_table import chosen as chosen_metrics
from vwlite.memory_limit import GIB
from vwlite.solvers.aso.config import TasksConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.task_data import TaskRows, numbers_of, task_rows
from vwlite.solvers.aso.task_file import TASKS, load_tasks, save_tasks
from vwlite.solvers.aso.tasks import TaskModel, learn_tasks
from vwlite.storage.file_lock import lock
from vwlite.training.prediction_writer import PredictionWriter

WITHOUT = ("kind", "probabilities", "scores", "raw_predictions")
OF = "a model of tasks"
FIGURE = {"squared": "mean squared error", "logistic": "accuracy"}


def run(arguments: dict[str, Any]) -> int:
    config = config_of(arguments)
    bar = Bar(arguments["quiet"], to_stdout=False)
    say = (lambda line: None) if arguments["quiet"] else bar.message
    with lock(arguments["model"]), closing(bar):
        corpus = read(arguments, paths_of(arguments), tags=True)
        others = {**arguments, "bad_lines": None}
        test = read(others, (arguments["test"],), tags=True) if arguments["test"] else None
        model = learn_tasks(corpus, config, say)
        facts: dict[str, Any] = {"examples": len(corpus.label), "tasks": len(model.tasks)}
        facts["objective"] = model.objectives
        if test:
            facts["test"] = compared(model, corpus, test)
            for name, figure in facts["test"].items():
                say(f"{name}: {FIGURE[config.loss]} {figure:.6g} on {arguments['test']}")
        save_tasks(arguments["model"], model)
    if arguments["json_path"]:
        write_json(arguments["json_path"], facts)
    return 0


def config_of(arguments: dict[str, Any]) -> TasksConfig:
    penalties = []
    for text in arguments["lambda_task"]:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = np.nan
        if not name or not 0 < value < np.inf:
            raise UsageError(f"--lambda-task takes TASK=X with X above 0, not {text!r}")
        penalties.append((name, value))
    own = tuple(space for text in arguments["own"] for space in text.split(","))
    if arguments["pooled"] and (penalties or own or arguments["centre"]):
        raise UsageError("--lambda-task, --own and --centre do nothing with --pooled: it has one model")
    memory = arguments["memory"] * GIB
    return TasksConfig(penalties=tuple(penalties), own=own, memory=memory, **configs.chosen(TasksConfig, arguments))


def compared(model: TaskModel, corpus: Corpus, test: Corpus) -> dict[str, float]:
    """The ``FIGURE`` of the model, and of every task by itself and of one model of all with the same options."""
    plain = replace(model.config, centre=False)
    others = {"independent": replace(plain, dim=0), "pooled": replace(plain, own=(), penalties=(), pooled=True)}
    found = {"tasks": figure_of(model, test)[0]}
    return found | {name: figure_of(learn_tasks(corpus, other), test)[0] for name, other in others.items()}


def rows_of(model: TaskModel, corpus: Corpus) -> TaskRows:
    data = task_rows(corpus, model.words, model.config.task, model.tasks)
    if model.config.pooled:
        data.task[:] = 0
    return data


def figure_of(model: TaskModel, corpus: Corpus) -> tuple[float, dict[str, float]]:
    """The ``FIGURE``, weighted by importance, and all that ``evaluate`` shows. Raises DataError."""
    y, data = numbers_of(corpus, model.config.loss), rows_of(model, corpus)
    own = np.flatnonzero(np.isfinite(y) & (data.rows.importance > 0))
    if not len(own):
        raise DataError("there is no labelled example to measure the model on")
    weight = data.rows.importance[own].astype(np.float64)
    figures = of_signs if model.config.loss == "logistic" else of_numbers
    figure, report = figures(model.predict(data)[own], y[own], weight)
    return figure, {"examples": len(own), **report, "unknown_task": int((data.task[own] < 0).sum())}


def of_numbers(values: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[float, dict[str, float]]:
    gap = values - y
    mse = float(np.average(gap**2, weights=weight))
    mean = np.average(y, weights=weight)
    spread = float(np.average((y - mean) ** 2, weights=weight))
    report = {"mse": mse, "rmse": mse**0.5, "mae": float(np.average(abs(gap), weights=weight))}
    return mse, {**report, "r2": 1 - mse / spread if spread else 0.0}


def of_signs(scores: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[float, dict[str, float]]:
    accuracy = float(np.average((scores > 0) == (y > 0), weights=weight))
    return accuracy, {"accuracy": accuracy, "log_loss": float(np.average(np.logaddexp(0, -y * scores), weights=weight))}


def predict(arguments: dict[str, Any]) -> int:
    refuse(*WITHOUT, of=OF)
    model = load_tasks(arguments["initial"])
    paths = paths_of(arguments)
    with Reading(arguments["quiet"], paths) as reading:
        policy = policy_for(arguments, to_the_end=True, reading=reading)
        corpus = Corpus(policy, tags=True)
        with policy.keeping(arguments["bad_lines"]):
            corpus.read(paths)
    data = rows_of(model, corpus)
    unknown = int((data.task < 0).sum())
    if unknown and not arguments["quiet"]:
        complain(f"vwlite: {unknown} examples are of no task that was learned; the mean of the tasks answers")
    values = model.predict(data)
    examples = Examples(values[:, None], np.ones((len(values), 1), bool), corpus)
    with PredictionWriter(arguments["predictions"]) as writer:
        writer.write_bytes(examples.lines([f"{value:.6g}".encode() for value in values.tolist()]))
    policy.check_ratio(policy.lines)
    return 141 if writer.broken else 0


def evaluate(arguments: dict[str, Any]) -> int:
    refuse(*WITHOUT, of=OF)
    model = load_tasks(arguments["initial"])
    _, report = figure_of(model, read(arguments, paths_of(arguments), tags=True))
    report = choose(report, report, chosen_metrics(arguments["metrics"]))
    if arguments["json_path"] != "-":
        print(as_table(report))
    if arguments["json_path"]:
        write_json(arguments["json_path"], report)
    return 0


def inspect(arguments: dict[str, Any]) -> int:
    """Of each row of Theta its strongest features."""
    refuse(*WITHOUT, of=OF)
    model = load_tasks(arguments["model"])
    facts: dict[str, Any] = {"learner": TASKS, "tasks": len(model.tasks), "features": len(model.words)}
    facts["objective"] = model.objectives[-1] if model.objectives else 0.0
    rows = []
    for column in model.theta.T:
        order = np.argsort(-np.abs(column), kind="stable")[: arguments["top"]].tolist()
        rows.append([{"name": model.words.names[at], "weight": float(column[at])} for at in order])
    if arguments["json_path"] != "-":
        print("\n".join(f"{name:<12}{value}" for name, value in facts.items()))
        for number, entries in enumerate(rows, 1):
            shown = (f"{escaped(entry['name'])}:{entry['weight']:.4g}" for entry in entries)
            print(f"row {number}: {' '.join(shown)}")
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**facts, "theta": rows})
    return 0
