"""Batches of rows that are dicts of names and values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from vwlite._native.dict_rows import DictRows
from vwlite.data.batch import Batch, Names
from vwlite.data.row_columns import RowColumns
from vwlite.data.segments import MAX_FEATURES, MAX_ROWS, SLACK
from vwlite.data.text_format import TextFormat


class DictBatches:
    """The batches of dicts, read as they come: a number is ``name:value``, a text ``name:text``.

    True is 1; False, None and NaN are absent. A dict or a list of texts is a namespace of its name, of such features
    or of words; it stands behind the row's anonymous features. An iterator serves one pass.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: RowColumns, format: TextFormat) -> None:
        self.rows, self.columns, self.format = rows, columns, format
        self.replayable = not isinstance(rows, Iterator)
        if hasattr(rows, "__len__"):
            columns.check(len(rows))

    def __iter__(self) -> Iterator[Batch]:
        """Raises DataError for what is no row, no number, or not finite; for columns of another length."""
        format, rows, begin = self.format, iter(self.rows), 0
        reader = DictRows(format.hash_seed, format.hash_all, format.names)
        while count := reader.read(rows, MAX_ROWS, MAX_FEATURES):
            self.columns.check_reaches(begin + count)
            batch = dict_batch(reader, self.columns.take(begin, begin + count))
            batch.first_line = begin
            yield batch
            begin += count
        self.columns.check(begin)


def dict_batch(reader: DictRows, rows: dict[str, Any]) -> Batch:
    """The batch of what was read; ``rows`` are its other columns, and its text."""
    columns, kept = reader.take()
    text, names = rows.pop("text"), None
    if kept is not None:
        words, features, spaces = kept
        shift = np.uint32(len(text))
        text += words
        features[:, [0, 1, 4, 5]] += shift
        kinds = features[:, 2:4].astype(np.uint8)
        spans = (features[:, 0], features[:, 1], kinds[:, 0], kinds[:, 1], features[:, 4], features[:, 5])
        names = Names(*spans, *(spaces.T + shift))
    line = np.arange(len(rows["label"]), dtype=np.uint32)
    return Batch(**rows, **columns, text=memoryview(text + SLACK), line=line, names=names)
