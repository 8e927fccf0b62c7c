"""How good models of tasks are on labelled text."""

from dataclasses import replace

import numpy as np

from vwlite.errors import DataError
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.task_data import TaskRows, numbers_of, task_rows
from vwlite.solvers.aso.tasks import TaskModel, learn_tasks

FIGURE = {"squared": "mean squared error", "logistic": "accuracy"}


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
