"""Features of the labels before a token: ``y1`` of the last one, ``y2`` of the last two, ``y1*NS`` with features of NS.

They are numbered from 0; number L stands for the label before a sequence. ``y-prev*NS`` is the label that an example
with the same features of NS had in a sequence before. Weights of all are float32[features, L].
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vwlite._native import label_viterbi as kernel
from vwlite.data.batch import Batch, Csr, offsets
from vwlite.errors import UsageError
from vwlite.features.feature_plan import NAMELESS
from vwlite.features.hashing import hash_name
from vwlite.features.sparse_rows import Rows, Vocabulary
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.learners.base import NO_MEMORY
from vwlite.solvers.aso.auxiliary import in_spaces, mixed

RECALL = "y-prev*"
VALUE = 0.05  # of each, beside a row of length 1: what guesses were made of is to count less than the words


@dataclass(slots=True)
class LabelFeatures:
    """``kinds`` y1, y2, y1*NS or y-prev*NS.

    With y1*NS a feature of NS has a row of L + 1 numbers, by its ``rank`` there, -1 for others.
    """

    labels: int
    kinds: tuple[str, ...]
    rank: dict[str, np.ndarray]  # int64[p] by namespace

    @property
    def starts(self) -> np.ndarray:
        """int64[kinds + 1]: where the numbers of each kind begin."""
        width = self.labels + 1
        sizes = [width * self.factor(kind) for kind in self.kinds]
        return offsets(np.array(sizes, np.int64))

    def factor(self, kind: str) -> int:
        if kind == "y2":
            return self.labels + 1
        if not crosses(kind):
            return 1
        return int(self.rank[kind[3:]].max(initial=-1)) + 1

    def crossed(self, rows: Rows, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Row and rank of each feature of the kind's namespace, int64 both."""
        rank = self.rank[kind[3:]][rows.terms.indices]
        own = np.flatnonzero(rank >= 0)
        return rows.terms.owner[own], rank[own]

    def added(
        self, rows: Rows, one: np.ndarray, two: np.ndarray, words: int, given: np.ndarray | None = None
    ) -> Rows:
        """Rows with features behind ``words`` others, by the labels one and two before and that ``given``, int64[n].

        Labels below 0 are not known and make no feature.
        """
        width, every = self.labels + 1, np.arange(len(rows))
        owners, indices = [rows.terms.owner], [rows.terms.indices.astype(np.int64)]
        for kind, start in zip(self.kinds, self.starts[:-1].tolist(), strict=True):
            label = one if given is None or not kind.startswith(RECALL) else given
            if crosses(kind):
                owner, place = self.crossed(rows, kind)
            else:
                owner, place = every, two if kind == "y2" else np.zeros_like(every)
            known = (label[owner] >= 0) & (place >= 0)
            owners.append(owner[known])
            indices.append(words + start + place[known] * width + label[owner][known])
        owner, index = np.concatenate(owners), np.concatenate(indices)
        values = np.full(len(owner), VALUE, np.float32)
        values[: len(rows.terms.values)] = rows.terms.values
        order = np.lexsort((index, owner))
        terms = Csr(offsets(np.bincount(owner, minlength=len(rows))), index[order].astype(np.uint32), values[order])
        return replace(rows, terms=terms)

    def pairs(self, rows: Rows, weights: np.ndarray) -> np.ndarray:
        """float32[n, L + 1, L]: what the label before adds to the scores of labels."""
        width = self.labels + 1
        out = np.zeros((len(rows), width, self.labels), np.float32)
        for kind, start in zip(self.kinds, self.starts[:-1].tolist(), strict=True):
            if kind == "y1":
                out += weights[start : start + width]
            elif crosses(kind):
                owner, rank = self.crossed(rows, kind)
                table = weights[start : start + width * self.factor(kind)].reshape(-1, width, self.labels)
                np.add.at(out, owner, table[rank])
        return out * np.float32(VALUE)

    def triples(self, weights: np.ndarray) -> np.ndarray | None:
        """float32[L + 1, L + 1, L]: what the two labels before add, the farther one first; None without y2."""
        if "y2" not in self.kinds:
            return None
        width, start = self.labels + 1, int(self.starts[self.kinds.index("y2")])
        table = weights[start : start + width * width].reshape(width, width, self.labels)
        return np.ascontiguousarray(table * np.float32(VALUE))


    def recalled(self, weights: np.ndarray) -> np.ndarray | None:
        """float32[L + 1, L]: what the label given to the same word adds, the last row for none; None without y-prev."""
        own = [start for kind, start in zip(self.kinds, self.starts[:-1], strict=True) if kind.startswith(RECALL)]
        if not own:
            return None
        table: np.ndarray = weights[own[0] : own[0] + self.labels + 1] * np.float32(VALUE)
        table[-1] = 0
        return table


def crosses(kind: str) -> bool:
    return kind.startswith("y1*")


def read_kinds(text: str) -> tuple[str, ...]:
    """``y1,y2,y1*NS,y-prev*NS``. Raises UsageError."""
    kinds = tuple(dict.fromkeys(text.split(",")))
    for kind in kinds:
        if kind not in ("y1", "y2") and not any(kind.startswith(one) and kind != one for one in ("y1*", RECALL)):
            raise UsageError(f"--label-features are y1, y2, y1*NS and y-prev*NS, not {kind!r}")
    if sum(kind.startswith(RECALL) for kind in kinds) > 1:
        raise UsageError("--label-features has y-prev of two namespaces: keep that of the words")
    return kinds


def recalled_space(text: str | None) -> str | None:
    """The namespace of y-prev, None without it. Raises as ``read_kinds``."""
    own = (kind for kind in (read_kinds(text) if text else ()) if kind.startswith(RECALL))
    return next(own, RECALL).removeprefix(RECALL) or None


def label_features(kinds: tuple[str, ...], labels: int, words: Vocabulary) -> LabelFeatures:
    """Raises UsageError for a namespace that the text has not."""
    rank = {}
    for kind in kinds:
        if kind not in ("y1", "y2"):
            space = kind.partition("*")[2]
            own = in_spaces(words, (space,))
            rank[space] = np.where(own, np.cumsum(own) - 1, -1)
    return LabelFeatures(labels, kinds, rank)


NO_WORD = np.uint64(0)


def words_in(batch: Batch, owner: np.ndarray, places: np.ndarray, rows: int, space: str) -> np.ndarray:
    """uint64[rows]: what each row has in a namespace, as one number; ``NO_WORD`` where it has nothing there.

    ``owner`` and ``places`` of features as ``features_of`` has them. The order of the features does not matter.
    """
    named = batch.namespace_hash == hash_name(space.encode("utf-8", "surrogateescape"), 0)
    named &= ~np.isin(batch.namespace_char, np.array(NAMELESS, np.uint8))
    own = named[np.searchsorted(batch.namespace_start, places, "right") - 1]
    sums = np.zeros(rows, np.uint64)
    np.add.at(sums, owner[own], mixed(batch.feature_hash[places[own]], 0))
    return sums


class Recall:
    """Labels of words in the last ``most`` sequences; it holds the words of these alone."""

    def __init__(self, most: int) -> None:
        self.most, self.now = most, 0  # sequences so far
        self.word = np.zeros(0, np.uint64)  # ascending
        self.label, self.given = np.zeros(0, np.int64), np.zeros(0, np.int64)  # and when, in sequences

    def meet(self, words: np.ndarray) -> np.ndarray:
        """int64: the places of these words, -1 for ``NO_WORD``. Places of before do not hold any longer."""
        kept = self.given >= self.now - self.most
        old, label, given = self.word[kept], self.label[kept], self.given[kept]
        self.word = np.unique(np.concatenate((old, words[words != NO_WORD])))
        self.label, self.given = np.full(len(self.word), -1), np.full(len(self.word), -1 - self.most)
        place = np.searchsorted(self.word, old)
        self.label[place], self.given[place] = label, given
        return np.where(words == NO_WORD, -1, np.searchsorted(self.word, words))

    def labels(self, place: np.ndarray) -> np.ndarray:
        """int64: the label that each word had last, -1 for none."""
        if not len(self.word):
            return np.full(len(place), -1)
        known = (place >= 0) & (self.given[place] >= self.now - self.most)
        return np.where(known, self.label[place], -1)

    def end(self, place: np.ndarray, label: np.ndarray) -> None:
        """A sequence has ended, whose words had these labels; those below 0 are not known."""
        own = (place >= 0) & (label >= 0)
        self.label[place[own]], self.given[place[own]] = label[own], self.now
        self.now += 1


def labels_given(words: np.ndarray, label: np.ndarray, sequence: np.ndarray, most: int) -> np.ndarray:
    """int64[n]: the label that each row's word had last in the ``most`` sequences before, -1 for none.

    ``sequence`` int64: where sequences begin, the number of rows last.
    """
    recall, found = Recall(most), np.full(len(words), -1)
    place = recall.meet(words)
    for begin, end in zip(sequence[:-1].tolist(), sequence[1:].tolist(), strict=True):
        found[begin:end] = recall.labels(place[begin:end])
        recall.end(place[begin:end], label[begin:end])
    return found


def are_phrases(names: Sequence[str]) -> bool:
    """Whether labels are O, B-X and I-X: those of phrases by their beginnings (IOB2), or without them (IOB1)."""
    return all(name == "O" or (name[:2] in ("B-", "I-") and len(name) > 2) for name in names)


def of_phrases(names: Sequence[str]) -> np.ndarray:
    """uint8[L + 1, L]: whether a label may follow another one, or in the last row begin a sequence.

    I-X follows B-X and I-X alone.
    """
    allowed = np.ones((len(names) + 1, len(names)), np.uint8)
    for place, name in enumerate(names):
        if name.startswith("I-"):
            allowed[:, place] = [before in ("B" + name[1:], name) for before in [*names, ""]]
    return allowed


def allowed_by(names: Sequence[str]) -> np.ndarray:
    """As ``of_phrases``; of labels that are none anything may follow anything."""
    return of_phrases(names) if are_phrases(names) else np.ones((len(names) + 1, len(names)), np.uint8)


def broken(names: Sequence[str], label: np.ndarray, sequence: np.ndarray) -> int | None:
    """The first token whose label, int[tokens], may not follow that before it; labels below 0 are not known."""
    allowed = of_phrases(names)
    before = labels_before(label, sequence, len(names))
    known = (label >= 0) & (before >= 0)
    wrong = np.flatnonzero(known & (allowed[before, label] == 0))
    return int(wrong[0]) if len(wrong) else None


def labels_before(label: np.ndarray, sequence: np.ndarray, start: int) -> np.ndarray:
    """int64[tokens]: the label of the token before each, ``start`` where a sequence begins."""
    before = np.concatenate(([start], label[:-1])).astype(np.int64)[: len(label)]
    before[sequence[:-1][sequence[:-1] < len(label)]] = start
    return before


@dataclass(slots=True)
class Decoder:
    """``allowed`` uint8[L + 1, L] as ``of_phrases``; ``triple`` float32[L + 1, L + 1, L] by the two labels before.

    ``beam``: with ``triple``, of how many paths that end with different pairs of labels each token is added to, the
    best ones, of equal ones the first; 0: of all.
    """

    allowed: np.ndarray
    triple: np.ndarray | None = None
    beam: int = 0

    def best(self, score: np.ndarray, sequence: np.ndarray, pair: np.ndarray | None = None) -> np.ndarray:
        """int32[tokens]: the labels with the largest sum in each sequence.

        ``score`` float32[tokens, L]; ``pair`` float32[tokens, L + 1, L] by the label before; ``sequence`` int64: where
        sequences begin, the number of tokens last. Raises MemoryError.
        """
        label = np.zeros(len(score), np.int32)
        stop = np.frombuffer(STOP, np.uint8)
        status = kernel.decode(score, pair, self.triple, self.allowed, sequence, label, stop, self.beam)
        raise_if_stopped()
        if status == NO_MEMORY:
            raise MemoryError("a sequence is too long for the memory there is")
        return label
