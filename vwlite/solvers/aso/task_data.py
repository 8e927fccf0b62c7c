"""Examples of many tasks: the rows of each, and the numbers that are their labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from vwlite.errors import DataError, Diverged, escaped
from vwlite.features.sparse_rows import Rows, Vocabulary
from vwlite.solvers.aso.config import OF_SIGNS
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import losses

TAG = "tag"


@dataclass(slots=True)
class TaskRows:
    """``task`` int64[n]: place in the names of tasks, -1 where unknown or not said; ``said``: bool[n], is it said?"""

    rows: Rows
    task: np.ndarray
    said: np.ndarray


def task_names(corpus: Corpus, source: str) -> list[str]:
    """The task of each row, "" where it has none; a row of several features in the namespace has the first by key."""
    if source == TAG:
        return [tag.decode("utf-8", "surrogateescape").removeprefix("'") for tag in corpus.tags]
    sizes, keys = (np.concatenate([part[column] for part in corpus.parts]) for column in (0, 1))
    own = np.array([key for key, (space, _) in corpus.known.items() if space == source], np.uint32)
    hits = np.flatnonzero(np.isin(keys, own))
    owner = np.repeat(np.arange(len(sizes)), sizes)[hits]
    names = [""] * len(sizes)
    for row, key in zip(owner[::-1].tolist(), keys[hits][::-1].tolist(), strict=True):
        names[row] = corpus.known[key][1]
    return names


def features(corpus: Corpus, source: str) -> Vocabulary:
    """All features but those that name tasks."""
    words = corpus.vocabulary()
    if source not in words.spaces:
        return words
    keep = words.space != words.spaces.index(source)
    names = [name for name, kept in zip(words.names, keep.tolist(), strict=True) if kept]
    return Vocabulary(words.key[keep], words.space[keep], names, words.spaces)


def task_rows(corpus: Corpus, words: Vocabulary, source: str, tasks: list[str]) -> TaskRows:
    index = {name: place for place, name in enumerate(tasks)}
    names = task_names(corpus, source)
    task = np.array([index.get(name, -1) for name in names], np.int64)
    return TaskRows(corpus.rows(words, unit=False), task, np.array([name != "" for name in names], bool))


def numbers_of(corpus: Corpus, loss: str) -> np.ndarray:
    """float64[n]: the labels, nan where there is none. Raises DataError for one that is none of the loss."""
    values = np.full(len(corpus.texts) + 1, np.nan)  # the last for rows without a label
    for place, text in enumerate(corpus.texts):
        try:
            values[place] = float(text)
        except ValueError:
            values[place] = np.inf
        if not np.isfinite(values[place]):
            raise DataError(f"labels of tasks are numbers, and one is {escaped(text)}")
        if loss in OF_SIGNS and abs(values[place]) != 1:
            raise DataError(f"labels of --loss_function {loss} are -1 and 1, and one is {escaped(text)}")
    return values[corpus.label]


@dataclass(slots=True)
class Task:
    """The examples of one task over the features that they have."""

    x: np.ndarray  # float64[n, q], rows times the square root of their importance
    y: np.ndarray  # float64[n], likewise
    root: np.ndarray  # float64[n], the square roots
    own: np.ndarray  # int64[q], the features
    size: float  # sum of importance
    penalty: float


def solved(task: Task, theta: np.ndarray, constant: bool) -> tuple[np.ndarray, np.ndarray, float, float]:
    """w float64[q], v float64[h], intercept and least value of (1/n) |Xw + Zv + b - y|^2 + lambda |w|^2, Z = X Theta'.

    With A = X X' + n lambda I the residual is n lambda alpha, A alpha = y - [Z 1] g, and g solves the normal equations
    of [Z 1] in the metric of A's inverse, by the pseudoinverse where columns depend on each other. Raises Diverged
    where features are so large that n lambda is lost beside their products.
    """
    try:
        return by_least_squares(task, theta, constant)
    except np.linalg.LinAlgError as error:
        why = "features are too large for their task to be solved: scale them, or take a larger --lambda"
        raise Diverged(why) from error


def solve(products: np.ndarray, ridge: float, right: np.ndarray) -> np.ndarray:
    """Raises LinAlgError where the ridge is lost beside products that are singular, whatever rounding makes of them."""
    size = len(products)
    lost = ridge <= np.finfo(float).eps * products.diagonal().max(initial=0)
    if lost and np.linalg.matrix_rank(products, hermitian=True) < size:
        raise np.linalg.LinAlgError("the products are singular, and the ridge is lost beside them")
    return np.linalg.solve(products + ridge * np.eye(size), right)


def by_least_squares(task: Task, theta: np.ndarray, constant: bool) -> tuple[np.ndarray, np.ndarray, float, float]:
    ridge = task.size * task.penalty
    free = np.hstack((task.x @ theta[task.own], task.root[:, None][:, : int(constant)]))
    both = np.hstack((free, task.y[:, None]))
    n, q = task.x.shape
    if n <= q:
        inverse = solve(task.x @ task.x.T, ridge, both)
    else:  # Woodbury: the smaller side
        inner = solve(task.x.T @ task.x, ridge, task.x.T @ both)
        inverse = (both - task.x @ inner) / ridge
    g = np.linalg.pinv(free.T @ inverse[:, :-1], rcond=1e-12, hermitian=True) @ (free.T @ inverse[:, -1])
    alpha = inverse[:, -1] - inverse[:, :-1] @ g
    w = task.x.T @ alpha
    h = theta.shape[1]
    value = (ridge * np.linalg.norm(alpha)) ** 2 / task.size + task.penalty * (w @ w)
    return w, g[:h], float(g[h]) if constant else 0.0, float(value)


STEPS, HALVINGS = 50, 30
TOLERANCE = 1e-9  # a step that lowers the value by a smaller share is the last
FLAT = 1e-5  # the least curvature that is taken for one, where scores are large


def fitted(
    task: Task, theta: np.ndarray, constant: bool, common: np.ndarray, score: np.ndarray, loss: str = "logistic"
) -> tuple[np.ndarray, np.ndarray, float, float, np.ndarray]:
    """w float64[q], v float64[h], intercept, value and scores float64[n], from the ``score`` of before.

    The value is (1/n) sum of the losses + lambda |w|^2; scores are of x (w + Theta' v + ``common``) + b. ``y`` of the
    task are -1 and 1 times the root.
    """
    y, q, h = task.y / task.root, task.x.shape[1], theta.shape[1]
    base = task.x @ common[task.own] / task.root
    design = np.hstack((task.x, task.x @ theta[task.own], task.root[:, None])) / task.root[:, None]

    def value(at: np.ndarray) -> float:
        of_rows = losses(loss, base + design @ at, y)
        return float(task.root**2 @ of_rows) / task.size + task.penalty * float(at[:q] @ at[:q])

    def step(score: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """w, v and the intercept that least squares of these curvatures have."""
        slope, root = slopes(loss, score, y), np.sqrt(curvature)
        labels = (score - slope / curvature - base) * task.root * root
        own = replace(
            task, x=task.x * root[:, None], y=labels, root=task.root * root, penalty=2 * task.penalty
        )  # fmt: skip
        w, v, bias, _ = solved(own, theta, constant)
        return np.concatenate((w, v, [bias]))

    at = step(score, np.full(len(y), STEEPEST[loss]))
    best = value(at)
    for _ in range(STEPS):
        score = base + design @ at
        at, now = lowered(value, at, step(score, np.maximum(curvatures(loss, score, y), FLAT)), best)
        small, best = now >= best * (1 - TOLERANCE), now
        if small:
            break
    return at[:q], at[q : q + h], float(at[-1]), best, base + design @ at


def lowered(
    value: Callable[[np.ndarray], float], at: np.ndarray, goal: np.ndarray, best: float
) -> tuple[np.ndarray, float]:
    """The way to ``goal``, halved until its value is below ``best``, that of ``at``; ``at`` where none is."""
    size = 1.0
    for _ in range(HALVINGS):
        trial = at + size * (goal - at)
        if (found := value(trial)) < best:
            return trial, found
        size /= 2
    return at, best


STEEPEST = {"logistic": 0.25, "modified_huber": 2.0}  # no curvature is larger


def slopes(loss: str, score: np.ndarray, y: np.ndarray) -> np.ndarray:
    """float64[n]: of the losses by the scores."""
    return -y * (chances(-y * score) if loss == "logistic" else np.clip(2 * (1 - y * score), 0, 4))


def curvatures(loss: str, score: np.ndarray, y: np.ndarray) -> np.ndarray:
    """float64[n]: of the losses; where modified Huber loss is linear below a margin of -1, that of its square."""
    if loss == "modified_huber":
        return np.where(y * score < 1, STEEPEST[loss], 0.0)
    chance = chances(score)
    return chance * (1 - chance)


def probabilities(loss: str, score: np.ndarray) -> np.ndarray:
    """float64[n]: of the label 1, as ``vwlite.solvers.aso.answers`` has them."""
    return chances(score) if loss == "logistic" else (np.clip(score, -1, 1) + 1) / 2


def chances(score: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-score)), by the tangent, which never overflows."""
    chance: np.ndarray = (1 + np.tanh(score / 2)) / 2
    return chance
