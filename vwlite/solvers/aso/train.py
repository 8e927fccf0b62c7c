"""SVD-ASO: Theta out of auxiliary problems (Ando and Zhang 2005, figure 3, and section 5.3 for feature groups)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np

from vwlite.config_check import Double, JsonObject, require
from vwlite.data.batch import Classes
from vwlite.errors import DataError, UsageError, escaped
from vwlite.features.sparse_rows import Rows, Vocabulary, Weights
from vwlite.features.theta import Theta, shared_features
from vwlite.options import GIB, check_memory
from vwlite.solvers.aso.auxiliary import (
    LABELLED,
    Aux,
    View,
    behaviour,
    check_problems,
    halves,
    in_spaces,
    joint_problems,
    most_frequent,
    most_positive,
    pivots,
    present,
    views,
)
from vwlite.solvers.aso.classifier import classes_in, fit, labels_of
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.problem_list import Listed, holding, keep_chosen
from vwlite.solvers.aso.sgd import Targets, objective, side_by_side, solve, zero_weights
from vwlite.solvers.tall_matrices import leading
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural


@dataclass(slots=True)
class Problems:
    """Problems that are predicted from the same features: bool[p] ``seen``; ``kinds``: the kind of each."""

    seen: np.ndarray
    made: Targets
    kinds: list[str]

    def listed(self) -> list[Listed]:
        positives = np.bincount(self.made.positive.indices, minlength=len(self.kinds)).tolist()
        seen = int(self.seen.sum())
        rows = zip(self.kinds, self.made.names, positives, strict=True)
        return [Listed(escaped(kind), escaped(name), count, seen) for kind, name, count in rows]


@dataclass(slots=True)
class Learned:
    """The result of learning: ``objectives`` after each iteration, summed over all problems."""

    theta: Theta
    problems: list[Problems]
    objectives: list[float]
    examples: int

    def facts(self, aux: Sequence[str]) -> JsonObject:
        """The report of the learning, as JSON data; ``aux`` are the kinds of problems as they were asked for."""
        theta = self.theta
        return {
            "aux": list(aux),
            "problems": [len(one.made.names) for one in self.problems],
            "listed": [list(row.fields()) for one in self.problems for row in one.listed()],
            "groups": {name: values.tolist() for name, values in zip(theta.names, theta.values, strict=True)},
            "objective": self.objectives if len(self.objectives) > 1 else [],
            "examples": self.examples,
        }


class AlternationState(TypedDict):
    """The progress of a stopped run; ``h``: rows of each group of Theta."""

    objectives: list[Double]
    done: Natural
    total: Double
    h: list[Natural]


class Alternation:
    """Theta from unlabelled rows: weights of all problems with Theta fixed, then Theta by their decomposition.

    ``weights`` of each set of problems: w and the bias, None where they are still to be learned; with several
    iterations those of the last one stay. ``done``: sets whose weights this iteration has learned.
    """

    def __init__(self, config: LearnConfig, corpus: Corpus, labelled: Corpus | None, monitor: Monitor) -> None:
        """Raises UsageError, DataError, Diverged."""
        self.config, self.monitor, say = config, monitor, monitor.remark
        self.words, self.rows, self.problems = prepare_problems(config, corpus, labelled)
        if self.words.rare:
            rare = f"{self.words.rare} that fewer than {config.least} examples have are left out"
            say(f"{len(self.words)} features; {rare}")
        for one in self.problems:
            positives = len(one.made.positive.indices)
            say(f"{len(one.made.names)} problems, {positives} positives, {int(one.seen.sum())} features seen")
        group, names = group_features(config, self.words)
        state_memory(config, self.problems, 2 if config.iterations == 1 else 3, say)
        matrix = np.zeros((len(self.words), 0), np.float32)
        self.theta = Theta(self.words, group, matrix, names, [np.zeros(0) for _ in names])
        self.weights: list[Weights | None] = [None] * len(self.problems)
        self.objectives: list[float] = []
        self.done, self.total = 0, 0.0

    def run(self) -> Learned:
        """Make the iterations that are left. Raises Diverged, Interrupted."""
        config, monitor = self.config, self.monitor
        while len(self.objectives) < config.iterations and not self.settled:
            while self.done < len(self.problems):
                number = self.done
                before = self.weights[number]
                u, own = solve_problems(config, self.rows, self.problems[number], self.theta, before, monitor)
                if config.iterations == 1 and config.positive:
                    np.maximum(u.w, 0, out=u.w)
                with monitor.update():
                    self.weights[number], self.done, self.total = u, number + 1, self.total + own
            theta = decompose(config, self.parts(), self.theta, monitor.remark)
            if config.iterations > 1:
                number = len(self.objectives) + 1
                monitor.history_row(iteration=number, objective=self.total)
                monitor.remark(f"iteration {number}: objective {self.total:.6g}")
            with monitor.update():
                self.theta, self.done = theta, 0
                self.objectives.append(self.total)
                self.total = 0.0
        return Learned(self.theta, self.problems, self.objectives, len(self.rows))

    @property
    def settled(self) -> bool:
        """Whether the last iteration lowered the objective by less than ``tolerance``."""
        if not self.config.tolerance or len(self.objectives) < 2:
            return False
        before, last = self.objectives[-2:]
        return before - last < self.config.tolerance * before

    def parts(self) -> list[tuple[np.ndarray, Any]]:
        """The weights that are decomposed, with the features that they are of."""
        several = self.config.positive and self.config.iterations > 1
        pairs = zip(self.problems, self.weights, strict=True)
        return [(one.seen, np.maximum(u.w, 0) if several else u.w) for one, u in pairs]

    def state(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        """The state that ``restore`` takes."""
        values = [len(one) for one in self.theta.values]
        header = {"objectives": self.objectives, "done": self.done, "total": self.total, "h": values}
        arrays = {"theta": self.theta.matrix, "values": np.concatenate([np.zeros(0), *self.theta.values])}
        known = len(self.problems) if self.objectives else self.done
        for number, u in enumerate(self.weights[:known]):
            arrays |= {f"w_{number}": u.w, f"bias_{number}": u.bias}
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Raises KeyError, ValueError for what is no state of such a run."""
        require(dict(header), AlternationState, "state")
        self.objectives, self.done, self.total = list(header["objectives"]), header["done"], header["total"]
        h = header["h"]
        if self.done > len(self.problems) or len(self.objectives) > self.config.iterations or (
            len(h) != len(self.theta.names)
        ):
            raise ValueError("its iterations")
        matrix = numbers(arrays, "theta", np.float32, (len(self.words), max(h, default=0) if self.objectives else 0))
        values = np.split(numbers(arrays, "values", np.float64, (sum(h),)), np.cumsum(h)[:-1]) if h else []
        self.theta = replace(self.theta, matrix=matrix, values=values)
        known = len(self.problems) if self.objectives else self.done
        for number, one in enumerate(self.problems[:known]):
            count = len(one.made.names)
            w = np.array(numbers(arrays, f"w_{number}", np.float32, (int(one.seen.sum()), count)))
            bias = np.array(numbers(arrays, f"bias_{number}", np.float32, (count,)))
            self.weights[number] = Weights(w, np.zeros((0, count), np.float32), bias)


def learn(
    config: LearnConfig, corpus: Corpus, labelled: Corpus | None, monitor: Monitor | None = None
) -> Learned:
    """Theta from unlabelled rows. Raises UsageError, DataError, Diverged."""
    return Alternation(config, corpus, labelled, monitor or Monitor()).run()


def prepare_problems(
    config: LearnConfig, corpus: Corpus, labelled: Corpus | None
) -> tuple[Vocabulary, Rows, list[Problems]]:
    """The features, the rows that problems are made of, and the problems. Raises UsageError, DataError, Diverged."""
    if not len(corpus.label):
        raise DataError("there is no example to learn from")
    if config.where:
        corpus = holding(corpus, config.where)
    words = corpus.vocabulary(config.least, config.idf, config.stop_words)
    rows = corpus.rows(words, unit=False)
    return words, rows, make_problems(config, rows, words, corpus, labelled)


def solve_problems(
    config: LearnConfig, rows: Rows, one: Problems, theta: Theta, before: Weights | None, monitor: Monitor
) -> tuple[Weights, float]:
    """u of all problems after w was learned with v = Theta u fixed, and the objective then."""
    own = rows.select(one.seen)
    own = own.unit() if config.unit else own
    shared = [theta.matrix[one.seen & (theta.group == g), : len(v)] for g, v in enumerate(theta.values)]
    places = [theta.group[one.seen] == g for g in range(len(shared))]
    width = sum(matrix.shape[1] for matrix in shared)
    weights = zero_weights(int(one.seen.sum()), width, len(one.made.names))
    if width and before is not None:
        whole = np.zeros((len(weights.w), width), np.float32)
        at = 0
        for matrix, place in zip(shared, places, strict=True):
            whole[place, at : at + matrix.shape[1]] = matrix
            at += matrix.shape[1]
        weights.v = whole.T @ before.w
        weights.w = before.w - whole @ weights.v
        weights.bias = before.bias.copy()
        own = replace(own, extra=shared_features(own, whole))
    solve(replace(config.solver, shared_rate=0.0), own, one.made, weights, monitor)
    value = objective(config.solver, own, one.made, weights) if config.iterations > 1 else 0.0
    if width and before is not None:
        weights.w += whole @ weights.v
    return weights, value


def decompose(
    config: LearnConfig, parts: Sequence[tuple[np.ndarray, Any]], old: Theta, say: Callable[[str], None]
) -> Theta:
    """Theta of each group from the u, arrays, of all problems that see it."""
    tables, values = [], []
    for number, name in enumerate(old.names):
        own = old.group == number
        u = gather_parts(parts, own)
        left, singular = leading(u, dict(config.dims).get(name, config.dim))
        tables.append((own, left))
        values.append(singular)
        values_text = " ".join(f"{value:.4g}" for value in singular[:10].tolist())
        say(f"group {name}: {len(left)} features, h = {len(singular)}, singular values {values_text} ...")
    matrix = np.zeros((len(old.group), max((len(v) for v in values), default=0)), np.float32)
    for own, left in tables:
        matrix[own, : left.shape[1]] = left
    return Theta(old.words, old.group, matrix, old.names, values)


def gather_parts(parts: Sequence[tuple[np.ndarray, Any]], own: np.ndarray) -> np.ndarray:
    """float32[p of the group, problems]: u of the problems that see some of the group, 0 where they see nothing."""
    near = [(seen, u) for seen, u in parts if (own & seen).any()]
    if len(near) == 1 and near[0][0][own].all():  # no second copy of what may be large
        return near[0][1][own[near[0][0]]]
    table = np.zeros((int(own.sum()), sum(u.shape[1] for _, u in near)), np.float32)
    at = 0
    for seen, u in near:
        table[seen[own], at : at + u.shape[1]] = u[own[seen]]
        at += u.shape[1]
    return table


def make_problems(
    config: LearnConfig, rows: Rows, words: Vocabulary, corpus: Corpus, labelled: Corpus | None
) -> list[Problems]:
    """All problems; those that see the same features are learned together."""
    by_seen: dict[bytes, tuple[np.ndarray, list[Targets], list[str]]] = {}
    unknown = set(config.chosen or ())
    for aux in config.aux:
        several_views = views(aux, words, config.solver.seed, config.view_words) if aux.kind != "pivot" else None
        pairs = several_views or [pivot_view(config, aux, words, labelled)]
        for number, view in enumerate(pairs, 1):
            if not view.seen.any():
                raise UsageError(f"--aux {aux.text} hides all features: none is left to predict from")
            problems = problems_of(config, aux, view, (rows, words, corpus, labelled))
            check_problems(problems, aux)
            kind = f"{aux.text}/{number}" if len(pairs) > 1 else aux.text
            unknown -= {(escaped(kind), escaped(name)) for name in problems.names}
            problems = problems if config.chosen is None else keep_chosen(problems, kind, config.chosen)
            if problems.names:
                _, several, kinds = by_seen.setdefault(view.seen.tobytes(), (view.seen, [], []))
                several.append(problems)
                kinds += [kind] * len(problems.names)
    if unknown:
        raise DataError(f"--problems: this text and these --aux have no problem {' '.join(min(unknown))}")
    if not by_seen:
        raise DataError("--problems leaves no problem")
    return [Problems(seen, side_by_side(several), kinds) for seen, several, kinds in by_seen.values()]


def labelled_rows(
    config: LearnConfig, aux: Aux, words: Vocabulary, labelled: Corpus | None
) -> tuple[Rows, Targets]:
    """Rows that have a class, and their classes. Raises UsageError."""
    if labelled is None:
        raise UsageError(f"--aux {aux.kind} needs --labeled FILE: {', '.join(LABELLED)} are made of labelled examples")
    own, labels = labels_of(labelled, classes_in(labelled, config.several))
    return labelled.rows(words, unit=False).take(own), labels


def pivot_view(config: LearnConfig, aux: Aux, words: Vocabulary, labelled: Corpus | None) -> View:
    known, labels = labelled_rows(config, aux, words, labelled)
    return pivots(aux, words, known, labels, config.least)


def problems_of(config: LearnConfig, aux: Aux, view: View, data: tuple) -> Targets:
    rows, words, corpus, labelled = data
    if aux.kind in ("freq", "freq-k"):
        return most_frequent(rows, view, words, config.most, aux.k)
    if aux.joint:
        return joint_problems(rows, words, aux.joint, config.most)
    if aux.kind in ("mask", "pivot"):
        return present(rows, view, words, max(config.most, aux.k))
    if aux.kind == "more":
        return present(rows, view, words, config.most, aux.above)
    if aux.kind == "labels":
        labels, task = labels_of(corpus, Classes.of(corpus.texts, several=True))
        return most_positive(labels[task.positive.owner], task.positive.indices, len(rows), task.names, config.most)
    known, task = labelled_rows(config, aux, words, labelled)
    if aux.k == 0:  # the mean number of labels, as in the paper's section 7.2.2
        aux = replace(aux, k=max(1, int(len(task.positive.indices) / len(known) + 0.5)))
    known, seen = known.select(view.hidden), rows.select(view.hidden)
    if config.unit:
        known, seen = known.unit(), seen.unit()
    trained = fit(known, task, config.target)
    w = np.zeros((max(int(view.hidden.sum()), len(trained.w)), len(task.names)), np.float32)
    w[: len(trained.w)] = trained.w
    return behaviour(aux, Weights(w, trained.v, trained.bias).scores(seen), task.names, config.most)


def group_features(config: LearnConfig, words: Vocabulary) -> tuple[np.ndarray, list[str]]:
    """int32[p] group of each feature and the groups' names: namespaces, or ``--group``s, by random view where split."""
    base, names = words.space.copy(), list(words.spaces)
    if config.groups:
        base = np.full(len(words), -1, np.int32)
        names = [",".join(spaces) for spaces in config.groups]
        for number, spaces in enumerate(config.groups):
            base[in_spaces(words, spaces)] = number
    if any(aux.splits for aux in config.aux):
        half = halves(words, config.solver.seed, config.view_words)
        base = np.where(base < 0, -1, 2 * base + half)
        names = [f"{name}/{view}" for name in names for view in (1, 2)]
    held = [number for number in range(len(names)) if (base == number).any()]
    place = np.full(len(names) + 1, -1, np.int32)
    place[held] = np.arange(len(held))
    return place[base], [names[number] for number in held]


def state_memory(config: LearnConfig, problems: list[Problems], times: float, say: Callable[[str], None]) -> None:
    """Say what will be taken before it is, ``times`` the weights. Raises UsageError when that is more than allowed."""
    need = times * sum(4.0 * float(one.seen.sum()) * len(one.made.names) for one in problems)
    subject = f"the weights of {sum(len(one.made.names) for one in problems)} problems"
    say(f"{need / GIB:.2f} GiB of memory for {subject}")
    check_memory(need, config.memory, subject, "fewer --max-problems, a larger --min-count or fewer --aux need less")
