"""Co-training and self-training: classifiers label the examples that they and each other learn from next.

Two classifiers see two parts of the features. In each round each of them labels some examples of a pool, the most
confident of classes that are drawn as often as the labelled examples have them, and both learn from these too (Blum and
Mitchell, COLT 1998, as in section 7.2.6 of Ando and Zhang 2005). With one classifier of all features this is
self-training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np

from vwlite._native import batch_rows
from vwlite.config_check import JsonObject, require
from vwlite.data.batch import Classes
from vwlite.data.batch import join_rows as behind
from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import Rows, Vocabulary, Weights
from vwlite.features.theta import Theta
from vwlite.options import USUAL_MEMORY, check_memory
from vwlite.solvers.aso.auxiliary import halves, in_spaces, mix_keys
from vwlite.solvers.aso.classifier import (
    Target,
    check_idf,
    classes_in,
    labels_of,
    merge_vocabularies,
    scale_for,
    with_shared,
)
from vwlite.solvers.aso.config import CotrainConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import solve, targets, zero_weights
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural

Stopped = tuple[JsonObject, dict[str, np.ndarray]]
SHARE = 4  # of the first round's passes that each later one makes: it goes on from the weights of the round before
NO_CLASS = -1


@dataclass(slots=True)
class Cotrained:
    """The model of the round ``best``, and the figures of every round, of which the first learned the labels alone."""

    target: Target
    history: list[JsonObject]
    best: int


@dataclass(slots=True)
class View:
    """One classifier: the features it sees, bool[p], all rows of these alone, and whether a row has any."""

    seen: np.ndarray
    rows: Rows
    filled: np.ndarray  # bool[n]
    weights: Weights

    def learn(self, config: SolverConfig, taken: np.ndarray, importance: np.ndarray, label: np.ndarray) -> None:
        """Learn on from the rows ``taken``, whose classes are ``label``."""
        rows = replace(self.rows.take(taken), importance=importance[taken])
        names = [""] * len(self.weights.bias)
        solve(config, rows, targets(np.arange(len(taken)), label[taken], len(taken), names), self.weights)


def views_of(
    config: CotrainConfig, spaces: Sequence[tuple[str, ...]], words: Vocabulary, seed: int
) -> list[np.ndarray]:
    """bool[p] of each classifier: the features it sees.

    ``spaces``: namespaces of each view, of one against all others, or none for two random halves. Raises UsageError.
    """
    if config.one_view:
        if spaces:
            raise UsageError("--one-view has one classifier of all features: drop --views")
        return [np.ones(len(words), bool)]
    if len(spaces) > 2:
        raise UsageError("--views is given twice at most: there are two views")
    seen = [in_spaces(words, one) for one in spaces] or [halves(words, seed)]
    return seen if len(seen) == 2 else [seen[0], ~seen[0]]


def draw_classes(prior: np.ndarray, count: int, seed: int) -> Iterator[int]:
    """``count`` classes, drawn by the shares ``prior``, float64[classes]."""
    uniform = mix_keys(np.arange(count, dtype=np.uint32), seed) / 2.0**64
    return iter(np.minimum(np.searchsorted(np.cumsum(prior), uniform, "right"), len(prior) - 1).tolist())


def most_confident(scores: np.ndarray, free: np.ndarray, classes: Iterator[int]) -> list[tuple[int, int]]:
    """Place and class of an example for each of ``classes``: that with its largest score, float32[n, classes].

    Examples are chosen that are ``free``, bool[n], and are so no longer.
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    begin, chosen = [0] * scores.shape[1], []
    for number in classes:
        while begin[number] < len(scores) and not free[order[begin[number], number]]:
            begin[number] += 1
        if begin[number] == len(scores):
            break
        place = int(order[begin[number], number])
        free[place] = False
        chosen.append((place, number))
    return chosen


def surest(scores: np.ndarray, free: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Place and best class of the ``count`` examples that are ``free``, bool[n], with the largest scores of all."""
    places = np.flatnonzero(free)
    places = places[np.argsort(-scores[places].max(1), kind="stable")][:count]
    free[places] = False
    return list(zip(places.tolist(), scores[places].argmax(1).tolist(), strict=True))


@dataclass(slots=True)
class Cotrainer:
    """The rounds. Rows are the labelled examples and, behind them, the others.

    ``label`` int64[n] is ``NO_CLASS`` where none was proposed yet.
    """

    config: CotrainConfig
    solver: SolverConfig
    views: list[View]
    label: np.ndarray
    importance: np.ndarray
    prior: np.ndarray  # float64[classes]
    waiting: np.ndarray  # the rows that no round has looked at, in the order in which they come to the pool
    pool: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    rounds: int = 0

    def learn(self) -> None:
        taken = np.flatnonzero(self.label != NO_CLASS)
        passes = max(self.solver.passes // SHARE, 1) if self.rounds else self.solver.passes
        config = replace(self.solver, passes=passes, seed=self.solver.seed + self.rounds)
        for view in self.views:
            view.learn(config, taken, self.importance, self.label)

    def fill(self) -> None:
        more = self.config.pool - len(self.pool)
        self.pool = np.concatenate((self.pool, self.waiting[:more]))
        self.waiting = self.waiting[more:]

    def propose(self) -> tuple[int, float | None]:
        """Labels for examples of the pool.

        Answers how many, and the share of the pool for which both views have the same best class.
        """
        self.fill()
        scores = [view.weights.scores(view.rows.take(self.pool)) for view in self.views]
        agreement = None
        if len(scores) > 1 and len(self.pool):
            agreement = float((scores[0].argmax(1) == scores[1].argmax(1)).mean())
        left = np.ones(len(self.pool), bool)
        for number, (view, own) in enumerate(zip(self.views, scores, strict=True)):
            free = left & view.filled[self.pool]
            before = free.copy()
            if self.config.select == "prior":
                seed = self.solver.seed + len(self.views) * self.rounds + number
                chosen = most_confident(own, free, draw_classes(self.prior, self.config.step, seed))
            else:
                chosen = surest(own, free, self.config.step)
            for place, label in chosen:
                self.label[self.pool[place]] = label
            left &= ~(before & ~free)
        added = int((~left).sum())
        self.pool = self.pool[left]
        self.rounds += 1
        return added, agreement

    def weights(self) -> Weights:
        """The sum of the views' scores, as weights of all features."""
        first = self.views[0]
        total = zero_weights(len(first.seen), *first.weights.v.shape)
        for view in self.views:
            total.w[view.seen] += view.weights.w
            total.v += view.weights.v
            total.bias += view.weights.bias
        return total


def cotrain(
    labelled: Corpus, unlabelled: Corpus, config: CotrainConfig, target: TargetConfig, *,
    spaces: Sequence[tuple[str, ...]] = (), theta: Theta | None = None, test: Corpus | None = None,
    memory: float = USUAL_MEMORY, monitor: Monitor | None = None, stopped: Stopped | None = None,
    measure: Callable[[Target], JsonObject] = lambda target: {},
) -> Cotrained:  # fmt: skip
    """Learn the classes of ``labelled`` and, by the labels that are proposed for them, of ``unlabelled``.

    ``spaces`` as ``views_of`` has them. Each round is a row of ``monitor``: accuracy is that of ``test``, holdout that
    of the share ``config.holdout`` of the labelled examples; ``measure`` finds more of a round's model, for the
    history. ``stopped``: the state of ``Rounds`` to go on from.

    Raises UsageError, DataError, Diverged, and KeyError and ValueError for what is no such state.
    """
    work = rounds_of(
        labelled, unlabelled, config, target, spaces=spaces, theta=theta, test=test, memory=memory,
        monitor=monitor or Monitor(), measure=measure,
    )  # fmt: skip
    if stopped:
        work.restore(*stopped)
    return work.run()


def rounds_of(
    labelled: Corpus, unlabelled: Corpus, config: CotrainConfig, target: TargetConfig, *,
    spaces: Sequence[tuple[str, ...]], theta: Theta | None, test: Corpus | None, memory: float, monitor: Monitor,
    measure: Callable[[Target], JsonObject] = lambda target: {},
) -> Rounds:  # fmt: skip
    """The rounds of ``cotrain``, of which none was made."""
    say = monitor.remark
    check_idf(theta, target)
    classes, seed = classes_in(labelled, False), target.solver.seed
    words = merge_vocabularies(labelled.vocabulary(), unlabelled.vocabulary(idf=target.idf))
    words = merge_vocabularies(words, theta.words) if theta else words
    seen, count = views_of(config, spaces, words, seed), len(classes.names)
    weights_text = f"the weights of {count:,} classes and {len(words):,} features"
    check_memory(4.0 * (len(seen) + 1) * len(words) * count, memory, weights_text, "are the labels names of classes?")
    if (unlabelled.label >= 0).any():
        say("the labels of the unlabelled examples are not used")
    if target.theta_scale is None:
        target = replace(target, theta_scale=scale_for(int((labelled.label >= 0).sum())))

    def rows_of(corpus: Corpus) -> Rows:
        return with_shared(corpus.rows(words, target.unit), words, theta, target)

    own, label = test_rows(rows_of(labelled), labelled, classes)
    held = held_out(len(own), config.holdout, seed)
    judges = {"holdout": (own.take(held), label[held])} if len(held) else {}
    if config.holdout and not judges:
        say("no labelled example was held out, so the model is that of the last round")
    if test is not None:
        judges["accuracy"] = test_rows(rows_of(test), test, classes)
    remaining = np.setdiff1d(np.arange(len(own)), held)
    if len(np.unique(label[remaining])) < 2:
        raise DataError("what is not held out has examples of one class only: a smaller --holdout leaves more")
    rest = rows_of(unlabelled)
    run = prepare_rounds(config, target.solver, own.take(remaining), label[remaining], rest, seen, count, say)

    def figures(weights: Weights) -> JsonObject:
        shares = {name: accuracy(weights, *one) for name, one in judges.items()}
        return {**shares, **measure(Target(classes, words, weights, theta, target))}

    return Rounds(run, figures, list(judges), monitor, lambda weights: Target(classes, words, weights, theta, target))


def test_rows(rows: Rows, corpus: Corpus, classes: Classes) -> tuple[Rows, np.ndarray]:
    """The rows of ``corpus`` that have a label, and its class, int64; ``NO_CLASS``: not of ``classes``."""
    labelled, labels = labels_of(corpus, classes)
    label = np.full(len(labelled), NO_CLASS, np.int64)
    label[labels.positive.owner] = labels.positive.indices
    return rows.take(labelled), label


def prepare_rounds(
    config: CotrainConfig, solver: SolverConfig, own: Rows, label: np.ndarray, others: Rows, seen: list[np.ndarray],
    classes: int, say: Callable[[str], None],
) -> Cotrainer:  # fmt: skip
    """The state before the first round. Raises DataError."""
    parts = (own.importance, others.importance * np.float32(config.weight)), (own.extra, others.extra)
    every = Rows(behind([own.terms, others.terms]), *map(np.concatenate, parts))
    views = [view_of(one, every, classes, say) for one in seen]
    order = np.arange(len(others))
    batch_rows.shuffle(order, solver.seed * 0x9E3779B97F4A7C15 % 2**64)
    waiting = order + len(own)
    waiting = waiting[np.any([view.filled[waiting] for view in views], axis=0)]
    proposed = np.full(len(others), NO_CLASS, np.int64)
    prior = np.bincount(label, minlength=classes) / len(label)
    return Cotrainer(config, solver, views, np.concatenate((label, proposed)), every.importance, prior, waiting)


class RoundsState(TypedDict):
    """The progress of a stopped run; ``waiting``: the rows that no round has looked at."""

    history: list[dict]
    best: Natural
    added: Natural
    waiting: Natural
    over: bool


class Rounds:
    """``best``: the number of the best round by what is held out, else of the last, whose weights are ``kept``."""

    def __init__(
        self, work: Cotrainer, figures: Callable[[Weights], JsonObject], shown: list[str], monitor: Monitor,
        target_of: Callable[[Weights], Target],
    ) -> None:
        """``shown``: names of the figures that stand in the table."""
        self.work, self.figures, self.monitor, self.target_of = work, figures, monitor, target_of
        self.names = ["agreement", *shown] if len(work.views) > 1 else shown
        self.history: list[JsonObject] = []
        self.best, self.added, self.over = 0, 0, False
        self.kept = work.weights()
        self.complete: Stopped | None = None  # the state after the last round that is over

    def run(self) -> Cotrained:
        """The rounds that are left. Raises Diverged, Interrupted."""
        names, monitor = self.names, self.monitor
        monitor.line(f"{'round':>6} {'labelled':>10} {'added':>8}" + "".join(f" {name:>10}" for name in names))
        while not self.over:
            self.make()
            with monitor.update():
                self.complete = self.state() if monitor.saves else None
        return Cotrained(self.target_of(self.kept), self.history, self.best)

    def make(self) -> None:
        """A round."""
        work, number = self.work, self.work.rounds
        labelled = int((work.label != NO_CLASS).sum())
        self.monitor.step(labelled, len(work.label))
        work.learn()
        total = work.weights()
        shares = self.figures(total)
        before = self.added
        self.added, agreement = work.propose() if number != work.config.rounds else (0, None)
        entry = {"round": number, "labelled": labelled, "added": before, "agreement": agreement, **shares}
        self.history.append(entry)
        cells = ("" if entry[name] is None else f"{entry[name]:.4f}" for name in self.names)
        line = f"{number:6d} {labelled:10d} {before:8d}" + "".join(f" {cell:>10}" for cell in cells)
        self.monitor.row(line, **entry)
        if "holdout" not in shares or number == 0 or shares["holdout"] > self.history[self.best]["holdout"]:
            self.kept, self.best = total, number
        self.over = self.added == 0

    def state(self) -> Stopped:
        """The state that ``restore`` takes. Arrays that change are copied."""
        work = self.work
        header = {
            "history": list(self.history), "best": self.best, "added": self.added, "waiting": len(work.waiting),
            "over": self.over,
        }
        arrays = {"label": work.label.copy(), "pool": work.pool, **weight_arrays("kept", self.kept)}
        for number, view in enumerate(work.views):
            arrays |= {name: one.copy() for name, one in weight_arrays(f"view{number}", view.weights).items()}
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Go on from a ``state``. Raises KeyError, ValueError."""
        require(dict(header), RoundsState, "state")
        work, rows = self.work, len(self.work.label)
        self.history, self.best, self.added = list(header["history"]), header["best"], header["added"]
        self.over, work.rounds = header["over"], len(self.history)
        label = numbers(arrays, "label", np.int64, (rows,))
        pool = numbers(arrays, "pool", np.int64, (-1,))
        if self.best >= len(self.history) or header["waiting"] > len(work.waiting):
            raise ValueError("its rounds")
        if ((label < NO_CLASS) | (label >= len(work.prior))).any() or ((pool < 0) | (pool >= rows)).any():
            raise ValueError("its labels")
        work.label, work.pool = np.array(label), pool
        work.waiting = work.waiting[len(work.waiting) - header["waiting"] :]
        self.kept = weights_from("kept", arrays, self.kept)
        for number, view in enumerate(work.views):
            view.weights = weights_from(f"view{number}", arrays, view.weights)
        self.complete = dict(header), dict(arrays)


def weight_arrays(name: str, weights: Weights) -> dict[str, np.ndarray]:
    return {f"{name}_w": weights.w, f"{name}_v": weights.v, f"{name}_bias": weights.bias}


def weights_from(name: str, arrays: Mapping[str, Any], like: Weights) -> Weights:
    """Weights of the same shapes as ``like``. Raises KeyError, ValueError."""


    def read(one: str, shape: tuple[int, ...]) -> np.ndarray:
        return np.array(numbers(arrays, f"{name}_{one}", np.float32, shape))

    return Weights(read("w", like.w.shape), read("v", like.v.shape), read("bias", like.bias.shape))


def accuracy(weights: Weights, rows: Rows, label: np.ndarray) -> float | None:
    return float((weights.scores(rows).argmax(1) == label).mean()) if len(label) else None


def held_out(count: int, share: float, seed: int) -> np.ndarray:
    """int64: the places of the ``share`` of ``count`` examples that are held out, ascending."""
    order = np.arange(count)
    batch_rows.shuffle(order, (seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    return np.sort(order[: round(share * count)])


def view_of(seen: np.ndarray, rows: Rows, classes: int, say: Callable[[str], None]) -> View:
    """Raises DataError where no row has any of these features."""
    own = rows.select(seen)
    filled = own.terms.sizes > 0
    if not filled.any():
        raise DataError("no example has a feature of one of the views")
    if (~filled).mean() >= 0.01:
        say(f"{int((~filled).sum())} of {len(filled)} examples have no feature of one view, which labels none of them")
    return View(seen, own, filled, zero_weights(int(seen.sum()), own.extra.shape[1], classes))
