"""The label that was last given to the same word, in the sequences before (Ando and Zhang 2005, section 7.3.1)."""

import numpy as np

from vwlite.data.batch import Batch
from vwlite.features.feature_names import NAMELESS
from vwlite.features.hashing import hash_name
from vwlite.solvers.aso.auxiliary import mixed

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
