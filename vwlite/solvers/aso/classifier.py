"""The target problem: classes by one-versus-rest over rows and the features that Theta makes of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np

from vwlite.config_check import require
from vwlite.data.batch import Classes
from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import Rows, Vocabulary, Weights
from vwlite.features.theta import Theta
from vwlite.options import USUAL_MEMORY, check_memory
from vwlite.solvers.aso.auxiliary import mixed
from vwlite.solvers.aso.config import SequenceConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import Position, Stopped, Targets, solve, targets, zero_weights
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural

FOLDS = 5
ENOUGH = 5  # positive examples of a label for a cut of its own


def folds_of(rows: int, seed: int) -> np.ndarray:
    """int64[rows]: the fold of each row, in an order by hash of seed and row, so that folds are of one size."""
    fold = np.empty(rows, np.int64)
    fold[np.argsort(mixed(np.arange(rows), seed), kind="stable")] = np.arange(rows) % min(FOLDS, rows)
    return fold


def out_of_fold(rows: Rows, made: Targets, config: SolverConfig) -> np.ndarray:
    """float32[n, labels]: the scores of each row by the model of all folds but its own."""
    fold = folds_of(len(rows), config.seed)
    scores = np.zeros((len(rows), len(made.names)), np.float32)
    features = int(rows.terms.indices.max(initial=0)) + 1
    for number in range(fold.max(initial=-1) + 1):
        held, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        part = made.positive.take(rest)
        own = targets(part.owner, part.indices, len(rest), made.names)
        weights = zero_weights(features, rows.extra.shape[1], len(made.names))
        scores[held] = solve(config, rows.take(rest), own, weights).scores(rows.take(held))
    return scores


def best_cut(scores: np.ndarray, true: np.ndarray) -> float:
    """The cut of the largest F, halfway between two scores; of several such the one nearest to 0."""
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order].astype(np.float64), np.cumsum(true[order])
    f = 2 * hits / (np.arange(1, len(ranked) + 1) + true.sum())
    below = np.append(ranked[1:], ranked[-1] - 2e-6)
    cuts = (ranked + below) / 2
    f[ranked == below] = -1  # no cut is between equal scores
    best = np.flatnonzero(f >= f.max() - 1e-12)
    return float(cuts[best[np.abs(cuts[best]).argmin()]])


def tuned_cuts(rows: Rows, made: Targets, config: SolverConfig) -> np.ndarray:
    """float32[labels]: the cut of each label. One of all labels together serves those of few positive examples."""
    scores = out_of_fold(rows, made, config)
    true = np.zeros(scores.shape, bool)
    true[made.positive.owner, made.positive.indices] = True
    cuts = np.full(scores.shape[1], best_cut(scores.ravel(), true.ravel()))
    for label in np.flatnonzero(true.sum(0) >= ENOUGH).tolist():
        cuts[label] = best_cut(scores[:, label], true[:, label])
    return cuts.astype(np.float32)


@dataclass(slots=True)
class Target:
    """A final model: predicts the class of the largest score, or (``classes.several``) all above 0."""

    classes: Classes
    words: Vocabulary
    weights: Weights
    theta: Theta | None
    config: TargetConfig
    sequences: SequenceConfig | None = None
    label_weights: np.ndarray | None = None  # float32[., classes], of features of the labels before
    position: Position | None = None  # from which learning can go on, if it can
    data: dict[str, str] = field(default_factory=dict)  # how its data were read, where that was no text

    def rows(self, corpus: Corpus) -> Rows:
        return with_shared(corpus.rows(self.words, self.config.unit), self.words, self.theta, self.config)

    def scores(self, corpus: Corpus) -> np.ndarray:
        """float32[n, classes]."""
        return self.weights.scores(self.rows(corpus))

    def chosen(self, scores: np.ndarray) -> np.ndarray:
        """bool[n, classes]."""
        if self.classes.several:
            return scores > 0
        chosen = np.zeros(scores.shape, bool)
        chosen[np.arange(len(scores)), scores.argmax(1)] = True
        return chosen


def scale_for(labelled: int) -> float:
    """What shared features are worth: the less the more examples there are to learn words from."""
    return float(min(max(7 / max(labelled, 1) ** 0.5, 0.1), 1.0))


def with_shared(rows: Rows, words: Vocabulary, theta: Theta | None, config: TargetConfig) -> Rows:
    return replace(rows, extra=theta.project(rows, words, config.theta_scale, config.unit)) if theta else rows


def labels_of(corpus: Corpus, classes: Classes) -> tuple[np.ndarray, Targets]:
    """The rows that have a label, and their classes."""
    labelled = np.flatnonzero(corpus.label >= 0)
    members = classes.members(corpus.texts)
    own = [members[label] for label in corpus.label[labelled].tolist()]
    owner = np.repeat(np.arange(len(labelled)), [len(one) for one in own])
    problem = np.concatenate(own) if own else np.zeros(0, np.int32)
    return labelled, targets(owner, problem, len(labelled), classes.names)


def classes_in(corpus: Corpus, several: bool) -> Classes:
    """Those of the labelled rows. Raises DataError when there are fewer than two."""
    texts = corpus.texts
    used = [texts[label] for label in np.unique(corpus.label[corpus.label >= 0]).tolist()]
    classes = Classes.of(used, several)
    if len(classes.names) < (1 if several else 2):
        raise DataError(f"the labels name {len(classes.names)} classes; there must be two at least")
    return classes


class ProgressState(TypedDict):
    """How far a stopped run had come; ``sizes`` of the measured counts."""

    passes: Natural
    steps: Natural
    sizes: list[Natural]


@dataclass(slots=True)
class Progress:
    """What a run has done: ``counts``, float64[3, examples] each, of what ``--folds`` has measured, and passes."""

    counts: list[np.ndarray] = field(default_factory=list)
    stopped: Stopped = field(default_factory=Stopped)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What ``restored`` takes."""
        at, weights = self.stopped.at, self.stopped.weights
        header = {"passes": at.passes, "steps": at.steps, "sizes": [one.shape[1] for one in self.counts]}
        arrays = {"counts": np.hstack([np.zeros((3, 0)), *self.counts])}
        return header, {**arrays, "w": weights.w, "v": weights.v, "bias": weights.bias} if weights else arrays

    @classmethod
    def restored(cls, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> "Progress":
        """Raises KeyError, ValueError."""
        require(dict(header), ProgressState, "state")
        sizes = header["sizes"]
        counts = numbers(arrays, "counts", np.float64, (3, sum(sizes)))
        found = cls(np.split(np.array(counts), np.cumsum(sizes)[:-1], axis=1) if sizes else [])
        if header["passes"]:
            bias = numbers(arrays, "bias", np.float32, (-1,))
            w, v = (numbers(arrays, name, np.float32, (-1, len(bias))) for name in "wv")
            found.stopped.keep(Weights(w, v, bias), Position(header["passes"], header["steps"]))
        return found


def fit(
    rows: Rows, made: Targets, config: SolverConfig, at: Position | None = None, monitor: Monitor | None = None,
    stopped: Stopped | None = None,
) -> Weights:
    """One-versus-rest over rows (with their shared features), from where a run ``stopped``, if it did.

    Raises ValueError for a run on other rows.
    """
    features, at = int(rows.terms.indices.max(initial=0)) + 1, at or Position()
    weights = zero_weights(features, rows.extra.shape[1], len(made.names))
    before = stopped.take_up(weights, at) if stopped else 0
    return solve(config, rows, made, weights, monitor, at, before, stopped)


def train(
    corpus: Corpus, theta: Theta | None, config: TargetConfig, several: bool = False, memory: float = USUAL_MEMORY,
    tuned: bool = False, monitor: Monitor | None = None, stopped: Stopped | None = None,
) -> Target:
    """Learn the classes of a labelled corpus; with ``tuned`` a bias includes the cut that folds choose for its class.

    ``stopped``: as ``fit`` has it. Raises UsageError where weights would take more bytes than ``memory`` and for an
    ``idf`` that Theta was learned without, DataError, Diverged.
    """
    check_idf(theta, config)
    classes, words = classes_in(corpus, several), corpus.vocabulary(idf=config.idf)
    if theta:
        words = joined(words, theta.words)
    check_room(classes, words, memory)
    labelled, made = labels_of(corpus, classes)
    if config.theta_scale is None:
        config = replace(config, theta_scale=scale_for(len(labelled)))
    rows = with_shared(corpus.rows(words, config.unit).take(labelled), words, theta, config)
    at = Position()
    found = fit(rows, made, config.solver, at, monitor, stopped)
    w = np.zeros((len(words), len(classes.names)), np.float32)
    w[: len(found.w)] = found.w
    bias = found.bias - tuned_cuts(rows, made, config.solver) if tuned else found.bias
    return Target(classes, words, Weights(w, found.v, bias), theta, config, position=None if tuned else at)


def check_room(classes: Classes, words: Vocabulary, memory: float) -> None:
    """Raises UsageError where weights would take more bytes than ``memory``."""
    what = f"the weights of {len(classes.names):,} classes and {len(words):,} features"
    check_memory(8.0 * len(words) * len(classes.names), memory, what, "are the labels names of classes?")


def check_idf(theta: Theta | None, config: TargetConfig) -> None:
    """Raises UsageError."""
    if theta and config.idf and theta.words.idf is None:
        raise UsageError("--idf is for aso learn where there is a Theta, and this one was learned without it")


def joined(one: Vocabulary, other: Vocabulary) -> Vocabulary:
    """The features of both, with ``one``'s names first and ``other``'s weights."""
    new = np.flatnonzero(one.find(other.key) < 0)
    keys = np.concatenate((one.key, other.key[new]))
    spaces = sorted({*one.spaces, *other.spaces})
    names = [*one.names, *(other.names[place] for place in new.tolist())]
    old = [one.spaces[place] for place in one.space.tolist()]
    old += [other.spaces[place] for place in other.space[new].tolist()]
    order = np.argsort(keys)
    place = {space: number for number, space in enumerate(spaces)}
    space = np.array([place[old[at]] for at in order.tolist()], np.int32)
    weights = None if other.idf is None else np.append(other.idf[other.find(keys[order])], other.idf[-1])
    return Vocabulary(keys[order], space, [names[at] for at in order.tolist()], spaces, weights)
