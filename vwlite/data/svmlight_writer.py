"""Writes batches in SVMlight format, with slots as feature indices."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import BLANK, Batch
from vwlite.data.csr import Csr
from vwlite.errors import DataError


class SvmlightWriter:
    """Formats batches with numeric labels. ``unlabelled`` counts examples without a label, which get the label 0."""

    def __init__(self) -> None:
        self.unlabelled = 0

    def lines(self, batch: Batch, terms: Csr) -> bytes:
        """The lines of the examples that are not blank; each index occurs once, in ascending order.

        ``terms`` has a row for each example. A tag that consists of digits becomes ``qid:``, any other tag a comment.
        Raises DataError for importance weights and initial predictions, which SVMlight cannot represent.
        """
        labels = np.nan_to_num(batch.label.copy(), nan=0)
        heads, lines = format_floats(labels), []
        for row, head in enumerate(heads):
            if batch.flags[row] & BLANK:
                continue
            if batch.importance[row] != 1 or batch.initial_prediction[row] != 0:
                raise DataError(f"{batch.location(row)}: SVMlight has no importance and no initial prediction")
            self.unlabelled += bool(np.isnan(batch.label[row]))
            tag = batch.tag(row)
            words = [head, b"qid:" + tag] if tag.isdigit() else [head]
            begin, end = int(terms.indptr[row]), int(terms.indptr[row + 1])
            words += format_features(terms.indices[begin:end], terms.values[begin:end])
            words += [b"#", tag] if tag and not tag.isdigit() else []
            lines.append(b" ".join(words) + b"\n")
        return b"".join(lines)


def format_features(slots: np.ndarray, values: np.ndarray) -> list[bytes]:
    """``index:value`` for each distinct slot, with the sum of its values, as float32."""
    index, place = np.unique(slots, return_inverse=True)
    sums = np.bincount(place, values, len(index)).astype(np.float32)
    return [b"%d:%b" % (one, value) for one, value in zip(index.tolist(), format_floats(sums), strict=True)]


def format_floats(values: np.ndarray) -> list[bytes]:
    """The shortest decimal of each of float32[n] that reads back as the same number."""
    return [str(value).removesuffix(".0").encode() for value in values]
