"""A model of classes that learns on from more labelled examples."""

from dataclasses import replace

import numpy as np

from vwlite.data.label_vocabulary import Classes
from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import Weights
from vwlite.features.vocabulary import Vocabulary
from vwlite.memory_limit import USUAL
from vwlite.solvers.aso.classifier import Target, check_room, joined, labels_of, with_shared
from vwlite.solvers.aso.config import SolverConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import Stopped, solve, zero_weights
from vwlite.solvers.aso.tagger import classes_of, replace_decoding
from vwlite.training.monitor import Monitor

UNSEEN = -1.0  # bias of a class that no example had: with no weights the best score of the others' examples


def check_position(target: Target, path: str) -> None:
    """Raises UsageError for a model that does not tell where its learning stopped."""
    if target.position is None:
        raise UsageError(
            f"{path} cannot learn on: models of an earlier version, of aso cotrain, --threshold tuned and "
            "--decode viterbi keep no place to go on from"
        )


def learn_on(
    target: Target, corpus: Corpus, solver: SolverConfig, new_classes: bool = False, memory: float = USUAL,
    monitor: Monitor | None = None, stopped: Stopped | None = None,
) -> Target:
    """``solver``: that of the model with the passes and threads to come. A corpus of sequences has its tags.

    ``stopped``: what a stopped run of the same goes on from. With ``new_classes`` there may be such, which come behind
    the others. Raises UsageError where weights would take more bytes than ``memory`` and for labels that do not go with
    how sequences are decoded, DataError, Diverged.
    """
    classes = extended(target.classes, corpus, new_classes)
    words = joined(corpus.vocabulary(), target.words)
    check_room(classes, words, memory)
    labelled, made = labels_of(corpus, classes)
    if not len(labelled):
        raise DataError("there is no labelled example to learn from")
    at, config = replace(target.position), target.config
    weights = widened(target, words, len(classes.names))
    rows = with_shared(corpus.rows(words, config.unit).take(labelled), words, target.theta, config)
    before = stopped.take_up(weights, at) if stopped else 0
    solve(solver, rows, made, weights, monitor, at, before, stopped)
    config = replace(config, solver=replace(solver, passes=at.passes))
    found = replace(target, classes=classes, words=words, weights=weights, config=config, position=at)
    if found.sequences:
        found.sequences = replace_decoding(
            found.sequences, classes.names, classes_of(corpus, found), corpus.sequence
        )
    return found


def extended(classes: Classes, corpus: Corpus, new_classes: bool) -> Classes:
    """With those of the labels that were not there. Raises DataError for them without ``new_classes``."""
    texts = corpus.texts
    used = Classes.of([texts[label] for label in np.unique(corpus.label[corpus.label >= 0]).tolist()], classes.several)
    new = [name for name in used.names if name not in classes.index]
    if new and not new_classes:
        more = f" and {len(new) - 1} more" if len(new) > 1 else ""
        raise DataError(f"the model has no class {new[0]}{more}: --new-classes takes new ones in")
    return Classes([*classes.names, *new], classes.several)


def widened(target: Target, words: Vocabulary, classes: int) -> Weights:
    """The model's weights over more features and classes."""
    old, count = target.weights, len(target.classes.names)
    weights = zero_weights(len(words), len(old.v), classes)
    weights.w[words.find(target.words.key), :count] = old.w
    weights.v[:, :count] = old.v
    weights.bias[:] = np.append(old.bias, np.full(classes - count, UNSEEN, np.float32))
    return weights
