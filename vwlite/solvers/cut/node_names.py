"""The names of a graph's nodes, in order of appearance."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from vwlite._native import node_names
from vwlite.errors import DataError

MOST = 2**31 - 1  # nodes that have a number


class NodeNames:
    """Whole names are kept, so that none is taken for another of the same hash."""

    def __init__(self) -> None:
        self.known = 0
        self.table = np.full(1 << 12, -1, np.int32)
        self.ends = np.zeros(1 << 11, np.int64)
        self.text = np.zeros(1 << 14, np.uint8)

    def __len__(self) -> int:
        return self.known

    def numbers(self, text: Any, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """int32[n]: the numbers of the names ``text[start[i]:end[i]]``, uint32[n]; new names get the next ones.

        Raises DataError for more names than there are numbers.
        """
        self.make_room(len(start), int((end.astype(np.int64) - start).sum()))
        found = np.empty(len(start), np.int32)
        places = np.ascontiguousarray(start, np.uint32), np.ascontiguousarray(end, np.uint32)
        self.known = node_names.number(text, *places, self.table, self.ends, self.text, self.known, found)
        return found

    def make_room(self, more: int, size: int) -> None:
        """For ``more`` names of ``size`` bytes in all."""
        if self.known + more > MOST:
            raise DataError(f"the graph has more than {MOST:,} nodes")
        if len(self.ends) <= self.known + more:
            self.ends = np.concatenate((self.ends, np.zeros(more + len(self.ends), np.int64)))
        if len(self.text) < int(self.ends[self.known]) + size:
            self.text = np.concatenate((self.text, np.zeros(size + len(self.text), np.uint8)))
        if len(self.table) < 2 * (self.known + more):
            self.table = np.full(1 << (2 * (self.known + more)).bit_length(), -1, np.int32)
            node_names.enter(self.table, self.ends, self.text, self.known)

    def all(self) -> list[bytes]:
        text, edges = self.text.tobytes(), self.ends[: self.known + 1].tolist()
        return [text[begin:end] for begin, end in pairwise(edges)]
