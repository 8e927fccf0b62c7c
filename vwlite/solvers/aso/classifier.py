"""The target problem: classes by one-versus-rest over rows and the features that Theta makes of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np

from vwlite.config_check import JsonObject, require
from vwlite.data.batch import Classes
from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import Rows, Vocabulary, Weights
from vwlite.features.theta import Theta
from vwlite.options import USUAL_MEMORY, check_memory
from vwlite.solvers.aso.auxiliary import mix_keys
from vwlite.solvers.aso.config import SequenceConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import Position, Stopped, Targets, solve, targets, zero_weights
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural

FOLDS = 5
MIN_POSITIVE = 5  # fewest positive examples for which a label gets a cut of its own


def folds_of(rows: int, seed: int) -> np.ndarray:
    """int64[rows]: the fold of each row. Rows are assigned in the order of a hash, so that folds are equally large."""
    fold = np.empty(rows, np.int64)
    fold[np.argsort(mix_keys(np.arange(rows), seed), kind="stable")] = np.arange(rows) % min(FOLDS, rows)
    return fold


def out_of_fold(rows: Rows, problem: Targets, config: SolverConfig) -> np.ndarray:
    """float32[n, labels]: the scores of each row by the model of all folds but its own."""
    fold = folds_of(len(rows), config.seed)
    scores = np.zeros((len(rows), len(problem.names)), np.float32)
    features = int(rows.terms.indices.max(initial=0)) + 1
    for number in range(fold.max(initial=-1) + 1):
        held, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        part = problem.positive.take(rest)
        own = targets(part.owner, part.indices, len(rest), problem.names)
        weights = zero_weights(features, rows.extra.shape[1], len(problem.names))
        scores[held] = solve(config, rows.take(rest), own, weights).scores(rows.take(held))
    return scores


def best_cut(scores: np.ndarray, true: np.ndarray) -> float:
    """The cut with the largest F1, halfway between two scores; if several have it, the one nearest to 0."""
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order].astype(np.float64), np.cumsum(true[order])
    f = 2 * hits / (np.arange(1, len(ranked) + 1) + true.sum())
    below = np.append(ranked[1:], ranked[-1] - 2e-6)
    cuts = (ranked + below) / 2
    f[ranked == below] = -1  # no cut is between equal scores
    best = np.flatnonzero(f >= f.max() - 1e-12)
    return float(cuts[best[np.abs(cuts[best]).argmin()]])


def tuned_cuts(rows: Rows, problem: Targets, config: SolverConfig) -> np.ndarray:
    """float32[labels]: the cut of each label. Labels with few positive examples share one."""
    scores = out_of_fold(rows, problem, config)
    true = np.zeros(scores.shape, bool)
    true[problem.positive.owner, problem.positive.indices] = True
    cuts = np.full(scores.shape[1], best_cut(scores.ravel(), true.ravel()))
    for label in np.flatnonzero(true.sum(0) >= MIN_POSITIVE).tolist():
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
    label_weights: np.ndarray | None = None  # float32[., classes], weights of features of the preceding labels
    position: Position | None = None  # where further training starts; None: the target cannot be trained further
    data: dict[str, str] = field(default_factory=dict)  # how its data were read, if they were not text

    def rows(self, corpus: Corpus) -> Rows:
        return with_shared(corpus.rows(self.words, self.config.unit), self.words, self.theta, self.config)

    def scores(self, corpus: Corpus) -> np.ndarray:
        """float32[n, classes]."""
        return self.weights.scores(self.rows(corpus))

    def chosen(self, scores: np.ndarray) -> np.ndarray:
        """bool[n, classes]: the predicted classes of each row."""
        if self.classes.several:
            return scores > 0
        chosen = np.zeros(scores.shape, bool)
        chosen[np.arange(len(scores)), scores.argmax(1)] = True
        return chosen


def scale_for(labelled: int) -> float:
    """The scale of shared features, which is the smaller the more labelled examples there are."""
    return float(min(max(7 / max(labelled, 1) ** 0.5, 0.1), 1.0))


def with_shared(rows: Rows, words: Vocabulary, theta: Theta | None, config: TargetConfig) -> Rows:
    """The rows with the features that Theta makes of them, if there is a Theta."""
    return replace(rows, extra=theta.project(rows, words, config.theta_scale, config.unit)) if theta else rows


def labels_of(corpus: Corpus, classes: Classes) -> tuple[np.ndarray, Targets]:
    """The rows that have a label, and their classes."""
    labelled = np.flatnonzero(corpus.label >= 0)
    members = classes.members(corpus.texts)
    own = [members[label] for label in corpus.label[labelled].tolist()]
    owner = np.repeat(np.arange(len(labelled)), [len(numbers) for numbers in own])
    indices = np.concatenate(own) if own else np.zeros(0, np.int32)
    return labelled, targets(owner, indices, len(labelled), classes.names)


def classes_in(corpus: Corpus, several: bool) -> Classes:
    """The classes of the labelled rows. Raises DataError when there are fewer than two."""
    texts = corpus.texts
    used = [texts[label] for label in np.unique(corpus.label[corpus.label >= 0]).tolist()]
    classes = Classes.of(used, several)
    if len(classes.names) < (1 if several else 2):
        raise DataError(f"the data have {len(classes.names)} classes: training needs at least two")
    return classes


class ProgressState(TypedDict):
    """The progress of a stopped run; ``sizes`` are the numbers of examples in ``Progress.counts``."""

    passes: Natural
    steps: Natural
    sizes: list[Natural]


@dataclass(slots=True)
class Progress:
    """The progress of a run: ``counts``, float64[3, examples] for each measurement of ``--folds``, and passes."""

    counts: list[np.ndarray] = field(default_factory=list)
    stopped: Stopped = field(default_factory=Stopped)

    def state(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        """Header and arrays, as ``restore`` reads them."""
        at, weights = self.stopped.at, self.stopped.weights
        header = {"passes": at.passes, "steps": at.steps, "sizes": [counts.shape[1] for counts in self.counts]}
        arrays = {"counts": np.hstack([np.zeros((3, 0)), *self.counts])}
        return header, {**arrays, "w": weights.w, "v": weights.v, "bias": weights.bias} if weights else arrays

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> "Progress":
        """The progress that ``state`` returned. Raises KeyError, ValueError."""
        require(dict(header), ProgressState, "state")
        sizes = header["sizes"]
        counts = numbers(arrays, "counts", np.float64, (3, sum(sizes)))
        progress = cls(np.split(np.array(counts), np.cumsum(sizes)[:-1], axis=1) if sizes else [])
        if header["passes"]:
            bias = numbers(arrays, "bias", np.float32, (-1,))
            w, v = (numbers(arrays, name, np.float32, (-1, len(bias))) for name in "wv")
            progress.stopped.keep(Weights(w, v, bias), Position(header["passes"], header["steps"]))
        return progress


def fit(
    rows: Rows, problem: Targets, config: SolverConfig, at: Position | None = None, monitor: Monitor | None = None,
    stopped: Stopped | None = None,
) -> Weights:
    """Train one-versus-rest on rows (with their shared features); ``stopped`` is a run to resume.

    Raises ValueError if it was stopped on other rows.
    """
    features, at = int(rows.terms.indices.max(initial=0)) + 1, at or Position()
    weights = zero_weights(features, rows.extra.shape[1], len(problem.names))
    before = stopped.take_up(weights, at) if stopped else 0
    return solve(config, rows, problem, weights, monitor, at, before, stopped)


def train(
    corpus: Corpus, theta: Theta | None, config: TargetConfig, several: bool = False, memory: float = USUAL_MEMORY,
    tuned: bool = False, monitor: Monitor | None = None, stopped: Stopped | None = None,
) -> Target:
    """Learn the classes of a labelled corpus; with ``tuned`` a bias includes the cut that folds choose for its class.

    ``stopped``: see ``fit``. Raises UsageError if the weights take more bytes than ``memory``, or if Theta was
    learned without the ``idf`` of ``config``, DataError, Diverged.
    """
    check_idf(theta, config)
    classes, words = classes_in(corpus, several), corpus.vocabulary(idf=config.idf)
    if theta:
        words = merge_vocabularies(words, theta.words)
    check_room(classes, words, memory)
    labelled, problem = labels_of(corpus, classes)
    if config.theta_scale is None:
        config = replace(config, theta_scale=scale_for(len(labelled)))
    rows = with_shared(corpus.rows(words, config.unit).take(labelled), words, theta, config)
    at = Position()
    trained = fit(rows, problem, config.solver, at, monitor, stopped)
    w = np.zeros((len(words), len(classes.names)), np.float32)
    w[: len(trained.w)] = trained.w
    bias = trained.bias - tuned_cuts(rows, problem, config.solver) if tuned else trained.bias
    return Target(classes, words, Weights(w, trained.v, bias), theta, config, position=None if tuned else at)


def check_room(classes: Classes, words: Vocabulary, memory: float) -> None:
    """Raises UsageError if the weights take more bytes than ``memory``."""
    name = f"the weights of {len(classes.names):,} classes and {len(words):,} features"
    check_memory(8.0 * len(words) * len(classes.names), memory, name, "are the labels names of classes?")


def check_idf(theta: Theta | None, config: TargetConfig) -> None:
    """Raises UsageError for ``--idf`` with a Theta that was learned without it."""
    if theta and config.idf and theta.words.idf is None:
        raise UsageError("Theta was learned without --idf: give --idf to vwlite aso learn, or drop it here")


def merge_vocabularies(first: Vocabulary, other: Vocabulary) -> Vocabulary:
    """The features of both, with the names of ``first`` first and the weights of ``other``."""
    new = np.flatnonzero(first.find(other.key) < 0)
    keys = np.concatenate((first.key, other.key[new]))
    spaces = sorted({*first.spaces, *other.spaces})
    names = [*first.names, *(other.names[place] for place in new.tolist())]
    old = [first.spaces[place] for place in first.space.tolist()]
    old += [other.spaces[place] for place in other.space[new].tolist()]
    order = np.argsort(keys)
    place = {space: number for number, space in enumerate(spaces)}
    space = np.array([place[old[at]] for at in order.tolist()], np.int32)
    weights = None if other.idf is None else np.append(other.idf[other.find(keys[order])], other.idf[-1])
    return Vocabulary(keys[order], space, [names[at] for at in order.tolist()], spaces, weights)
