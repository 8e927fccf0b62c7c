"""Problems with data of their own: linear models that share Theta (Ando and Zhang 2005, equations 7 and 8).

The alternation: with Theta fixed, w and v of every task jointly, for the squared loss exactly; with these fixed, Theta
by the singular value decomposition of [sqrt(lambda_l) u_l]. Neither step raises the objective.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypedDict

import numpy as np

from vwlite.config_check import Double, JsonObject, built, contents_of, require
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.metrics import LOG_LOSS_EPS
from vwlite.features.sparse_rows import Vocabulary, word_arrays, words_from
from vwlite.features.theta import open_theta
from vwlite.options import check_memory
from vwlite.solvers.aso.config import OF_SIGNS, TasksConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.task_data import (
    Task,
    TaskRows,
    features,
    fit_task,
    numbers_of,
    probabilities,
    solve_task,
    task_names,
    task_rows,
)
from vwlite.solvers.tall_matrices import leading
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import TasksHeader, data_of


@dataclass(slots=True)
class TaskModel:
    """The last column of ``u`` and of ``bias`` is for unknown tasks."""

    config: TasksConfig
    words: Vocabulary
    tasks: list[str]
    theta: np.ndarray  # float32[p, h], rows of Theta as columns
    u: np.ndarray  # float32[p, m + 1]
    bias: np.ndarray  # float32[m + 1]
    objectives: list[float]
    data: dict[str, str] = field(default_factory=dict)  # how its data were read, where that was no text

    def predict(self, data: TaskRows) -> np.ndarray:
        """float64[n]."""
        terms, task = data.rows.terms, data.task  # -1 is the last column
        parts = terms.values.astype(np.float64) * self.u[terms.indices, task[terms.owner]]
        return np.bincount(terms.owner, parts, len(task)) + self.bias[task]


def gather_tasks(data: TaskRows, y: np.ndarray, count: int, config: TasksConfig, names: list[str]) -> list[Task]:
    """The tasks, of rows that have a label and are of some importance."""
    penalties = dict(config.penalties)
    tasks = []
    usable = np.flatnonzero(np.isfinite(y) & (data.rows.importance > 0) & (data.task >= 0))
    usable = usable[np.argsort(data.task[usable], kind="stable")]
    edges = np.searchsorted(data.task[usable], np.arange(count + 1)).tolist()
    for number in range(count):
        own = usable[edges[number] : edges[number + 1]]
        root = np.sqrt(data.rows.importance[own].astype(np.float64))
        terms = data.rows.terms.take(own)
        held, place = np.unique(terms.indices, return_inverse=True)
        x = np.zeros((len(own), len(held)))
        x[terms.owner, place.reshape(-1)] = terms.values
        penalty = penalties.get(names[number], config.penalty)
        size = float((root**2).sum())
        tasks.append(Task(x * root[:, None], y[own] * root, root, held.astype(np.int64), size, penalty))
    return tasks


class RoundsState(TypedDict):
    """The progress of a stopped run."""

    objectives: list[Double]
    over: bool


class Rounds:
    """w and v of every task with Theta fixed, then Theta by their decomposition, round by round.

    ``u`` float64[p, m], ``theta`` float64[p, h], ``bias`` float64[m], ``v`` float64[m, h]; ``common`` float64[p], what
    all tasks have; ``objectives`` of the rounds that were made.
    """

    def __init__(self, tasks: list[Task], shared: np.ndarray, config: TasksConfig, monitor: Monitor) -> None:
        """``shared``: bool[p], the features that Theta has a part in."""
        self.tasks, self.shared, self.config, self.monitor = tasks, shared, config, monitor
        p, m = len(shared), len(tasks)
        self.theta, self.u, self.bias, self.v = np.zeros((p, 0)), np.zeros((p, m)), np.zeros(m), np.zeros((m, 0))
        self.common, self.scores = np.zeros(p), [np.zeros(len(task.y)) for task in tasks]
        self.weight = np.sqrt([task.penalty for task in tasks])
        self.objectives: list[float] = []
        self.over = False
        self.complete: tuple[JsonObject, dict[str, np.ndarray]] | None = None  # the state after the last round

    def run(self) -> None:
        """Make the rounds that are left. Raises Interrupted."""
        config, objectives = self.config, self.objectives
        most = config.iterations + 1 if config.dim or config.centre else 1
        while not self.over:
            number = len(objectives)
            if number:
                self.decompose()
            total = self.solve()
            self.monitor.history_row(round=number, objective=total)
            title = f"round {number}" if number else "without Theta"
            self.monitor.remark(f"{title}: objective {total:.6g}")
            with self.monitor.update():
                objectives.append(total)
                near = number > 1 and objectives[-2] - total <= config.tolerance * objectives[-2]
                self.over = near or len(objectives) == most
                self.complete = self.state() if self.monitor.saves else None

    def decompose(self) -> None:
        """Theta of the tasks' weights."""
        shared, weight = self.shared, self.weight
        if self.config.centre:  # the best with Theta: the mean of u in the weights of the decomposition
            self.common = np.where(shared, np.average(self.u, axis=1, weights=weight**2), 0.0)
        left, _ = leading((self.u - self.common[:, None])[shared] * weight, self.config.dim)
        self.theta = np.zeros((len(shared), left.shape[1]))
        self.theta[shared] = np.linalg.qr(left)[0] if left.size else left

    def solve(self) -> float:
        """w and v of every task. Answers the objective."""
        config, theta, common = self.config, self.theta, self.common
        total, self.v = 0.0, np.zeros((len(self.tasks), theta.shape[1]))
        for number, task in enumerate(self.tasks):
            if config.loss in OF_SIGNS:
                fit = fit_task(task, theta, config.constant, common, self.scores[number], config.loss)
                w, self.v[number], self.bias[number], value, self.scores[number] = fit
            else:
                rest = replace(task, y=task.y - task.x @ common[task.own]) if config.centre else task
                w, self.v[number], self.bias[number], value = solve_task(rest, theta, config.constant)
            self.u[:, number] = common + theta @ self.v[number]
            self.u[task.own, number] += w
            total += value
        return total

    def of_unknown_tasks(self) -> np.ndarray:
        """float64[p]: Theta' times the mean of v, and w_0 with ``config.centre``."""
        mean: np.ndarray = self.common + self.v.mean(0) @ self.theta.T
        return mean

    def state(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        """The state that ``restore`` takes."""
        arrays = {name: getattr(self, name).copy() for name in ("theta", "u", "bias", "v", "common")}
        scores = np.concatenate([np.zeros(0), *self.scores])
        return {"objectives": list(self.objectives), "over": self.over}, {**arrays, "scores": scores}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Go on from a ``state``. Raises KeyError, ValueError."""
        require(dict(header), RoundsState, "state")
        p, m = self.u.shape
        self.objectives, self.over = list(header["objectives"]), header["over"]
        self.theta = np.array(numbers(arrays, "theta", np.float64, (p, -1)))
        shapes = {"u": (p, m), "bias": (m,), "v": (m, self.theta.shape[1]), "common": (p,)}
        for name, shape in shapes.items():
            setattr(self, name, np.array(numbers(arrays, name, np.float64, shape)))
        sizes = [len(one) for one in self.scores]
        scores = np.array(numbers(arrays, "scores", np.float64, (sum(sizes),)))
        self.scores = np.split(scores, np.cumsum(sizes)[:-1])
        self.complete = dict(header), dict(arrays)


def learn_tasks(corpus: Corpus, config: TasksConfig, monitor: Monitor | None = None) -> TaskModel:
    """Raises UsageError, DataError."""
    return TaskLearning(corpus, config, monitor or Monitor()).run()


class TaskLearning:
    """The tasks of a corpus, and their ``rounds``."""

    def __init__(self, corpus: Corpus, config: TasksConfig, monitor: Monitor) -> None:
        """Raises UsageError, DataError."""
        say = monitor.remark
        y = numbers_of(corpus, config.loss)
        words, own_names = features(corpus, config.task), task_names(corpus, config.task)
        importance = np.concatenate([importance for _, importance in corpus.columns])
        usable = (np.isfinite(y) & (importance > 0)).tolist()
        labelled = [name for name, one in zip(own_names, usable, strict=True) if name and one]
        names = sorted(set(labelled)) if not config.pooled else ["all"]
        if not labelled:
            raise DataError(f"no labelled example names its task by {task_source_text(config.task)}")
        if missing := {name for name, _ in config.penalties} - set(names):
            raise UsageError(f"--lambda-task {min(missing)}: there is no such task")
        for space in config.own:
            if space not in words.spaces:
                there = ", ".join(words.spaces)
                raise UsageError(f"--own {space}: no feature of the text is in it (there are {there})")
        weights_text = f"the weights of {len(names):,} tasks and {len(words):,} features"
        check_memory(16.0 * len(words) * len(names), config.memory, weights_text, "fewer features need less")
        data = task_rows(corpus, words, config.task, names)
        if config.pooled:
            data.task[:] = np.where(data.said, 0, -1)
        if left_out := int((~data.said).sum()):
            say(f"{left_out} examples name no task by {task_source_text(config.task)} and are left out")
        dim = 0 if config.pooled else min(config.dim, len(names))
        if dim < config.dim and not config.pooled:
            say(f"--dim {config.dim} is cut to {dim}, the number of tasks")
        shared = ~np.isin(words.space, [words.spaces.index(space) for space in config.own])
        tasks = gather_tasks(data, y, len(names), config, names)
        self.config, self.words, self.names = config, words, names
        self.rounds = Rounds(tasks, shared, replace(config, dim=dim), monitor)

    def run(self) -> TaskModel:
        """Make the rounds that are left. Raises Interrupted."""
        self.rounds.run()
        rounds, config = self.rounds, self.config
        others = rounds.u[:, 0] if config.pooled else rounds.of_unknown_tasks()
        columns = np.hstack((rounds.u, others[:, None])).astype(np.float32)
        every = np.append(rounds.bias, rounds.bias.mean()).astype(np.float32)
        theta = rounds.theta.astype(np.float32)
        return TaskModel(config, self.words, self.names, theta, columns, every, rounds.objectives)


def task_source_text(source: str) -> str:
    return "a tag" if source == "tag" else f"a feature of namespace {source}"


TASKS = "aso-tasks"


def content(model: TaskModel) -> tuple[JsonObject, dict[str, np.ndarray]]:
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
    header, arrays = open_theta(path, TASKS, "made by vwlite aso tasks")
    with contents_of(path, "a model of this version's aso tasks"):
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


FIGURE = {"squared": "mean squared error", **dict.fromkeys(OF_SIGNS, "accuracy")}


def compare_figures(model: TaskModel, corpus: Corpus, test: Corpus) -> dict[str, float]:
    """The ``FIGURE`` of the model, and of every task by itself and of one model of all with the same options."""
    plain = replace(model.config, centre=False)
    others = {"independent": replace(plain, dim=0), "pooled": replace(plain, own=(), penalties=(), pooled=True)}
    figures = {"tasks": figure_of(model, test)[0]}
    return figures | {name: figure_of(learn_tasks(corpus, other), test)[0] for name, other in others.items()}


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
