"""Models of tasks as files."""

from dataclasses import asdict
from typing import Any

import numpy as np

from vwlite.config_check import built, require
from vwlite.errors import ModelError
from vwlite.features.theta_file import opened
from vwlite.features.vocabulary import word_arrays, words_from
from vwlite.solvers.aso.config import TasksConfig
from vwlite.solvers.aso.tasks import TaskModel
from vwlite.storage import model_file
from vwlite.storage.array_check import numbers
from vwlite.training.model_header import TasksHeader

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
        )
    except ModelError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is no model of this version's aso tasks ({error})") from error
