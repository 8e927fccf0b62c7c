"""Rows by the numbers of their slots, pass by pass; they stay in memory where there is room."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from vwlite._native import nearest_means, weigh_terms
from vwlite.data.batch import Csr, join_rows
from vwlite.features.hashing import mix64
from vwlite.interrupts import raise_if_stopped
from vwlite.solvers.row_solver import Part, Rows, SlotRows

TERMS_OF_PIECE = 1 << 20  # at least, but for the last one


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
        """``room``: is called with the number of slots, and returns how many bytes of rows may be kept."""
        self.source, self.rows, self.unit, self.room = source, rows, unit, room
        self.kept: list[Piece] | None = []
        self.whole_pieces = self.loose_terms = 0  # of them; terms in the others
        self.bytes = 0.0
        self.weight = np.zeros(0, np.float32)  # of all rows, once they were read
        self.without_length = 0

    def __iter__(self) -> Iterator[Piece]:
        if self.read and self.kept is not None:
            for piece in self.kept:
                yield piece
                raise_if_stopped()
            return
        weights = []
        for part in self.source.parts():
            piece = self.numbered(part)
            if not self.read:
                weights.append(piece.weight)
            yield piece
            raise_if_stopped()
        if not self.read:
            self.sort()
            self.weight = np.concatenate([np.zeros(0, np.float32), *weights])

    def sort(self) -> None:
        order = np.argsort(self.rows.slots)
        self.rows.renumber(self.rows.slots[order])
        number = np.empty(len(order), np.uint32)
        number[order] = np.arange(len(order))
        self.join_pieces()
        for piece in self.kept or []:
            piece.terms.indices[:] = number[piece.terms.indices]

    def join_pieces(self) -> None:
        """Make one piece of those kept last: every pass has a cost for each of them."""
        if self.kept is not None and len(self.kept) > self.whole_pieces:
            last = self.kept[self.whole_pieces :]
            weight = np.concatenate([piece.weight for piece in last])
            self.kept[self.whole_pieces :] = [Piece(join_rows([piece.terms for piece in last]), weight)]
            self.whole_pieces += 1
        self.loose_terms = 0

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
            self.loose_terms += len(number)
            if self.bytes > self.room(len(self.rows)):
                self.kept = None
            elif self.loose_terms >= TERMS_OF_PIECE:
                self.join_pieces()
        return piece

    def whole(self) -> Piece:
        """All rows that are kept in memory, as one piece from now on."""
        if self.kept is None or len(self.kept) != 1:
            terms, weight = join_rows([piece.terms for piece in self.kept or []]), self.weight
            self.kept = [Piece(terms, weight)]
        return self.kept[0]

    def take(self, numbers: np.ndarray) -> Csr:
        """The rows of these numbers, ascending, by a pass over the data."""
        parts, begin = [], 0
        for piece in self:
            end = begin + len(piece.weight)
            first, last = np.searchsorted(numbers, (begin, end)).tolist()
            if last > first:
                parts.append(piece.terms.take(numbers[first:last] - begin))
            begin = end
        return join_rows(parts)


ROUNDS, SHARE = 5, 2  # of k-means||: candidates a round for each cluster
Nearest = Callable[[Piece, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # clusters and distances from means


def uniform(numbers: np.ndarray, seed: int, *purposes: int) -> np.ndarray:
    """float64[n] within (0, 1): functions of whole numbers, of the seed and of what they are for."""
    state = mix64(np.array([seed + 1], np.uint64))
    for purpose in purposes:
        state = mix64(state ^ mix64(np.array([purpose + 1], np.uint64)))
    bits = mix64(state ^ mix64(numbers.astype(np.uint64) + np.uint64(1))) >> np.uint64(11)
    return (bits.astype(np.float64) + 0.5) / 2**53


def draw_rows(weight: np.ndarray, count: int, seed: int, *purposes: int) -> np.ndarray:
    """int64[count], ascending: rows drawn without replacement, as likely as their weights.

    Those of the smallest exponential times of these rates (Efraimidis and Spirakis, Information Processing Letters 97,
    2006).
    """
    with np.errstate(divide="ignore"):
        times = -np.log(uniform(np.arange(len(weight)), seed, *purposes)) / weight
    return np.sort(np.argsort(times, kind="stable")[:count])


def trim_weights(weight: np.ndarray, distance: np.ndarray, share: float) -> np.ndarray:
    """The weights, 0 for the farthest rows, which have at most this share of them.

    Cuesta-Albertos, Gordaliza and Matran, Annals of Statistics 25 (1997).
    """
    if not share:
        return weight
    order = np.argsort(-distance, kind="stable")
    total = np.cumsum(weight[order], dtype=np.float64)
    left = weight.copy()
    left[order[total <= share * total[-1]]] = 0
    return left


def dense(rows: Csr, slots: int) -> np.ndarray:
    """float32[slots, rows]: the rows as columns."""
    matrix = np.zeros((slots, len(rows)), np.float32)
    matrix[rows.indices, rows.owner] = rows.values
    return matrix


def squares_of(rows: Csr) -> np.ndarray:
    return np.bincount(rows.owner, rows.values.astype(np.float64) ** 2, len(rows))


def scalable(rows: NumberedRows, nearest: Nearest, clusters: int, trim: float, seed: int, *purposes: int) -> Csr:
    """Draw rows as first means, in ``ROUNDS`` + 1 passes over the data and one pass for each drawing.

    Rows of the farthest share ``trim`` are not drawn.
    """
    weight, slots = rows.weight.astype(np.float64), len(rows.rows)
    distance, owner = np.full(len(weight), np.inf), np.zeros(len(weight), np.int64)
    seeds = [rows.take(draw_rows(weight, 1, seed, *purposes))]
    known = 0
    for number in range(1, ROUNDS + 2):
        if len(seeds[-1]):
            means, squares = dense(seeds[-1], slots), squares_of(seeds[-1])
            begin = 0
            for piece in rows:
                part = slice(begin, begin + len(piece.weight))
                near, far = nearest(piece, means, squares)
                closer = far < distance[part]
                owner[part] = np.where(closer, near + known, owner[part])
                distance[part] = np.minimum(far, distance[part])
                begin = part.stop
        known += len(seeds[-1])
        if not np.isfinite(distance).all():  # distances from any means will not be
            return rows.take(draw_rows(weight, clusters, seed, *purposes))
        spread = trim_weights(weight, distance, trim) * distance
        if number > ROUNDS or not spread.sum():
            break
        chance = spread * (SHARE * clusters / spread.sum())
        seeds.append(rows.take(np.flatnonzero(uniform(np.arange(len(weight)), seed, *purposes, number) < chance)))
    candidates = join_rows(seeds)
    chosen = plus_plus(candidates, np.bincount(owner, weight, len(candidates)), slots, clusters, seed, *purposes)
    missing = draw_rows(weight, clusters - len(chosen), seed, *purposes, ROUNDS + 1)
    return join_rows([candidates.take(chosen), rows.take(missing)])


def plus_plus(candidates: Csr, weight: np.ndarray, slots: int, clusters: int, seed: int, *purposes: int) -> np.ndarray:
    """int64: the chosen candidates; fewer than asked for if all others coincide with these."""
    trials = 2 + int(math.log(clusters))
    squares = squares_of(candidates)
    chosen: list[int] = []
    distance = np.ones(len(candidates))
    while len(chosen) < clusters:
        total = np.cumsum(weight * distance)
        if not total[-1] > 0:
            break
        at = uniform(np.arange(trials), seed, *purposes, ROUNDS + 2, len(chosen)) * total[-1]
        tried = np.minimum(np.searchsorted(total, at, side="right"), len(candidates) - 1)
        arrays = candidates.indptr, candidates.indices, candidates.values
        distances = np.empty((len(candidates), trials))
        nearest_means.distances(*arrays, dense(candidates.take(tried), slots), squares[tried], distances)
        if chosen:
            distances = np.minimum(distances, distance[:, None])
        best = int((weight[:, None] * distances).sum(axis=0).argmin())
        chosen.append(int(tried[best]))
        distance = distances[:, best]
        distance[tried[best]] = 0
    return np.array(chosen, np.int64)
