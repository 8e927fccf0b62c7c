"""SVD-ASO: Theta out of auxiliary problems (Ando and Zhang 2005, figure 3, and section 5.3 for feature groups)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vwlite.data.label_vocabulary import Classes
from vwlite.errors import DataError, UsageError
from vwlite.escapes import escaped
from vwlite.features.sparse_rows import Rows, Weights
from vwlite.features.theta import Theta, shared_features
from vwlite.features.vocabulary import Vocabulary
from vwlite.memory_limit import GIB, check_memory
from vwlite.solvers.aso.auxiliary import (
    LABELLED,
    SUPERVISED,
    Aux,
    View,
    behaviour,
    check_problems,
    combined,
    halves,
    in_spaces,
    most_frequent,
    most_positive,
    present,
    views,
)
from vwlite.solvers.aso.classifier import classes_in, fit, labels_of
from vwlite.solvers.aso.conditions import holding
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.pivots import pivots
from vwlite.solvers.aso.problem_list import Listed, kept
from vwlite.solvers.aso.rows import Targets, side_by_side
from vwlite.solvers.aso.sgd import objective, solve, zero_weights
from vwlite.solvers.aso.singular_vectors import leading
from vwlite.training.display import Steps, no_steps


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
    """What came of it: ``objectives`` after each iteration, summed over all problems."""

    theta: Theta
    problems: list[Problems]
    objectives: list[float]
    examples: int

    def facts(self, aux: Sequence[str]) -> dict[str, Any]:
        """What is told of the learning, as JSON data; ``aux`` are the kinds of problems as they were asked for."""
        theta = self.theta
        return {
            "aux": list(aux),
            "problems": [len(one.made.names) for one in self.problems],
            "listed": [list(row.fields()) for one in self.problems for row in one.listed()],
            "groups": {name: values.tolist() for name, values in zip(theta.names, theta.values, strict=True)},
            "objective": self.objectives if len(self.objectives) > 1 else [],
            "examples": self.examples,
        }


def learn(
    config: LearnConfig, corpus: Corpus, labelled: Corpus | None, say: Callable[[str], None] = lambda line: None,
    steps: Steps = no_steps,
) -> Learned:
    """Theta from unlabelled rows. Raises UsageError, DataError, Diverged."""
    words, rows, problems = prepared(config, corpus, labelled)
    if words.rare:
        say(f"{len(words)} features; {words.rare} that fewer than {config.least} examples have are left out")
    for one in problems:
        positives = len(one.made.positive.indices)
        say(f"{len(one.made.names)} problems, {positives} positives, {int(one.seen.sum())} features seen")
    group, names = grouped(config, words)
    state_memory(config, problems, 2 if config.iterations == 1 else 3, say)
    theta = Theta(words, group, np.zeros((len(words), 0), np.float32), names, [np.zeros(0) for _ in names])
    kept: list[Weights | None] = [None] * len(problems)
    objectives = []
    for _ in range(config.iterations):
        parts = []
        total = 0.0
        for number, one in enumerate(problems):
            u, own = solved(config, rows, one, theta, kept[number], say, steps)
            total += own
            kept[number] = u if config.iterations > 1 else None
            parts.append((one.seen, positive_part(u.w, kept[number] is None) if config.positive else u.w))
        objectives.append(total)
        theta = decomposed(config, parts, theta, say)
        if config.iterations > 1:
            say(f"iteration {len(objectives)}: objective {total:.6g}")
    return Learned(theta, problems, objectives, len(rows))


def prepared(
    config: LearnConfig, corpus: Corpus, labelled: Corpus | None
) -> tuple[Vocabulary, Rows, list[Problems]]:
    """The features, the rows that problems are made of, and the problems. Raises UsageError, DataError, Diverged."""
    if not len(corpus.label):
        raise DataError("there is no example to learn from")
    if config.where:
        corpus = holding(corpus, config.where)
    words = corpus.vocabulary(config.least, config.idf)
    rows = corpus.rows(words, unit=False)
    return words, rows, make_problems(config, rows, words, corpus, labelled)


def solved(
    config: LearnConfig, rows: Rows, one: Problems, theta: Theta, before: Weights | None, say: Callable[[str], None],
    steps: Steps,
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
        weights.bias = before.bias
        own = replace(own, extra=shared_features(own, whole))
    solve(replace(config.solver, shared_rate=0.0), own, one.made, weights, say, steps)
    value = objective(config.solver, own, one.made, weights) if config.iterations > 1 else 0.0
    if width and before is not None:
        weights.w += whole @ weights.v
    return weights, value


def decomposed(
    config: LearnConfig, parts: Sequence[tuple[np.ndarray, Any]], old: Theta, say: Callable[[str], None]
) -> Theta:
    """Theta of each group from the u, arrays, of all problems that see it."""
    tables, values = [], []
    for number, name in enumerate(old.names):
        own = old.group == number
        u = gathered(parts, own)
        left, singular = leading(u, dict(config.dims).get(name, config.dim))
        tables.append((own, left))
        values.append(singular)
        shown = " ".join(f"{value:.4g}" for value in singular[:10].tolist())
        say(f"group {name}: {len(left)} features, h = {len(singular)}, singular values {shown} ...")
    matrix = np.zeros((len(old.group), max((len(v) for v in values), default=0)), np.float32)
    for own, left in tables:
        matrix[own, : left.shape[1]] = left
    return Theta(old.words, old.group, matrix, old.names, values)


def positive_part(u: np.ndarray, in_place: bool) -> np.ndarray:
    return np.maximum(u, 0, out=u if in_place else None)


def gathered(parts: Sequence[tuple[np.ndarray, Any]], own: np.ndarray) -> np.ndarray:
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
        several_views = views(aux, words, config.solver.seed) if aux.kind != "pivot" else None
        pairs = several_views or [pivot_view(config, aux, words, labelled)]
        for number, view in enumerate(pairs, 1):
            if not view.seen.any():
                raise UsageError(f"--aux {aux.text} hides all features: none is left to predict from")
            made = problems_of(config, aux, view, (rows, words, corpus, labelled))
            check_problems(made, aux)
            kind = f"{aux.text}/{number}" if len(pairs) > 1 else aux.text
            unknown -= {(escaped(kind), escaped(name)) for name in made.names}
            made = made if config.chosen is None else kept(made, kind, config.chosen)
            if made.names:
                _, several, kinds = by_seen.setdefault(view.seen.tobytes(), (view.seen, [], []))
                several.append(made)
                kinds += [kind] * len(made.names)
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
    own, made = labels_of(labelled, classes_in(labelled, config.several))
    return labelled.rows(words, unit=False).take(own), made


def pivot_view(config: LearnConfig, aux: Aux, words: Vocabulary, labelled: Corpus | None) -> View:
    known, made = labelled_rows(config, aux, words, labelled)
    return pivots(aux, words, known, made, config.least)


def problems_of(config: LearnConfig, aux: Aux, view: View, data: tuple) -> Targets:
    rows, words, corpus, labelled = data
    if aux.kind in ("freq", "freq-k"):
        return most_frequent(rows, view, words, config.most, aux.k)
    if aux.joint:
        return combined(rows, words, aux.joint, config.most)
    if aux.kind in ("mask", "pivot"):
        return present(rows, view, words, max(config.most, aux.k))
    if aux.kind == "more":
        return present(rows, view, words, config.most, aux.above)
    if aux.kind == "labels":
        labels, made = labels_of(corpus, Classes.of(corpus.texts, several=True))
        return most_positive(labels[made.positive.owner], made.positive.indices, len(rows), made.names, config.most)
    known, made = labelled_rows(config, aux, words, labelled)
    if aux.k == 0:  # the mean number of labels, as in the paper's section 7.2.2
        aux = replace(aux, k=max(1, int(len(made.positive.indices) / len(known) + 0.5)))
    known, seen = known.select(view.hidden), rows.select(view.hidden)
    if config.unit:
        known, seen = known.unit(), seen.unit()
    found = fit(known, made, config.target)
    w = np.zeros((max(int(view.hidden.sum()), len(found.w)), len(made.names)), np.float32)
    w[: len(found.w)] = found.w
    return behaviour(aux, Weights(w, found.v, found.bias).scores(seen), made.names, config.most)


def grouped(config: LearnConfig, words: Vocabulary) -> tuple[np.ndarray, list[str]]:
    """int32[p] group of each feature and the groups' names: namespaces, or ``--group``s, by random view where split."""
    base, names = words.space.copy(), list(words.spaces)
    if config.groups:
        base = np.full(len(words), -1, np.int32)
        names = [",".join(spaces) for spaces in config.groups]
        for number, spaces in enumerate(config.groups):
            base[in_spaces(words, spaces)] = number
    split = [
        aux
        for aux in config.aux
        if aux.kind.startswith("freq") or (aux.kind in (*SUPERVISED, "more") and not aux.spaces)
    ]
    if split:
        half = halves(words, config.solver.seed)
        base = np.where(base < 0, -1, 2 * base + half)
        names = [f"{name}/{view}" for name in names for view in (1, 2)]
    held = [number for number in range(len(names)) if (base == number).any()]
    place = np.full(len(names) + 1, -1, np.int32)
    place[held] = np.arange(len(held))
    return place[base], [names[number] for number in held]


def state_memory(config: LearnConfig, problems: list[Problems], times: float, say: Callable[[str], None]) -> None:
    """Say what will be taken before it is, ``times`` the weights. Raises UsageError when that is more than allowed."""
    need = times * sum(4.0 * float(one.seen.sum()) * len(one.made.names) for one in problems)
    what = f"the weights of {sum(len(one.made.names) for one in problems)} problems"
    say(f"{need / GIB:.2f} GiB of memory for {what}")
    check_memory(need, config.memory, what, "fewer --max-problems, a larger --min-count or fewer --aux need less")
