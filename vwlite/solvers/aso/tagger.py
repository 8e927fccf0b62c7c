"""Classifiers of tokens whose labels are chosen together, for whole sequences (Ando and Zhang 2005, section 7.3.1)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK, join_rows
from vwlite.data.block_parser import Parsed
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.metric_table import Refuse, choose
from vwlite.evaluation.phrases import evaluate, rule_asked
from vwlite.features.sparse_rows import Rows, Weights
from vwlite.features.theta import Theta
from vwlite.options import GIB, USUAL_MEMORY, check_memory
from vwlite.solvers.aso.answers import agreement
from vwlite.solvers.aso.auxiliary import mix_keys
from vwlite.solvers.aso.classifier import Target, labels_of, train
from vwlite.solvers.aso.config import SequenceConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.label_features import (
    Decoder,
    LabelFeatures,
    Recall,
    allowed_by,
    are_phrases,
    first_broken,
    label_features,
    labels_before,
    labels_given,
    read_kinds,
    recalled_space,
)
from vwlite.solvers.aso.sgd import Stopped, solve, targets, zero_weights
from vwlite.solvers.loglinear.examples import BAD, BREAK, EMPTY, LINE, begins_file, ends_sequence, sequences_of
from vwlite.training.listener import Monitor

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
        labels, given = [], self.labels.recalled(self.weights)
        place = None if given is None else recall.meet(words)
        for first, last in self.pieces(sequence):
            begin, end = sequence[first], sequence[last]
            own = rows.take(np.arange(begin, end))
            pair = self.labels.pairs(own, self.weights)
            piece = scores[begin:end], sequence[first : last + 1] - begin, pair
            if place is None:
                labels.append(self.decoder.best(*piece))
            else:
                labels.append(one_by_one(self.decoder, piece, place[begin:end], recall, given))
        return np.concatenate(labels) if labels else np.zeros(0, np.int32)

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
        """Raises DataError if a sequence of this length does not fit into memory."""
        count = len(self.target.classes.names)
        if 4.0 * tokens * count * (count + 1) * (1 if self.labels is None else 2) > USUAL_MEMORY:
            raise DataError(
                f"a sequence of {tokens:,} lines or more, with {count:,} classes, needs more than "
                f"{USUAL_MEMORY / GIB:g} GiB: do empty lines end the sequences?"
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
    """The tagger of a model of sequences. Raises ValueError for one whose parts do not fit together."""
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
    corpus: Corpus, theta: Theta | None, config: TargetConfig, how: SequenceConfig, memory: float = USUAL_MEMORY,
    monitor: Monitor | None = None, stopped: Stopped | None = None,
) -> Target:
    """Learn the classes of a corpus and how the labels of its sequences are chosen.

    The corpus has its tags and the words of ``recalled_space``.
    Raises as ``train`` and UsageError for labels that do not go with ``decode``.
    """
    target = train(corpus, theta, config, memory=memory, monitor=monitor, stopped=stopped)
    label = classes_of(corpus, target)
    how = replace_decoding(how, target.classes.names, label, corpus.sequence)
    target = replace(target, sequences=how)
    if how.decode != "viterbi":
        return target
    return with_label_features(target, corpus, label, memory)


def classes_of(corpus: Corpus, target: Target) -> np.ndarray:
    """int64[n]: the class of each row, -1 where it has none that is known."""
    labelled, labels = labels_of(corpus, target.classes)
    label = np.full(len(corpus.label), -1, np.int64)
    label[labelled[labels.positive.owner]] = labels.positive.indices
    return label


def replace_decoding(
    how: SequenceConfig, names: list[str], label: np.ndarray, sequence: np.ndarray
) -> SequenceConfig:
    """The configuration with a decoding that fits the labels. Raises UsageError if the chosen one does not."""
    wrong = first_broken(names, label, sequence) if are_phrases(names) else None
    if how.decode is None:
        return replace_config(how, decode="bio" if are_phrases(names) and wrong is None else "none")
    if how.decode == "bio" and not are_phrases(names):
        other = next(name for name in names if not are_phrases([name]))
        raise UsageError(f"--decode bio needs labels O, B-X and I-X, and there is {other}")
    if how.decode != "none" and wrong is not None:
        raise UsageError(
            f"--decode {how.decode}: {names[label[wrong]]} of example {wrong + 1} continues no phrase; "
            "'vwlite convert conll --iob2' lets phrases begin with B-"
        )
    if how.decode == "viterbi":
        return replace_config(
            how, label_features=how.label_features or KINDS,
            label_noise=NOISE if how.label_noise is None else how.label_noise,
            recall=how.recall or (REMEMBERED if recalled_space(how.label_features) else None),
        )  # fmt: skip
    return how


def replace_config(how: SequenceConfig, **changes: object) -> SequenceConfig:
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
    weights_text = f"the weights of label features of {count:,} classes"
    check_memory(need, memory, weights_text, "fewer --label-features need less")
    seen = label
    if how.label_noise:  # a share of guesses, as there will be nothing else when labels are predicted
        chance = mix_keys(np.arange(len(label), dtype=np.uint32), solver.seed + 1) / 2.0**64
        seen = np.where((chance < how.label_noise) & (label >= 0), guesses(target, rows, label, sequence), label)
    one = labels_before(seen, sequence, count)
    two = labels_before(one, sequence, count)
    learned = np.flatnonzero((label >= 0) & (rows.importance > 0))
    given = labels_given(corpus.words, seen, sequence, how.recall) if how.recall else None
    more = features.added(rows, one, two, len(target.words), given).take(learned)
    weights = zero_weights(len(target.words) + int(features.starts[-1]), rows.extra.shape[1], count)
    problems = targets(np.arange(len(learned)), label[learned], len(learned), target.classes.names)
    solve(solver, more, problems, weights)
    own, table = weights.w[: len(target.words)], weights.w[len(target.words) :]
    trained = Weights(own.copy(), weights.v, weights.bias)
    return replace(target, weights=trained, label_weights=table.copy(), position=None)


def guesses(target: Target, rows: Rows, label: np.ndarray, sequence: np.ndarray) -> np.ndarray:
    """int64[n]: each token's class by a model of the other half of the sequences, best for whole sequences."""
    names = target.classes.names
    half = np.repeat(np.arange(len(sequence) - 1) % 2, np.diff(sequence))
    scores = np.zeros((len(rows), len(names)), np.float32)
    for number in (0, 1):
        own = np.flatnonzero((half == number) & (label >= 0) & (rows.importance > 0))
        weights = zero_weights(len(target.words), rows.extra.shape[1], len(names))
        problems = targets(np.arange(len(own)), label[own], len(own), names)
        solve(target.config.solver, rows.take(own), problems, weights)
        others = np.flatnonzero(half != number)
        scores[others] = weights.scores(rows.take(others))
    return Decoder(allowed_by(names)).best(scores, sequence).astype(np.int64)


@dataclass(slots=True)
class Stretch:
    """Some lines: ``kind`` uint8[lines] is LINE, EMPTY, BAD or BREAK, and each LINE has a row and a tag.

    ``words`` uint64[rows], nothing where labels of words are not remembered.
    """

    kind: np.ndarray
    rows: Rows
    tags: list[bytes]
    words: np.ndarray

    def part(self, first: int, last: int) -> "Stretch":
        """The lines from ``first`` to ``last``, excluded."""
        begin, end = (int((self.kind[:line] == LINE).sum()) for line in (first, last))
        rows = self.rows.take(np.arange(begin, end))
        return Stretch(self.kind[first:last], rows, self.tags[begin:end], self.words[begin:end])


def behind(parts: list[Stretch]) -> Stretch:
    """One after the other; there must be one."""
    rows = [part.rows for part in parts]
    columns = np.concatenate([row.importance for row in rows]), np.concatenate([row.extra for row in rows])
    kind, tags = np.concatenate([part.kind for part in parts]), [tag for part in parts for tag in part.tags]
    words = np.concatenate([part.words for part in parts])
    return Stretch(kind, Rows(join_rows([row.terms for row in rows]), *columns), tags, words)


def stretches(tagger: Tagger, parts: Iterable[Parsed], policy: BadLines) -> Iterator[Stretch]:
    """All lines, in stretches that end where a sequence does, if that matters. Raises as ``policy`` does, DataError."""
    waiting: list[Stretch] = []
    for part in parts:
        stretch = stretch_of(tagger, part, policy)
        ends = np.flatnonzero(ends_sequence(stretch.kind))
        end = int(ends[-1]) + 1 if len(ends) else 0
        end = end if tagger.decoder else len(stretch.kind)
        if end:
            yield behind([*waiting, stretch.part(0, end)])
            waiting = []
        if end < len(stretch.kind):
            waiting.append(stretch.part(end, len(stretch.kind)))
            tagger.check_length(sum(len(one.rows) for one in waiting))
    policy.finish()
    if waiting:
        yield behind(waiting)


def stretch_of(tagger: Tagger, part: Parsed, policy: BadLines) -> Stretch:
    batch = policy.examine(part)
    corpus = Corpus(policy, tags=True, names=False, space=tagger.space)
    corpus.add(batch)
    rows = tagger.target.rows(corpus)
    kind = np.where(batch.flags & BLANK, EMPTY, LINE).astype(np.uint8)
    kind = np.insert(kind, np.array(batch.gaps, np.int64), BAD)
    kind = np.append([np.uint8(BREAK)], kind) if begins_file(batch) else kind
    if batch.release:
        batch.release()
    return Stretch(kind, rows, corpus.tags, corpus.words)


@dataclass(slots=True)
class Answers:
    """The scores of the examples among some lines, float32[n, classes], and which classes are chosen, bool alike."""

    scores: np.ndarray
    chosen: np.ndarray
    stretch: Stretch

    def lines(self, shown: list[bytes]) -> bytes:
        """The lines of answers: ``shown`` and the tag of each example; nothing for an empty line, ``nan`` for a
        malformed one."""
        answers = iter(b" ".join(filter(None, pair)) for pair in zip(shown, self.stretch.tags, strict=True))
        kinds = self.stretch.kind[self.stretch.kind != BREAK].tolist()
        out = [next(answers) if kind == LINE else b"nan" if kind == BAD else b"" for kind in kinds]
        return b"".join(line + b"\n" for line in out)


def tag_sequences(tagger: Tagger, parts: Iterable[Parsed], policy: BadLines) -> Iterator[Answers]:
    """Raises as ``stretches``."""
    recall = tagger.recall()
    for stretch in stretches(tagger, parts, policy):
        best = tagger.best(stretch.rows, sequences_of(stretch.kind), stretch.words, recall)
        chosen = np.zeros((len(best), len(tagger.target.classes.names)), bool)
        chosen[np.arange(len(best)), best] = True
        yield Answers(tagger.target.weights.scores(stretch.rows), chosen, stretch)


def measure_tagger(
    tagger: Tagger,
    corpus: Corpus,
    asked: list[str] | None = None,
    scheme: str | None = None,
    refuse: Refuse = None,
) -> JsonObject:
    """How well the sequences of a corpus, which has the words of the tagger's ``space``, are tagged: the metrics
    ``asked`` for, None: all; phrases, by ``scheme``, are counted where labels mark any.

    Raises DataError where no example is labelled, UsageError as ``omit``.
    """
    labelled, labels = labels_of(corpus, tagger.target.classes)
    if not len(labelled):
        raise DataError("there is no labelled example to measure the model on")
    names, sequence = tagger.target.classes.names, corpus.sequence
    best = tagger.best(tagger.target.rows(corpus), sequence, corpus.words, tagger.recall())
    true = np.zeros((len(labelled), len(names)), bool)
    true[labels.positive.owner, labels.positive.indices] = True
    chosen = np.arange(len(names)) == best[labelled, None]
    importance = np.concatenate([importance for _, importance in corpus.columns])[labelled]
    report: JsonObject = {"sequences": len(sequence) - 1, **agreement(chosen, true, importance)}
    rule, reason = rule_asked([*names, *corpus.texts], scheme, asked)
    if rule:
        report["conll"] = evaluate(pairs_of(corpus, [names[one] for one in best.tolist()]), rule)
    return choose(report, {**report, "conll": None}, asked, {"conll": reason}, refuse)


def pairs_of(corpus: Corpus, best: list[str]) -> Iterator[tuple[str, str] | None]:
    """Label and answer of each labelled example, None after each sequence."""
    texts, labels = corpus.texts, corpus.label.tolist()
    ends = set(corpus.sequence[1:].tolist())
    for place, (label, name) in enumerate(zip(labels, best, strict=True)):
        if label >= 0:
            yield texts[label], name
        if place + 1 in ends:
            yield None
