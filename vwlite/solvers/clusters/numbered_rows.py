"""Rows by the numbers of their slots, pass by pass; they stay in memory where there is room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from vwlite._native import weigh_terms
from vwlite.data.csr import Csr, joined
from vwlite.interrupts import obey
from vwlite.solvers.rows import Part, Rows, SlotRows


class Piece(NamedTuple):
    """Some consecutive rows; ``indices`` are numbers of slots. Rows of weight 0 count for nothing."""

    terms: Csr
    weight: np.ndarray  # float32[rows]


class NumberedRows:
    """The first pass numbers the slots, and counts; at its end the numbers get the order of the slots, so that sums
    over them do not depend on how the data come.

    With ``unit`` all rows have length 1, but for those without any term: these count for nothing.
    """

    def __init__(self, source: Rows, rows: SlotRows, unit: bool, room: Callable[[int], float]) -> None:
        """``room``: is told how many slots there are, and answers how many bytes of rows may be kept."""
        self.source, self.rows, self.unit, self.room = source, rows, unit, room
        self.kept: list[Piece] | None = []
        self.bytes = 0.0
        self.weight = np.zeros(0, np.float32)  # of all rows, once they were read
        self.without_length = 0

    def __iter__(self) -> Iterator[Piece]:
        if self.read and self.kept is not None:
            for piece in self.kept:
                yield piece
                obey()
            return
        weights = []
        for part in self.source.parts():
            piece = self.numbered(part)
            if not self.read:
                weights.append(piece.weight)
            yield piece
            obey()
        if not self.read:
            self.sort()
            self.weight = np.concatenate([np.zeros(0, np.float32), *weights])

    def sort(self) -> None:
        order = np.argsort(self.rows.slots)
        self.rows.renumber(self.rows.slots[order])
        number = np.empty(len(order), np.uint32)
        number[order] = np.arange(len(order))
        for piece in self.kept or []:
            piece.terms.indices[:] = number[piece.terms.indices]

    @property
    def read(self) -> bool:
        return bool(len(self.weight))

    def numbered(self, part: Part) -> Piece:
        terms, weight = part.terms, np.maximum(part.weight, 0)
        if not self.read:
            self.rows.admit(terms.indices, self.room)
        number = self.rows.find(terms.indices).astype(np.uint32)
        if self.unit:
            weigh_terms.normalize(terms.indptr, terms.values)
            empty = terms.sizes == 0
            if not self.read:
                self.without_length += int((empty & (weight > 0)).sum())
            weight[empty] = 0
        piece = Piece(Csr(terms.indptr, number, terms.values), weight)
        if not self.read and self.kept is not None:
            self.bytes += sum(array.nbytes for array in (terms.indptr, number, terms.values, weight))
            self.kept.append(piece)
            if self.bytes > self.room(len(self.rows)):
                self.kept = None
        return piece

    def whole(self) -> Piece:
        """All rows that are kept in memory, as one piece from now on."""
        if self.kept is None or len(self.kept) != 1:
            terms, weight = joined([piece.terms for piece in self.kept or []]), self.weight
            self.kept = [Piece(terms, weight)]
        return self.kept[0]

    def take(self, numbers: np.ndarray) -> Csr:
        """The rows of these numbers, ascending, by a pass over the data."""
        found, begin = [], 0
        for piece in self:
            end = begin + len(piece.weight)
            first, last = np.searchsorted(numbers, (begin, end)).tolist()
            if last > first:
                found.append(piece.terms.take(numbers[first:last] - begin))
            begin = end
        return joined(found)
