"""Lines of text in whole sequences, as they come, with the classes that a model of sequences chooses for them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK
from vwlite.data.block_parser import Parsed
from vwlite.data.csr import joined
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError
from vwlite.features.sparse_rows import Rows
from vwlite.solvers.aso.classifier import labels_of
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.metrics import agreement
from vwlite.solvers.aso.tagger import Tagger
from vwlite.solvers.loglinear import conlleval
from vwlite.solvers.loglinear.examples import BAD, BREAK, EMPTY, LINE, begins_file, ends_sequence, sequences_of


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
    return Stretch(kind, Rows(joined([row.terms for row in rows]), *columns), tags, words)


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
        """What is ``shown`` of an example and its tag; nothing for an empty line, ``nan`` for a malformed one."""
        answers = iter(b" ".join(filter(None, pair)) for pair in zip(shown, self.stretch.tags, strict=True))
        kinds = self.stretch.kind[self.stretch.kind != BREAK].tolist()
        out = [next(answers) if kind == LINE else b"nan" if kind == BAD else b"" for kind in kinds]
        return b"".join(line + b"\n" for line in out)


def tagged(tagger: Tagger, parts: Iterable[Parsed], policy: BadLines) -> Iterator[Answers]:
    """Raises as ``stretches``."""
    recall = tagger.recall()
    for stretch in stretches(tagger, parts, policy):
        best = tagger.best(stretch.rows, sequences_of(stretch.kind), stretch.words, recall)
        chosen = np.zeros((len(best), len(tagger.target.classes.names)), bool)
        chosen[np.arange(len(best)), best] = True
        yield Answers(tagger.target.weights.scores(stretch.rows), chosen, stretch)


def measured(tagger: Tagger, corpus: Corpus) -> dict[str, Any]:
    """How well the sequences of a corpus, which has the words of the tagger's ``space``, are tagged.

    Raises DataError where no example is labelled.
    """
    labelled, made = labels_of(corpus, tagger.target.classes)
    if not len(labelled):
        raise DataError("there is no labelled example to measure the model on")
    names, sequence = tagger.target.classes.names, corpus.sequence
    best = tagger.best(tagger.target.rows(corpus), sequence, corpus.words, tagger.recall())
    true = np.zeros((len(labelled), len(names)), bool)
    true[made.positive.owner, made.positive.indices] = True
    chosen = np.arange(len(names)) == best[labelled, None]
    importance = np.concatenate([importance for _, importance in corpus.columns])[labelled]
    report: dict[str, Any] = {"sequences": len(sequence) - 1, **agreement(chosen, true, importance)}
    return {**report, "conll": conlleval.evaluate(pairs_of(corpus, [names[one] for one in best.tolist()]))}


def pairs_of(corpus: Corpus, best: list[str]) -> Iterator[tuple[str, str] | None]:
    """Label and answer of each labelled example, None after each sequence."""
    texts, labels = corpus.texts, corpus.label.tolist()
    ends = set(corpus.sequence[1:].tolist())
    for place, (label, name) in enumerate(zip(labels, best, strict=True)):
        if label >= 0:
            yield texts[label], name
        if place + 1 in ends:
            yield None
