"""Problems with data of their own: linear models that share Theta (Ando and Zhang 2005, equations 7 and 8).

The alternation: with Theta fixed, w and v of every task jointly, for the squared loss exactly; with these fixed, Theta
by the singular value decomposition of [sqrt(lambda_l) u_l]. Neither step raises the objective.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.features.vocabulary import Vocabulary
from vwlite.memory_limit import check_memory
from vwlite.solvers.aso.config import TasksConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.logistic_task import fitted
from vwlite.solvers.aso.singular_vectors import leading
from vwlite.solvers.aso.task import Task, solved
from vwlite.solvers.aso.task_data import TaskRows, features, numbers_of, task_names, task_rows


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

    def predict(self, data: TaskRows) -> np.ndarray:
        """float64[n]."""
        terms, task = data.rows.terms, data.task  # -1 is the last column
        parts = terms.values.astype(np.float64) * self.u[terms.indices, task[terms.owner]]
        return np.bincount(terms.owner, parts, len(task)) + self.bias[task]


def gathered(data: TaskRows, y: np.ndarray, count: int, config: TasksConfig, names: list[str]) -> list[Task]:
    """The tasks, of rows that have a label and are of some importance."""
    penalties = dict(config.penalties)
    found = []
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
        found.append(Task(x * root[:, None], y[own] * root, root, held.astype(np.int64), size, penalty))
    return found


def alternate(
    tasks: list[Task], shared: np.ndarray, config: TasksConfig, say: Callable[[str], None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[float]]:
    """u float64[p, m], Theta float64[p, h], their common part float64[p], intercepts, and the objective of each round.

    The common part is what unknown tasks have: Theta' times the mean of v, and w_0 with ``config.centre``.

    ``shared``: bool[p], the features that Theta has a part in.
    """
    p, m = len(shared), len(tasks)
    theta, u, bias, v = np.zeros((p, 0)), np.zeros((p, m)), np.zeros(m), np.zeros((m, 0))
    common, scores = np.zeros(p), [np.zeros(len(task.y)) for task in tasks]
    weight = np.sqrt([task.penalty for task in tasks])
    objectives: list[float] = []
    for round_ in range(config.iterations + 1 if config.dim or config.centre else 1):
        if round_:
            if config.centre:  # the best with Theta: the mean of u in the weights of the decomposition
                common = np.where(shared, np.average(u, axis=1, weights=weight**2), 0.0)
            left, _ = leading((u - common[:, None])[shared] * weight, config.dim)
            theta = np.zeros((p, left.shape[1]))
            theta[shared] = np.linalg.qr(left)[0] if left.size else left
        total, v = 0.0, np.zeros((m, theta.shape[1]))
        for number, task in enumerate(tasks):
            if config.loss == "logistic":
                fit = fitted(task, theta, config.constant, common, scores[number])
                w, v[number], bias[number], value, scores[number] = fit
            else:
                rest = replace(task, y=task.y - task.x @ common[task.own]) if config.centre else task
                w, v[number], bias[number], value = solved(rest, theta, config.constant)
            u[:, number] = common + theta @ v[number]
            u[task.own, number] += w
            total += value
        objectives.append(total)
        say(f"round {round_}: objective {total:.6g}" if round_ else f"without Theta: objective {total:.6g}")
        if round_ > 1 and objectives[-2] - total <= config.tolerance * objectives[-2]:
            break
    return u, theta, common + v.mean(0) @ theta.T, bias, objectives


def learn_tasks(corpus: Corpus, config: TasksConfig, say: Callable[[str], None] = lambda line: None) -> TaskModel:
    """Raises UsageError, DataError."""
    y = numbers_of(corpus, config.loss)
    words, own_names = features(corpus, config.task), task_names(corpus, config.task)
    importance = np.concatenate([importance for _, importance in corpus.columns])
    usable = (np.isfinite(y) & (importance > 0)).tolist()
    labelled = [name for name, one in zip(own_names, usable, strict=True) if name and one]
    names = sorted(set(labelled)) if not config.pooled else ["all"]
    if not labelled:
        raise DataError(f"no labelled example names its task by {said(config.task)}")
    if missing := {name for name, _ in config.penalties} - set(names):
        raise UsageError(f"--lambda-task {min(missing)}: there is no such task")
    for space in config.own:
        if space not in words.spaces:
            raise UsageError(f"--own {space}: no feature of the text is in it (there are {', '.join(words.spaces)})")
    what = f"the weights of {len(names):,} tasks and {len(words):,} features"
    check_memory(16.0 * len(words) * len(names), config.memory, what, "fewer features need less")
    data = task_rows(corpus, words, config.task, names)
    if config.pooled:
        data.task[:] = np.where(data.said, 0, -1)
    if left_out := int((~data.said).sum()):
        say(f"{left_out} examples name no task by {said(config.task)} and are left out")
    dim = 0 if config.pooled else min(config.dim, len(names))
    if dim < config.dim and not config.pooled:
        say(f"--dim {config.dim} is cut to {dim}, the number of tasks")
    shared = ~np.isin(words.space, [words.spaces.index(space) for space in config.own])
    tasks = gathered(data, y, len(names), config, names)
    u, theta, common, bias, objectives = alternate(tasks, shared, replace(config, dim=dim), say)
    others = u[:, 0] if config.pooled else common
    columns = np.hstack((u, others[:, None])).astype(np.float32)
    every = np.append(bias, bias.mean()).astype(np.float32)
    return TaskModel(config, words, names, theta.astype(np.float32), columns, every, objectives)


def said(source: str) -> str:
    return "a tag" if source == "tag" else f"a feature of namespace {source}"
