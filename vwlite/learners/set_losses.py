"""What a set of labels costs that is answered where another is meant, and what depends on the decision on one label.

The labels are decided one after the other, as by a filter tree over all sets (Beygelzimer, Langford and Ravikumar
2009), whose contests are between a set without a label and with it: the answers before it stand, and those after it
will be right.
"""

from __future__ import annotations

import numpy as np


def set_costs(loss: str, answered: np.ndarray, meant: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """float64[rows], of int64[rows]: the sizes of the sets answered, of those meant and of what they share.

    hamming |S xor Y|, zero_one [S != Y], f1 1 - 2 |S n Y| / (|S| + |Y|), jaccard 1 - |S n Y| / |S u Y|; 0 where S = Y.
    """
    wrong = answered + meant - 2 * shared
    if loss == "hamming":
        return wrong.astype(np.float64)
    if loss == "zero_one":
        return (wrong > 0).astype(np.float64)
    share, whole = (2 * shared, answered + meant) if loss == "f1" else (shared, answered + meant - shared)
    return np.where(wrong > 0, 1 - share / np.maximum(whole, 1), 0.0)


class Decisions:
    """Of rows of which ``meant``, bool[rows, labels], are the labels: what is answered so far."""

    def __init__(self, loss: str, meant: np.ndarray) -> None:
        self.loss, self.meant = loss, meant
        self.size = meant.sum(axis=1)
        self.later = self.size.copy()  # how many of a row's labels are still to be decided
        self.answered = np.zeros_like(self.size)
        self.shared = np.zeros_like(self.size)

    def weights(self, label: int) -> np.ndarray:
        """float64[rows]: how far apart the costs without and with the label are, which is decided next."""
        true = self.meant[:, label]
        self.later -= true
        answered, shared = self.answered + self.later, self.shared + self.later
        without = set_costs(self.loss, answered, self.size, shared)
        return np.abs(set_costs(self.loss, answered + 1, self.size, shared + true) - without)

    def decide(self, label: int, answer: np.ndarray) -> None:
        """The label is in the sets of the rows in which ``answer``, bool[rows], is true."""
        self.answered += answer
        self.shared += answer & self.meant[:, label]

    def costs(self) -> np.ndarray:
        """float64[rows]: what the sets answered cost, when all labels are decided."""
        return set_costs(self.loss, self.answered, self.size, self.shared)
