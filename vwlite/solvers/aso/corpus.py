"""A text, or batches, whole in memory: numbered features with their names and namespaces, labels as texts."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from vwlite.data.batch import BLANK, FIRST, Batch, LabelVocabulary, Names, joined, offsets, tag_of
from vwlite.data.block_parser import read
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError, escaped
from vwlite.features.sparse_rows import Rows, Vocabulary, features_of, inverse_frequencies, merged, rows_over
from vwlite.solvers.aso.label_features import words_in


def text_format(skip_malformed: bool = True) -> TextFormat:
    """Labels are names, and names of features are kept."""
    return TextFormat(skip_malformed=skip_malformed, names=True).of_words()


class Corpus:
    """Reads texts or takes batches; ``rows`` numbers features by a vocabulary, this one's own or another's.

    ``label`` int64[n], place in ``texts``, -1 where unlabelled. With ``tags`` these are kept, and examples of no
    importance too. Without ``names`` there is no vocabulary, and ``rows`` may be asked for until the last batch is
    released. ``space``: the namespace of which ``words`` tells what rows have there.
    """

    def __init__(self, policy: BadLines, tags: bool = False, names: bool = True, space: str | None = None) -> None:
        self.policy, self.book, self.names, self.space = policy, LabelVocabulary(), names, space
        self.keep_tags, self.tags = tags, []
        self.gaps: list[int] = []  # rows in front of which a malformed line was left out
        self.known: dict[int, tuple[str, str]] = {}
        self.unnamed: list[tuple[Batch, np.ndarray, np.ndarray]] = []
        none, number = np.zeros(0, np.int64), np.zeros(0, np.float32)
        self.parts: list[tuple[np.ndarray, ...]] = [(none, np.zeros(0, np.uint32), number)]
        self.columns: list[tuple[np.ndarray, np.ndarray]] = [(none, number)]
        self.empty: list[np.ndarray] = [none]  # of each part the rows in front of which a sequence has ended
        self.held: list[np.ndarray] = [np.zeros(0, np.uint64)]

    def read(self, paths: Sequence[str], threads: int = 1, skip_malformed: bool = True) -> "Corpus":
        parts = read(paths, text_format(skip_malformed), threads=threads)
        return self.take(map(self.policy.examine, parts))

    def take(self, batches: Iterable[Batch]) -> "Corpus":
        """Batches of ``text_format``. Raises UsageError for those without names of features."""
        for batch in batches:
            if batch.names is None:
                raise UsageError("the batches have no names of features, which Theta is made of")
            self.add(batch)
            if batch.release:
                batch.release()
        self.policy.finish()
        return self

    def add(self, batch: Batch) -> None:
        taken = batch.flags & BLANK == 0
        rows = np.flatnonzero(taken if self.keep_tags else taken & (batch.importance > 0))
        owner, keys, values, places = features_of(batch, rows)
        if self.names:
            self.learn_names(batch, keys, places)
        else:
            self.unnamed.append((batch, keys, places))
        if self.space:
            self.held.append(words_in(batch, owner, places, len(rows), self.space))
        label = self.book.numbers(batch)[rows].astype(np.int64)
        self.parts.append(merged(owner, keys, values, len(rows)))
        self.columns.append((label, batch.importance[rows].copy()))
        ends = np.flatnonzero(~taken | (batch.flags & FIRST != 0))
        self.empty.append(np.searchsorted(rows, ends))
        if self.keep_tags:
            self.gaps += [len(self.tags) + int(np.searchsorted(rows, gap)) for gap in batch.gaps]
            self.tags += [tag_of(batch, row) for row in rows.tolist()]

    def learn_names(self, batch: Batch, keys: np.ndarray, places: np.ndarray) -> None:
        unique, first = np.unique(keys, return_index=True)
        segment = np.searchsorted(batch.namespace_start, places[first], side="right") - 1
        for key, place, seg in zip(unique.tolist(), places[first].tolist(), segment.tolist(), strict=True):
            if key not in self.known:
                self.known[key] = name_of(batch.text, batch.names, place, seg)

    def vocabulary(self, least: int = 1, idf: bool = False, without: Collection[str] = ()) -> Vocabulary:
        """Of the features that at least ``least`` rows hold, with ``idf`` with weights by how many do. ``without``:
        names that are left out.
        """
        found, counts = np.unique(self.keys, return_counts=True)
        keep = counts >= least
        rare = len(found) - int(keep.sum())
        if without:
            stopped = frozenset(without)
            keep &= [self.known[key][1] not in stopped for key in found.tolist()]
        keys, counts = found[keep], counts[keep]
        pairs = [self.known[key] for key in keys.tolist()]
        spaces = sorted({space for space, _ in pairs})
        place = {space: number for number, space in enumerate(spaces)}
        weights = inverse_frequencies(counts, len(self.label)) if idf else None
        numbers = np.array([place[space] for space, _ in pairs], np.int32)
        return Vocabulary(keys, numbers, [name for _, name in pairs], spaces, weights, rare)

    def subset(self, keep: np.ndarray) -> "Corpus":
        """The rows of ``keep`` (bool[n]), without tags."""
        found = Corpus(self.policy)
        found.book = self.book
        sizes, keys, values = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        entries = np.repeat(keep, sizes)
        found.parts = [(sizes[keep], keys[entries], values[entries])]
        found.columns = [tuple(np.concatenate(column)[keep] for column in zip(*self.columns, strict=True))]
        found.known = self.known
        return found

    def followed_by(self, other: "Corpus") -> "Corpus":
        """The rows of both, without tags; labels are those of neither."""
        found = Corpus(self.policy)
        found.parts, found.columns = [*self.parts, *other.parts], [*self.columns, *other.columns]
        found.known = {**self.known, **other.known}
        return found

    @property
    def keys(self) -> np.ndarray:
        """uint32: the features of all rows, one behind the other."""
        return np.concatenate([keys for _, keys, _ in self.parts])

    @property
    def label(self) -> np.ndarray:
        return np.concatenate([label for label, _ in self.columns])

    @property
    def sequence(self) -> np.ndarray:
        """int64: the rows with which sequences begin, which empty lines and files end, and the number of rows."""
        ends = offsets(np.array([len(label) for label, _ in self.columns], np.int64))
        cuts = [empty + begin for empty, begin in zip(self.empty, ends[:-1].tolist(), strict=True)]
        return np.unique(np.concatenate(([0], *cuts, ends[-1:]))).astype(np.int64)

    @property
    def words(self) -> np.ndarray:
        """uint64[n], 0 where a row has nothing in ``space``; nothing at all without ``space``."""
        return np.concatenate(self.held)

    @property
    def texts(self) -> list[str]:
        return self.book.texts

    def rows(self, words: Vocabulary, unit: bool = True) -> Rows:
        """Rows over ``words``; with ``unit`` scaled to length 1, unknown features counted.

        Raises DataError for a negative value where ``words`` have weights.
        """
        found, count = [], 0
        for (sizes, keys, values), (_, importance) in zip(self.parts, self.columns, strict=True):
            if words.idf is not None:
                self.check_sign(sizes, keys, values, count)
            found.append(rows_over(words, sizes, keys, values, importance, unit))
            count += len(sizes)
        importance = np.concatenate([importance for _, importance in self.columns])
        return Rows(joined([one.terms for one in found]), importance, np.zeros((count, 0), np.float32))

    def check_sign(self, sizes: np.ndarray, keys: np.ndarray, values: np.ndarray, before: int) -> None:
        """Of a part, ``before`` which there are so many rows."""
        negative = np.flatnonzero(values < 0)
        if len(negative):
            first = negative[0]
            row = before + int(np.searchsorted(np.cumsum(sizes), first, side="right"))
            for batch in self.unnamed:
                self.learn_names(*batch)
            name = escaped(self.known[int(keys[first])][1])
            raise DataError(f"--idf needs values of 0 or more, and {name} has {values[first]:g} in example {row + 1}")


def name_of(text: bytes, names: Names, place: int, segment: int) -> tuple[str, str]:
    """A feature's namespace and name; anonymous ones have numbers for names."""

    def decoded(start: np.ndarray, end: np.ndarray, at: int) -> str:
        return bytes(text[start[at] : end[at]]).decode("utf-8", "surrogateescape")

    name = decoded(names.start, names.end, place)
    if names.kind[place] == 2:
        name += "^" + decoded(names.value_start, names.value_end, place)
    return decoded(names.namespace_start, names.namespace_end, segment), name
