"""What learners of classes share: costs of rows and of sets, the order in which labels are decided, work in pieces.

The labels of a set are decided one after the other, as by a filter tree over all sets (Beygelzimer, Langford and
Ravikumar 2009), whose contests are between a set without a label and with it: the answers before it stand, and those
after it will be right. The order is found anew whenever the number of examples learned is a power of two, so that it
depends on the examples alone and stands still long enough for learners that run over many rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.interrupts import STOP
from vwlite.learners.configs.per_class import LABEL_ORDERS
from vwlite.learners.row_results import Results

PIECE = 1e7  # of the sum of the rows' squared numbers of features, which is about what interactions come to


def pieces(batch: Batch, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The rows ``[begin, end)`` cut where one piece of work ends."""
    edges = batch.namespace_start[batch.row_namespace[begin : end + 1]].astype(float)
    work = np.cumsum(np.diff(edges) ** 2) // PIECE
    cuts = np.flatnonzero(np.diff(work)) + 1 + begin
    yield from pairwise([begin, *cuts.tolist(), end])


class ClassCosts:
    """For a learner whose ``config`` tells of classes; its scalar ``first`` is the number of the first class, or -1."""

    config: Any
    learning: bool
    get: Any
    set: Any

    def run_pieces(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        """In pieces, between which a signal may stop it: within one, some rows are learned in part."""
        plan = copy(plan)
        plan.stop = bytes(1)
        for first, last in pieces(batch, begin, end):
            if STOP[0]:
                return first
            self.run_piece(batch, plan, results, first, last)
        return end

    def run_piece(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> None:
        """As ``run``, all of the rows."""
        raise NotImplementedError

    def costs_of(self, batch: Batch, results: Results, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """float32[rows, classes], infinite where unknown, and int32[rows], the number of the first class by then."""
        count = self.config.count
        if self.config.label_words:
            return self.listed_costs(batch, begin, end)
        label, place = batch.label[begin:end], np.arange(end - begin)
        before = int(self.get("first") != 0)
        learns = self.learning & ~np.isnan(label)
        if results.holdout_mask is not None:
            learns &= results.holdout_mask[begin:end] == 0
        tells = np.flatnonzero(learns & ((label == 0) | (label == count)))
        turn = int(tells[0]) if self.get("first") < 0 and len(tells) else end - begin
        if turn < end - begin:  # this row is still answered as those before it, but learned as those after it
            self.set(first=float(label[turn] == count))
        after = int(self.get("first") != 0)
        true = label - np.where(place < turn, before, after)
        costs = np.ones((end - begin, count), np.float32)
        rows = np.flatnonzero((true >= 0) & (true < count))
        costs[rows, true[rows].astype(np.int32)] = 0
        return costs, np.where(place <= turn, before, after).astype(np.int32)

    def listed_costs(self, batch: Batch, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        count = self.config.count
        costs = np.full((end - begin, count), np.inf, np.float32)
        if batch.lists is None:
            costs[:] = 0
            return costs, np.full(end - begin, int(self.get("first") != 0), np.int32)
        start = batch.lists.indptr[begin : end + 1]
        named = batch.lists.indices[start[0] : start[-1]].astype(np.int64)
        owner = np.repeat(np.arange(end - begin), np.diff(start))
        tells = np.flatnonzero((named == 0) | (named == count))
        if self.get("first") < 0 and len(tells):
            self.set(first=float(named[tells[0]] == count))
        first = int(self.get("first") != 0)
        fits = (named >= first) & (named < first + count)
        costs[owner[fits], named[fits] - first] = batch.lists.values[start[0] : start[-1]][fits]
        return costs, np.full(end - begin, first, np.int32)


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
    """The answers so far for rows whose true labels are ``meant``, bool[rows, labels]."""

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


class DecisionOrder:
    """``labels`` uint32[labels] in order; ``counts`` int64[labels] of the ``rows`` learned so far."""

    def __init__(self, count: int, order: str) -> None:
        self.kind = LABEL_ORDERS.index(order)
        self.labels = np.arange(count, dtype=np.uint32)
        self.counts, self.rows = np.zeros(count if self.kind else 0, np.int64), 0

    def run(
        self, batch: Batch, results: Results, begin: int, end: int, learning: bool, run: Callable[[int, int], int]
    ) -> int:
        """``run`` for parts of the rows ``[begin, end)``, between which the order may change; where it stopped."""
        if not (self.kind and learning):
            return run(begin, end)
        learned = ~np.isnan(batch.label[begin:end]) & (batch.importance[begin:end] > 0)
        if results.holdout_mask is not None:
            learned &= results.holdout_mask[begin:end] == 0
        reached = self.rows + np.cumsum(learned)
        at = begin
        while at < end:
            next_power = 1 << self.rows.bit_length()  # the next power of two
            last = min(begin + int(np.searchsorted(reached, next_power)) + 1, end)
            stopped = run(at, last)
            self.add(batch, learned[at - begin : stopped - begin], at)
            if stopped < last:
                return stopped
            at = last
        return end

    def add(self, batch: Batch, learned: np.ndarray, begin: int) -> None:
        """Count rows from ``begin`` on, those of bool[rows] that were learned."""
        if batch.lists is not None:
            rows = np.flatnonzero(learned) + begin
            named = batch.lists.take(rows).indices
            self.counts += np.bincount(named[named < len(self.counts)], minlength=len(self.counts))
        before, self.rows = self.rows, self.rows + int(learned.sum())
        if self.rows.bit_length() > before.bit_length():
            self.sort()

    def sort(self) -> None:
        """Labels of equal counts are in the order of their numbers."""
        sign = 1 if LABEL_ORDERS[self.kind] == "rare" else -1
        self.labels[:] = np.argsort(sign * self.counts, kind="stable")

    def header(self) -> JsonObject:
        if not self.kind:
            return {}
        order = {"rows": self.rows, "counts": self.counts.tolist(), "labels": self.labels.tolist()}
        return {"label_order": order}

    def take_header(self, header: Mapping[str, Any]) -> None:
        """Raises ValueError where the header is of other labels."""
        if not self.kind:
            return
        record = header.get("label_order") or {"labels": [], "counts": []}
        if sorted(record["labels"]) != list(range(len(self.labels))) or len(record["counts"]) != len(self.labels):
            raise ValueError("the order of labels does not fit them")
        self.rows, self.counts[:], self.labels[:] = record["rows"], record["counts"], record["labels"]
