"""The best label sequences of tokens that were scored one by one (Ando and Zhang 2005, section 7.3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vwlite._native import label_viterbi as kernel
from vwlite.interrupts import STOP, obey
from vwlite.learners.base import NO_MEMORY


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
        obey()
        if status == NO_MEMORY:
            raise MemoryError("a sequence is too long for the memory there is")
        return label
