"""Models of ``vwlite aso train`` as files, and training that goes on from one."""

from dataclasses import asdict, replace

import numpy as np

from vwlite.config_check import JsonObject, built, contents_of, require
from vwlite.data.batch import Classes
from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import Vocabulary, Weights, word_arrays, words_from
from vwlite.features.theta import open_theta, theta_from, theta_parts
from vwlite.options import USUAL_MEMORY
from vwlite.solvers.aso.classifier import Target, check_room, labels_of, merge_vocabularies, with_shared
from vwlite.solvers.aso.config import SequenceConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import Position, Stopped, solve, zero_weights
from vwlite.solvers.aso.tagger import classes_of, replace_decoding, tagger_of
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import TargetHeader, data_of

TARGET = "aso"


def content(target: Target, facts: JsonObject) -> tuple[JsonObject, dict[str, np.ndarray]]:
    """Header and arrays of the file."""
    header = {"classes": target.classes.names, "several": target.classes.several, "spaces": target.words.spaces}
    config = {**asdict(target.config), "solver": {**asdict(target.config.solver), "threads": 1}}
    del config["idf"]  # the weights themselves are kept with the words
    weights = target.weights
    arrays = {"w": weights.w, "v": weights.v, "bias": weights.bias, **word_arrays("word", target.words)}
    if target.theta:
        more, tables = theta_parts(target.theta)
        header, arrays = {**header, **more}, {**arrays, **tables}
    if target.sequences:
        header["sequences"] = asdict(target.sequences)
    if target.label_weights is not None:
        arrays["label_w"] = target.label_weights
    if target.position:
        header["position"] = asdict(target.position)
    return {"learner": TARGET, "config": config, "aso": facts, **target.data, **header}, arrays


def load_target(path: str) -> Target:
    """Raises ModelError."""
    header, arrays = open_theta(path, TARGET, "made by vwlite aso train")
    with contents_of(path, "a model of this version's aso train"):
        require(header, TargetHeader, "header")
        words, theta = words_from("word", arrays, header["spaces"]), None
        if "groups" in header:
            theta = theta_from(header, arrays)
        config = built(TargetConfig, header["config"])
        classes = Classes(header["classes"], header["several"])
        shared, count = sum(len(v) for v in theta.values) if theta else 0, len(classes.names)
        weights = Weights(
            numbers(arrays, "w", np.float32, (len(words), count)),
            numbers(arrays, "v", np.float32, (shared, count)),
            numbers(arrays, "bias", np.float32, (count,)),
        )
        if theta and config.theta_scale is None:
            raise ValueError("the scale of Theta")
        if not count or len(classes.index) < count:
            raise ValueError("the names of its classes")
        target = Target(classes, words, weights, theta, config, data=data_of(header))
        if "sequences" in header:
            target.sequences = built(SequenceConfig, header["sequences"])
            if "label_w" in arrays:
                target.label_weights = numbers(arrays, "label_w", np.float32, (-1, count))
            tagger_of(target)
        if "position" in header:
            target.position = Position(**header["position"])
        return target


UNSEEN = -1.0  # bias of a class that no example had: with no weights the best score of the others' examples


def check_position(target: Target, path: str) -> None:
    """Raises UsageError for a model that does not tell where its learning stopped."""
    if target.position is None:
        raise UsageError(
            f"{path} cannot be trained further: models of an earlier version, of aso cotrain, --threshold tuned and "
            "--decode viterbi do not store where training stopped"
        )


def learn_on(
    target: Target, corpus: Corpus, solver: SolverConfig, new_classes: bool = False, memory: float = USUAL_MEMORY,
    monitor: Monitor | None = None, stopped: Stopped | None = None,
) -> Target:
    """``solver``: that of the model with the passes and threads to come. A corpus of sequences has its tags.

    ``stopped``: what a stopped run of the same goes on from. With ``new_classes`` there may be such, which come behind
    the others. Raises UsageError where weights would take more bytes than ``memory`` and for labels that do not go with
    how sequences are decoded, DataError, Diverged.
    """
    classes = extend_classes(target.classes, corpus, new_classes)
    words = merge_vocabularies(corpus.vocabulary(), target.words)
    check_room(classes, words, memory)
    labelled, labels = labels_of(corpus, classes)
    if not len(labelled):
        raise DataError("there is no labelled example to learn from")
    at, config = replace(target.position), target.config
    weights = widen_weights(target, words, len(classes.names))
    rows = with_shared(corpus.rows(words, config.unit).take(labelled), words, target.theta, config)
    before = stopped.take_up(weights, at) if stopped else 0
    solve(solver, rows, labels, weights, monitor, at, before, stopped)
    config = replace(config, solver=replace(solver, passes=at.passes))
    trained = replace(target, classes=classes, words=words, weights=weights, config=config, position=at)
    if trained.sequences:
        trained.sequences = replace_decoding(
            trained.sequences, classes.names, classes_of(corpus, trained), corpus.sequence
        )
    return trained


def extend_classes(classes: Classes, corpus: Corpus, new_classes: bool) -> Classes:
    """The classes, and those of labels that are new. Raises DataError for new ones without ``new_classes``."""
    texts = corpus.texts
    used = Classes.of([texts[label] for label in np.unique(corpus.label[corpus.label >= 0]).tolist()], classes.several)
    new = [name for name in used.names if name not in classes.index]
    if new and not new_classes:
        more = f" and {len(new) - 1} more" if len(new) > 1 else ""
        raise DataError(f"the model has no class {new[0]}{more}: --new-classes adds new classes")
    return Classes([*classes.names, *new], classes.several)


def widen_weights(target: Target, words: Vocabulary, classes: int) -> Weights:
    """The model's weights over more features and classes."""
    old, count = target.weights, len(target.classes.names)
    weights = zero_weights(len(words), len(old.v), classes)
    weights.w[words.find(target.words.key), :count] = old.w
    weights.v[:, :count] = old.v
    weights.bias[:] = np.append(old.bias, np.full(classes - count, UNSEEN, np.float32))
    return weights
