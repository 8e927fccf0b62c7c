"""Classifiers of tokens whose labels are chosen together, for whole sequences (Ando and Zhang 2005, section 7.3.1)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import Rows, Weights
from vwlite.features.theta import Theta
from vwlite.memory_limit import GIB, USUAL, check_memory
from vwlite.solvers.aso.auxiliary import mixed
from vwlite.solvers.aso.classifier import Target, labels_of, train
from vwlite.solvers.aso.config import TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.decoding import Decoder, allowed_by, are_phrases, broken, labels_before
from vwlite.solvers.aso.label_features import LabelFeatures, label_features, read_kinds, recalled_space
from vwlite.solvers.aso.recall import Recall, labels_given
from vwlite.solvers.aso.rows import targets
from vwlite.solvers.aso.sequence_config import SequenceConfig
from vwlite.solvers.aso.sgd import solve, zero_weights

PIECE = 1 << 22  # scores by the label before at a time
KINDS = "y1"  # of label features, by default
NOISE = 0.5
REMEMBERED = 1000  # sequences


@dataclass(slots=True)
class Tagger:
    """``decoder`` None: each token has its best class. ``weights`` float32[., L]: of label features, if any.

    ``space``: the namespace of the words whose labels are remembered, if they are.
    """

    target: Target
    decoder: Decoder | None = None
    labels: LabelFeatures | None = None
    weights: np.ndarray | None = None
    space: str | None = None

    def recall(self) -> Recall:
        """For the sequences of a text from its beginning."""
        return Recall(self.target.sequences.recall or REMEMBERED)

    def best(self, rows: Rows, sequence: np.ndarray, words: np.ndarray, recall: Recall) -> np.ndarray:
        """int[n]: the class of each row; ``sequence`` int64: where sequences begin, the number of rows last.

        ``words`` uint64[n] of ``space``, nothing without it. ``recall`` goes on.
        """
        scores = self.target.weights.scores(rows)
        if self.decoder is None:
            return scores.argmax(1)
        self.check_length(int(np.diff(sequence).max(initial=0)))
        if self.labels is None or self.weights is None:
            return self.decoder.best(scores, sequence)
        found, given = [], self.labels.recalled(self.weights)
        place = None if given is None else recall.meet(words)
        for first, last in self.pieces(sequence):
            begin, end = sequence[first], sequence[last]
            own = rows.take(np.arange(begin, end))
            pair = self.labels.pairs(own, self.weights)
            piece = scores[begin:end], sequence[first : last + 1] - begin, pair
            if place is None:
                found.append(self.decoder.best(*piece))
            else:
                found.append(one_by_one(self.decoder, piece, place[begin:end], recall, given))
        return np.concatenate(found) if found else np.zeros(0, np.int32)

    def pieces(self, sequence: np.ndarray) -> Iterator[tuple[int, int]]:
        """Sequences at a time, as first one and one past the last."""
        count = len(self.target.classes.names)
        most = max(PIECE // ((count + 1) * count), 1)
        first = 0
        while first < len(sequence) - 1:
            last = int(np.searchsorted(sequence, sequence[first] + most, "right")) - 1
            last = max(last, first + 1)
            yield first, last
            first = last

    def check_length(self, tokens: int) -> None:
        """Raises DataError for a sequence that has so many and still goes on."""
        count = len(self.target.classes.names)
        if 4.0 * tokens * count * (count + 1) * (1 if self.labels is None else 2) > USUAL:
            raise DataError(
                f"a sequence of {tokens:,} lines or more, with {count:,} classes, needs more than {USUAL / GIB:g} GiB: "
                "do empty lines end the sequences?"
            )


def one_by_one(
    decoder: Decoder, piece: tuple[np.ndarray, ...], place: np.ndarray, recall: Recall, given: np.ndarray
) -> np.ndarray:
    """int32[tokens]: each sequence's best labels, which those of later ones are told by scores ``given``."""
    scores, sequence, pair = piece
    label = np.zeros(len(scores), np.int32)
    for begin, end in zip(sequence[:-1].tolist(), sequence[1:].tolist(), strict=True):
        own = slice(begin, end)
        known = scores[own] + given[recall.labels(place[own])]
        label[own] = decoder.best(known, np.array([0, end - begin]), pair[own])
        recall.end(place[own], label[own])
    return label


def tagger_of(target: Target) -> Tagger:
    """Of a model of sequences. Raises ValueError for one whose parts do not fit together."""
    how, names, weights = target.sequences, target.classes.names, target.label_weights
    if how is None or (how.decode == "viterbi") != (weights is not None) or how.decode is None:
        raise ValueError("how its labels are chosen")
    if how.decode == "none":
        return Tagger(target)
    if weights is None:
        return Tagger(target, Decoder(allowed_by(names)))
    features = label_features(read_kinds(how.label_features or KINDS), len(names), target.words)
    if weights.shape != (int(features.starts[-1]), len(names)):
        raise ValueError("the weights of label features")
    decoder = Decoder(allowed_by(names), features.triples(weights), how.beam or 0)
    return Tagger(target, decoder, features, weights, recalled_space(how.label_features))


def train_sequences(
    corpus: Corpus, theta: Theta | None, config: TargetConfig, how: SequenceConfig, memory: float = USUAL
) -> Target:
    """Learn the classes of a corpus and how the labels of its sequences are chosen.

    The corpus has its tags and the words of ``recalled_space``.
    Raises as ``train`` and UsageError for labels that do not go with ``decode``.
    """
    target = train(corpus, theta, config, memory=memory)
    label = classes_of(corpus, target)
    how = replace_decoding(how, target.classes.names, label, corpus.sequence)
    target = replace(target, sequences=how)
    if how.decode != "viterbi":
        return target
    return with_label_features(target, corpus, label, memory)


def classes_of(corpus: Corpus, target: Target) -> np.ndarray:
    """int64[n]: the class of each row, -1 where it has none that is known."""
    labelled, made = labels_of(corpus, target.classes)
    label = np.full(len(corpus.label), -1, np.int64)
    label[labelled[made.positive.owner]] = made.positive.indices
    return label


def replace_decoding(
    how: SequenceConfig, names: list[str], label: np.ndarray, sequence: np.ndarray
) -> SequenceConfig:
    """With a decoding that goes with the labels. Raises UsageError where they do not go with the one asked for."""
    wrong = broken(names, label, sequence) if are_phrases(names) else None
    if how.decode is None:
        return replaced(how, decode="bio" if are_phrases(names) and wrong is None else "none")
    if how.decode == "bio" and not are_phrases(names):
        other = next(name for name in names if not are_phrases([name]))
        raise UsageError(f"--decode bio needs labels O, B-X and I-X, and there is {other}")
    if how.decode != "none" and wrong is not None:
        raise UsageError(
            f"--decode {how.decode}: {names[label[wrong]]} of example {wrong + 1} goes on with no phrase; "
            "'vwlite convert conll --iob2' lets phrases begin with B-"
        )
    if how.decode == "viterbi":
        return replaced(
            how, label_features=how.label_features or KINDS,
            label_noise=NOISE if how.label_noise is None else how.label_noise,
            recall=how.recall or (REMEMBERED if recalled_space(how.label_features) else None),
        )  # fmt: skip
    return how


def replaced(how: SequenceConfig, **changes: object) -> SequenceConfig:
    fields = {name: getattr(how, name) for name in how.OPTIONS}
    return SequenceConfig(**{**fields, **changes})


def with_label_features(target: Target, corpus: Corpus, label: np.ndarray, memory: float) -> Target:
    """Learned anew with features of the labels before, some of which are guesses of a model that has none.

    Raises UsageError where weights would take more bytes than ``memory``.
    """
    how, count, solver = target.sequences, len(target.classes.names), target.config.solver
    rows, sequence = target.rows(corpus), corpus.sequence
    features = label_features(read_kinds(how.label_features), count, target.words)
    need = 8.0 * (len(target.words) + int(features.starts[-1])) * count
    what = f"the weights of label features of {count:,} classes"
    check_memory(need, memory, what, "fewer --label-features need less")
    seen = label
    if how.label_noise:  # a share of guesses, as there will be nothing else when labels are predicted
        chance = mixed(np.arange(len(label), dtype=np.uint32), solver.seed + 1) / 2.0**64
        seen = np.where((chance < how.label_noise) & (label >= 0), guesses(target, rows, label, sequence), label)
    one = labels_before(seen, sequence, count)
    two = labels_before(one, sequence, count)
    learned = np.flatnonzero((label >= 0) & (rows.importance > 0))
    given = labels_given(corpus.words, seen, sequence, how.recall) if how.recall else None
    more = features.added(rows, one, two, len(target.words), given).take(learned)
    weights = zero_weights(len(target.words) + int(features.starts[-1]), rows.extra.shape[1], count)
    made = targets(np.arange(len(learned)), label[learned], len(learned), target.classes.names)
    solve(solver, more, made, weights)
    own, table = weights.w[: len(target.words)], weights.w[len(target.words) :]
    found = Weights(own.copy(), weights.v, weights.bias)
    return replace(target, weights=found, label_weights=table.copy(), position=None)


def guesses(target: Target, rows: Rows, label: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """int64[n]: each token's class by a model of the other half of the sequences, best for whole sequences."""
    names = target.classes.names
    half = np.repeat(np.arange(len(sequence) - 1) % 2, np.diff(sequence))
    scores = np.zeros((len(rows), len(names)), np.float32)
    for number in (0, 1):
        own = np.flatnonzero((half == number) & (label >= 0) & (rows.importance > 0))
        weights = zero_weights(len(target.words), rows.extra.shape[1], len(names))
        made = targets(np.arange(len(own)), label[own], len(own), names)
        solve(target.config.solver, rows.take(own), made, weights)
        others = np.flatnonzero(half != number)
        scores[others] = weights.scores(rows.take(others))
    return Decoder(allowed_by(names)).best(scores, sequence).astype(np.int64)
