"""Which scale, rows of Theta and options of the solver fit: every point of a grid is tried by cross-validation.

No Theta at all is always among the points.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Classes
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.tuning import Dimension
from vwlite.features.sparse_rows import Rows
from vwlite.features.theta import Theta
from vwlite.interrupts import raise_if_stopped
from vwlite.options import OptionValues
from vwlite.solvers.aso.auxiliary import mix_keys
from vwlite.solvers.aso.classifier import check_idf, classes_in, labels_of, merge_vocabularies, scale_for, with_shared
from vwlite.solvers.aso.config import SelectionConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import Targets, solve, targets, zero_weights
from vwlite.training.listener import Monitor

OF_THETA = {"theta_scale": float, "theta_dim": int}  # options by field, and what they are read as
OF_SOLVER = {"penalty": float, "rate": float, "passes": int, "loss": str}
SPELLED = {
    "--theta-scale": "theta_scale", "--theta-dim": "theta_dim", "--lambda": "penalty", "-l": "rate",
    "--learning-rate": "rate", "--passes": "passes", "--loss-function": "loss",
}  # fmt: skip
EVERY = -1  # in place of a fold: in every part that is learned, and in none that is measured
TIE = 0.5  # standard errors of the difference from the best point, within which the smaller scale is taken


@dataclass(slots=True)
class Point:
    """Options that are tried together; ``scale`` 0 and ``dim`` None: no Theta.

    ``hits``, ``said`` and ``meant`` float64[n], of each example: weight of the classes that were answered rightly,
    answered, and named by its label.
    """

    config: TargetConfig
    scale: float
    dim: int | None
    options: OptionValues
    counts: np.ndarray = field(default_factory=lambda: np.zeros((3, 0)))  # hits, said, meant

    @property
    def score(self) -> float:
        """Micro-averaged F, which is the accuracy where there is one class a label."""
        hits, predicted, meant = self.counts.sum(1)
        return float(2 * hits / (predicted + meant)) if predicted + meant else 0.0

    @property
    def influence(self) -> np.ndarray:
        """float64[n]: what each example adds to the score, to first order, times the number of examples."""
        hits, predicted, meant = self.counts
        middle = (predicted + meant).mean()
        return (2 * hits - self.score * (predicted + meant)) / middle if middle else hits

    @property
    def shown(self) -> JsonObject:
        return {**self.options, "score": self.score}


@dataclass(slots=True)
class Selection:
    """All points, and which was chosen."""

    points: list[Point]
    chosen: Point
    measure: str

    def facts(self, folds: int) -> JsonObject:
        table = [point.shown for point in self.points]
        return {"folds": folds, "measure": self.measure, "chosen": self.chosen.options, "points": table}

    def said(self) -> Iterable[str]:
        """Lines for people: the points from the best on, what was chosen, and whether Theta helps."""
        for point in sorted(self.points, key=lambda one: -one.score):
            mark = "*" if point is self.chosen else " "
            yield f"{mark} {100 * point.score:6.2f}  {words_of(point.options)}"
        with_theta = [point.score for point in self.points if point.dim is not None]
        without = max((point.score for point in self.points if point.dim is None), default=0.0)
        if with_theta and self.chosen.dim is None:
            yield f"Theta does not help here: {100 * max(with_theta):.1f} with, {100 * without:.1f} without it"


def words_of(options: OptionValues) -> str:
    spelled = {name: option for option, name in reversed(SPELLED.items())} | {"theta": "--theta"}
    values = (value if isinstance(value, str) else f"{value:g}" for value in options.values())
    return " ".join(f"{spelled[name]} {value}" for name, value in zip(options, values, strict=True)) or "the defaults"


def read_vary(texts: Sequence[str], theta: bool) -> dict[str, list[Any]]:
    """The values to try, by field. Raises UsageError for what cannot vary."""
    values_by_field: dict[str, list[Any]] = {}
    for text in texts:
        dimension = Dimension.read(text)
        option = dimension.option.replace("_", "-")
        if option not in SPELLED:
            raise UsageError(f"--vary: {dimension.option} cannot vary here; {', '.join(SPELLED)} can")
        name = SPELLED[option]
        if name in values_by_field:
            raise UsageError(f"--vary has {option} twice")
        if name in OF_THETA and not theta:
            raise UsageError(f"--vary {option} does nothing without --theta")
        if not dimension.choices:
            raise UsageError(f"--vary takes values like '{option} A|B|C' here, not {text!r}")
        values_by_field[name] = [value_of(option, name, word) for word in dict.fromkeys(dimension.choices)]
    return values_by_field


def value_of(option: str, name: str, word: str) -> Any:
    """Raises UsageError."""
    kind = {**OF_THETA, **OF_SOLVER}[name]
    try:
        value = kind(word)
    except ValueError:
        raise UsageError(f"--vary {option} takes {'whole ' if kind is int else ''}numbers, not {word!r}") from None
    if name in OF_THETA and not 0 < value < float("inf"):
        raise UsageError(f"--vary {option} takes numbers above 0, not {word!r}")
    if name in OF_SOLVER:
        SolverConfig(**{name: value})
    return value


def points_of(vary: dict[str, list[Any]], theta: Theta | None, config: TargetConfig, dim: int | None) -> list[Point]:
    """The grid, without Theta first. ``config`` has the scale where it does not vary. Raises UsageError."""
    points = []
    of_solver = {name: values for name, values in vary.items() if name in OF_SOLVER}
    for values in product(*of_solver.values()):
        options = dict(zip(of_solver, values, strict=True))
        solver = replace(config, solver=replace(config.solver, **options))
        points.append(Point(solver, 0.0, None, {"theta": "none", **options} if theta else options))
        if theta is None:
            continue
        usual = dim or theta.matrix.shape[1]
        for scale, rows in product(vary.get("theta_scale", [config.theta_scale]), vary.get("theta_dim", [usual])):
            of_theta = {name: value for name, value in (("theta_scale", scale), ("theta_dim", rows)) if name in vary}
            point = replace(solver, theta_scale=float(scale))
            points.append(Point(point, float(scale), rows, {**of_theta, **options}))
    return points


def folds_of(corpus: Corpus, labelled: np.ndarray, made: Targets, folds: int, seed: int) -> np.ndarray:
    """int64[n]: the fold of each labelled example, by a hash of its number, evenly for each label.

    Examples of a class that no other example has are in no fold. Raises UsageError.
    """
    if folds > len(labelled):
        raise UsageError(f"--folds {folds}: there are only {len(labelled)} labelled examples")
    label = corpus.label[labelled]
    keys = mix_keys(labelled.astype(np.uint64), seed)
    order = np.lexsort((keys, label))
    result = np.empty(len(labelled), np.int64)
    result[order] = np.arange(len(labelled)) % folds
    counts = np.bincount(made.positive.indices, minlength=len(made.names))
    result[made.positive.owner[counts[made.positive.indices] < 2]] = EVERY
    return result


@dataclass(slots=True)
class Data:
    """Labelled rows, their classes and folds; of every number of rows of Theta that is tried their features."""

    plain: Rows
    weighted: Rows  # as Theta has them, with its weights of terms
    shared: dict[int, np.ndarray]  # float32[n, sum of h], of length 1 each group
    made: Targets
    folds: np.ndarray
    several: bool

    def rows(self, point: Point) -> Rows:
        if point.dim is None:
            return self.plain
        return replace(self.weighted, extra=self.shared[point.dim] * np.float32(point.scale))

    def measured(self, point: Point, fold: int) -> np.ndarray:
        """float64[3, examples of the fold]: the counts of a point that all others teach. Raises Diverged."""
        rows, count = self.rows(point), len(self.made.names)
        known, held = np.flatnonzero(self.folds != fold), np.flatnonzero(self.folds == fold)
        place = np.full(len(rows), -1)
        place[known] = np.arange(len(known))
        owner, index = self.made.positive.owner, self.made.positive.indices
        inside = place[owner] >= 0
        part = targets(place[owner[inside]], index[inside], len(known), self.made.names)
        weights = zero_weights(int(rows.terms.indices.max(initial=0)) + 1, rows.extra.shape[1], count)
        solve(replace(point.config.solver, threads=1), rows.take(known), part, weights)
        scores = weights.scores(rows.take(held))
        chosen = scores > 0
        if not self.several:
            chosen = np.arange(count) == scores.argmax(1)[:, None]
        place[held] = np.arange(len(held))
        among = self.folds[owner] == fold
        true = np.zeros(chosen.shape, bool)
        true[place[owner[among]], index[among]] = True
        counts = [(chosen & true).sum(1), chosen.sum(1), true.sum(1)]
        return np.stack(counts) * self.plain.importance[held].astype(np.float64)

    def gathered(self, counts: list[np.ndarray]) -> np.ndarray:
        """The counts of all folds of a point, in the order of examples. Raises ValueError for those of other folds."""
        totals = np.zeros((3, len(self.folds)))
        for fold, one in enumerate(counts):
            totals[:, self.folds == fold] = one
        return totals[:, self.folds != EVERY]


def prepare_data(
    corpus: Corpus, theta: Theta | None, config: TargetConfig, several: bool, dims: Iterable[int], folds: int
) -> Data:
    """Raises UsageError, DataError."""
    check_idf(theta, config)
    classes: Classes = classes_in(corpus, several)
    labelled, labels = labels_of(corpus, classes)
    own = corpus.vocabulary(idf=config.idf and theta is None)
    plain = corpus.rows(own, config.unit).take(labelled)
    weighted, shared = plain, {}
    if theta:
        words = merge_vocabularies(own, theta.words)
        whole = corpus.rows(words, config.unit).take(labelled)
        unscaled = replace(config, theta_scale=1.0)
        shared = {dim: with_shared(whole, words, theta.cut(dim), unscaled).extra for dim in dims}
        weighted = whole.select(whole.presence(len(words)) > 0)
    return Data(plain, weighted, shared, labels, folds_of(corpus, labelled, labels, folds, config.solver.seed), several)


def select(
    corpus: Corpus, theta: Theta | None, config: TargetConfig, selection: SelectionConfig, several: bool = False,
    monitor: Monitor | None = None, found: list[np.ndarray] | None = None,
) -> Selection:  # fmt: skip
    """Try all points on every fold. Raises UsageError, DataError, Diverged.

    ``found``: the counts that were measured, to which the others are added; ValueError for those of other folds.
    """
    monitor, found = monitor or Monitor(), [] if found is None else found
    vary = read_vary(selection.vary, theta is not None)
    if config.theta_scale is None:
        config = replace(config, theta_scale=scale_for(int((corpus.label >= 0).sum())))
    points = points_of(vary, theta, config, selection.dim)
    dims = {point.dim for point in points if point.dim is not None}
    data = prepare_data(corpus, theta, config, several, dims, selection.folds)
    if not (data.folds != EVERY).any():
        raise DataError("--folds: no class has two examples, so that nothing can be measured")
    jobs = [(point, fold) for point in points for fold in range(selection.folds)]
    if len(found) > len(jobs):
        raise ValueError("its folds")
    with ThreadPoolExecutor(config.solver.threads) as pool:
        for counts in pool.map(lambda job: data.measured(*job), jobs[len(found) :]):
            raise_if_stopped()
            with monitor.update():
                found.append(counts)
            monitor.step(len(found), len(jobs))
    for number, point in enumerate(points):
        point.counts = data.gathered(found[number * selection.folds : (number + 1) * selection.folds])
    return Selection(points, best_of(points), "micro_f1" if several else "accuracy")


def best_of(points: list[Point]) -> Point:
    """The best; of those that are hardly below it the one of the smallest scale, and of these the best."""
    best = max(points, key=lambda point: point.score)
    near = [point for point in points if best.score - point.score <= TIE * error(best, point)]
    return min(near, key=lambda point: (point.scale, -point.score))


def error(one: Point, other: Point) -> float:
    """The standard error of the difference of two scores, over the examples, which both were measured on."""
    values = one.influence - other.influence
    return float(values.std() / max(len(values), 1) ** 0.5)
