"""Batches as lines of SVMlight: a number for each feature, which is its slot."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import BLANK, Batch
from vwlite.data.csr import Csr
from vwlite.errors import DataError


class SvmlightWriter:
    """Writes batches whose labels are numbers. ``unlabelled``: examples without one, which are written as 0."""

    def __init__(self) -> None:
        self.unlabelled = 0

    def lines(self, batch: Batch, terms: Csr) -> bytes:
        """A line for each example but empty ones, with indices in ascending order, each once.

        ``terms``: a row for each example. A tag of digits becomes ``qid:``, another one a comment. Raises DataError for
        importance and initial predictions, which SVMlight does not have.
        """
        labels = np.nan_to_num(batch.label.copy(), nan=0)
        heads, made = decimals(labels), []
        for row, head in enumerate(heads):
            if batch.flags[row] & BLANK:
                continue
            if batch.importance[row] != 1 or batch.initial_prediction[row] != 0:
                raise DataError(f"{batch.location(row)}: SVMlight has no importance and no initial prediction")
            self.unlabelled += bool(np.isnan(batch.label[row]))
            tag = batch.tag(row)
            words = [head, b"qid:" + tag] if tag.isdigit() else [head]
            begin, end = int(terms.indptr[row]), int(terms.indptr[row + 1])
            words += entries(terms.indices[begin:end], terms.values[begin:end])
            words += [b"#", tag] if tag and not tag.isdigit() else []
            made.append(b" ".join(words) + b"\n")
        return b"".join(made)


def entries(slots: np.ndarray, values: np.ndarray) -> list[bytes]:
    """``index:value`` of each slot that occurs, with the sum of its values."""
    index, place = np.unique(slots, return_inverse=True)
    sums = np.bincount(place, values, len(index)).astype(np.float32)
    return [b"%d:%b" % (one, value) for one, value in zip(index.tolist(), decimals(sums), strict=True)]


def decimals(values: np.ndarray) -> list[bytes]:
    """The shortest decimals of float32[n]."""
    return [str(value).removesuffix(".0").encode() for value in values]
