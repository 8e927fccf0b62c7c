"""Models of tasks as files."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from vwlite.config_check import built, require
from vwlite.errors import DataError, ModelError
from vwlite.evaluation.metrics import LOG_LOSS_EPS
from vwlite.features.theta import opened
from vwlite.features.vocabulary import word_arrays, words_from
from vwlite.solvers.aso.config import OF_SIGNS, TasksConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.task_data import TaskRows, numbers_of, probabilities, task_rows
from vwlite.solvers.aso.tasks import TaskModel, learn_tasks
from vwlite.storage import model_file
from vwlite.storage.model_file import numbers
from vwlite.training.model_header import TasksHeader, data_of

TASKS = "aso-tasks"


def save_tasks(path: str, model: TaskModel) -> None:
    model_file.save(path, *content(model))


def content(model: TaskModel) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the file."""
    config = {
        name: value for name, value in asdict(model.config).items() if name not in ("memory", "penalties", "own")
    }
    header = {
        "learner": TASKS,
        "task": model.config.task,
        "tasks": model.tasks,
        "spaces": model.words.spaces,
        "config": config,
        "objectives": model.objectives,
        **model.data,
    }
    arrays = {"theta": model.theta, "u": model.u, "bias": model.bias, **word_arrays("word", model.words)}
    return header, arrays


def load_tasks(path: str) -> TaskModel:
    """Raises ModelError."""
    header, arrays = opened(path, TASKS, "made by vwlite aso tasks")
    try:
        require(header, TasksHeader, "header")
        words, config = words_from("word", arrays, header["spaces"]), built(TasksConfig, header["config"])
        tasks = header["tasks"]
        if len(set(tasks)) < len(tasks) or not tasks or config.task != header["task"]:
            raise ValueError("the names of its tasks")
        return TaskModel(
            config,
            words,
            tasks,
            numbers(arrays, "theta", np.float32, (len(words), -1)),
            numbers(arrays, "u", np.float32, (len(words), len(tasks) + 1)),
            numbers(arrays, "bias", np.float32, (len(tasks) + 1,)),
            header["objectives"],
            data_of(header),
        )
    except ModelError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is no model of this version's aso tasks ({error})") from error


FIGURE = {"squared": "mean squared error", **dict.fromkeys(OF_SIGNS, "accuracy")}


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
    scores = model.predict(data)[own]
    if model.config.loss in OF_SIGNS:
        figure, report = of_signs(scores, y[own], weight, model.config.loss)
    else:
        figure, report = of_numbers(scores, y[own], weight)
    return figure, {"examples": len(own), **report, "unknown_task": int((data.task[own] < 0).sum())}


def of_numbers(values: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[float, dict[str, float]]:
    gap = values - y
    mse = float(np.average(gap**2, weights=weight))
    mean = np.average(y, weights=weight)
    spread = float(np.average((y - mean) ** 2, weights=weight))
    report = {"mse": mse, "rmse": mse**0.5, "mae": float(np.average(abs(gap), weights=weight))}
    return mse, {**report, "r2": 1 - mse / spread if spread else 0.0}


def of_signs(
    scores: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: str
) -> tuple[float, dict[str, float]]:
    accuracy = float(np.average((scores > 0) == (y > 0), weights=weight))
    losses = np.logaddexp(0, -y * scores)
    if loss != "logistic":
        losses = -np.log(np.maximum(probabilities(loss, y * scores), LOG_LOSS_EPS))
    return accuracy, {"accuracy": accuracy, "log_loss": float(np.average(losses, weights=weight))}
