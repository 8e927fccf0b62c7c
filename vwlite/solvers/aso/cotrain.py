"""Co-training and self-training: classifiers label the examples that they and each other learn from next.

Two classifiers see two parts of the features. In each round each of them labels some examples of a pool, the most
confident of classes that are drawn as often as the labelled examples have them, and both learn from these too (Blum and
Mitchell, COLT 1998, as in section 7.2.6 of Ando and Zhang 2005). With one classifier of all features this is
self-training.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vwlite._native import shuffle as gather
from vwlite.data.csr import joined as behind
from vwlite.data.label_vocabulary import Classes
from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import Rows, Weights
from vwlite.features.theta import Theta
from vwlite.features.vocabulary import Vocabulary
from vwlite.memory_limit import USUAL, check_memory
from vwlite.solvers.aso.auxiliary import halves, in_spaces, mixed
from vwlite.solvers.aso.classifier import Target, check_idf, classes_in, joined, labels_of, scale_for, with_shared
from vwlite.solvers.aso.config import CotrainConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.rows import targets
from vwlite.solvers.aso.sgd import solve, zero_weights
from vwlite.training.display import Steps, no_steps

SHARE = 4  # of the first round's passes that each later one makes: it goes on from the weights of the round before
NO_CLASS = -1


@dataclass(slots=True)
class Cotrained:
    """The model of the round ``best``, and the figures of every round, of which the first learned the labels alone."""

    target: Target
    history: list[dict[str, Any]]
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


def drawn(prior: np.ndarray, count: int, seed: int) -> Iterator[int]:
    """``count`` classes, drawn by the shares ``prior``, float64[classes]."""
    uniform = mixed(np.arange(count, dtype=np.uint32), seed) / 2.0**64
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
                chosen = most_confident(own, free, drawn(self.prior, self.config.step, seed))
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
    memory: float = USUAL, say: Callable[[str], None] = lambda line: None,
    table: Callable[[str], None] = lambda line: None, steps: Steps = no_steps,
    measure: Callable[[Target], dict[str, Any]] = lambda target: {},
) -> Cotrained:  # fmt: skip
    """Learn the classes of ``labelled`` and, by the labels that are proposed for them, of ``unlabelled``.

    ``spaces`` as ``views_of`` has them. ``say`` gets remarks, ``table`` a line of figures for each round: accuracy is
    that of ``test``, holdout that of the share ``config.holdout`` of the labelled examples; ``measure`` finds more of a
    round's model, for the history. Raises UsageError, DataError, Diverged.
    """
    check_idf(theta, target)
    classes, seed = classes_in(labelled, False), target.solver.seed
    words = joined(labelled.vocabulary(), unlabelled.vocabulary(idf=target.idf))
    words = joined(words, theta.words) if theta else words
    seen, count = views_of(config, spaces, words, seed), len(classes.names)
    what = f"the weights of {count:,} classes and {len(words):,} features"
    check_memory(4.0 * (len(seen) + 1) * len(words) * count, memory, what, "are the labels names of classes?")
    if (unlabelled.label >= 0).any():
        say("the labels of the unlabelled examples are not used")
    if target.theta_scale is None:
        target = replace(target, theta_scale=scale_for(int((labelled.label >= 0).sum())))

    def rows_of(corpus: Corpus) -> Rows:
        return with_shared(corpus.rows(words, target.unit), words, theta, target)

    own, label = judged(rows_of(labelled), labelled, classes)
    held = held_out(len(own), config.holdout, seed)
    judges = {"holdout": (own.take(held), label[held])} if len(held) else {}
    if config.holdout and not judges:
        say("no labelled example was held out, so the model is that of the last round")
    if test is not None:
        judges["accuracy"] = judged(rows_of(test), test, classes)
    kept = np.setdiff1d(np.arange(len(own)), held)
    if len(np.unique(label[kept])) < 2:
        raise DataError("what is not held out has examples of one class only: a smaller --holdout leaves more")
    run = prepared(config, target.solver, own.take(kept), label[kept], rows_of(unlabelled), seen, count, say)

    def figures(weights: Weights) -> dict[str, Any]:
        shares = {name: accuracy(weights, *one) for name, one in judges.items()}
        return {**shares, **measure(Target(classes, words, weights, theta, target))}

    history, weights, best = rounds(run, figures, list(judges), table, steps)
    return Cotrained(Target(classes, words, weights, theta, target), history, best)


def judged(rows: Rows, corpus: Corpus, classes: Classes) -> tuple[Rows, np.ndarray]:
    """The rows of ``corpus`` that have a label, and its class, int64; ``NO_CLASS``: not of ``classes``."""
    labelled, made = labels_of(corpus, classes)
    label = np.full(len(labelled), NO_CLASS, np.int64)
    label[made.positive.owner] = made.positive.indices
    return rows.take(labelled), label


def prepared(
    config: CotrainConfig, solver: SolverConfig, own: Rows, label: np.ndarray, others: Rows, seen: list[np.ndarray],
    classes: int, say: Callable[[str], None],
) -> Cotrainer:  # fmt: skip
    """The state before the first round. Raises DataError."""
    parts = (own.importance, others.importance * np.float32(config.weight)), (own.extra, others.extra)
    every = Rows(behind([own.terms, others.terms]), *map(np.concatenate, parts))
    views = [view_of(one, every, classes, say) for one in seen]
    order = np.arange(len(others))
    gather.shuffle(order, solver.seed * 0x9E3779B97F4A7C15 % 2**64)
    waiting = order + len(own)
    waiting = waiting[np.any([view.filled[waiting] for view in views], axis=0)]
    proposed = np.full(len(others), NO_CLASS, np.int64)
    prior = np.bincount(label, minlength=classes) / len(label)
    return Cotrainer(config, solver, views, np.concatenate((label, proposed)), every.importance, prior, waiting)


def rounds(
    run: Cotrainer, figures: Callable[[Weights], dict[str, Any]], shown: list[str],
    table: Callable[[str], None], steps: Steps = no_steps,
) -> tuple[list[dict[str, Any]], Weights, int]:
    """The figures of each, and the weights of the best by what is held out, else of the last, with its number.

    ``shown``: names of the figures that stand in the table.
    """
    names = ["agreement", *shown] if len(run.views) > 1 else shown
    table(f"{'round':>6} {'labelled':>10} {'added':>8}" + "".join(f" {name:>10}" for name in names))
    history: list[dict[str, Any]] = []
    kept, best, added, going = run.weights(), 0, 0, True
    while going:
        number = run.rounds
        steps(int((run.label != NO_CLASS).sum()), len(run.label))
        run.learn()
        entry: dict[str, Any] = {"round": number, "labelled": int((run.label != NO_CLASS).sum()), "added": added}
        total = run.weights()
        shares = figures(total)
        added, agreement = run.propose() if number != run.config.rounds else (0, None)
        entry |= {"agreement": agreement, **shares}
        history.append(entry)
        cells = ("" if entry[name] is None else f"{entry[name]:.4f}" for name in names)
        table(f"{number:6d} {entry['labelled']:10d} {entry['added']:8d}" + "".join(f" {cell:>10}" for cell in cells))
        if "holdout" not in shares or number == 0 or shares["holdout"] > history[best]["holdout"]:
            kept, best = total, number
        going = added > 0
    return history, kept, best


def accuracy(weights: Weights, rows: Rows, label: np.ndarray) -> float | None:
    return float((weights.scores(rows).argmax(1) == label).mean()) if len(label) else None


def held_out(count: int, share: float, seed: int) -> np.ndarray:
    """int64: the places of the ``share`` of ``count`` examples that are held out, ascending."""
    order = np.arange(count)
    gather.shuffle(order, (seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
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
