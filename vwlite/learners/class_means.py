"""The mean of the iterates of a table of rows, a weight for each class; see ``cython_ext/learners/class_means.pxd``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite._native import mean_rows as kernel
from vwlite.config_check import count_in
from vwlite.learners.average import OF_MEANS, number_of
from vwlite.storage.weight_table import Table, written_chunks, zeros

NAMES = OF_MEANS[:-1]  # of the scalars; rows have no scale


class ClassMeans:
    """``last``, ``sums`` and ``next_sums`` float32[slots, 1], rows of ``width`` slots; ``number`` float32[rows, 1]."""

    TABLES = ("last", "sums", "next_sums")  # which a model has beside the mean

    def __init__(self, slots: int, width: int, average_after: int | None) -> None:
        self.width, self.after, self.present = width, -1 if average_after is None else average_after, 0.0
        self.last, self.sums, self.next_sums = (zeros(slots, 1) for _ in range(3))
        self.number = zeros(slots // width, 1)
        self.scalars = np.zeros(len(NAMES))

    @property
    def has_begun(self) -> bool:
        return self.scalars[NAMES.index("mean_count")] > 0

    @property
    def learned(self) -> int:
        """How many examples were."""
        return int(self.scalars[0])

    def averaged(self) -> np.ndarray:
        """float32[slots, 1], the mean."""
        found, chunk = zeros(len(self.last), 1), self.width * max(1, (1 << 16) // self.width)
        for begin, end, _ in written_chunks(self.last, chunk):
            part = np.empty(end - begin, np.float32)
            kernel.read_means(self, self.width, begin // self.width, part)
            found[begin:end, 0] = part
        return found

    def tables(self) -> dict[str, Table]:
        kernel.bring_up_rows(self, self.width)
        return {name: Table(getattr(self, name), ("w",)) for name in self.TABLES}

    def header(self) -> dict[str, float]:
        return dict(zip(NAMES, self.scalars.tolist(), strict=True))

    def load(self, tables: Mapping[str, np.ndarray], scalars: Mapping[str, Any]) -> None:
        """Take over what ``tables`` and ``header`` gave."""
        self.last, self.sums, self.next_sums = (tables[name] for name in self.TABLES)
        self.scalars[:] = [float(scalars[name]) for name in NAMES]
        self.present = number_of(count_in(scalars, "learned"), self.after)
        used = (self.sums != 0) | (self.next_sums != 0)
        self.number[used.reshape(-1, self.width).any(axis=1)] = self.present
