"""Metrics of rankings, per query, as the LETOR 4.0 evaluation defines them.

A row is relevant when its label is above 0; its gain is ``2^label - 1``, the discount of position j is 1 for the first
two and ``log2(j)`` beyond. A query without a relevant row counts as 0. Where a query has fewer than k rows, NDCG@k is
that of all of them. Rows with equal predictions count with their mean over all orders, so that the order of the input
does not matter (LETOR takes them in that order). A query weighs the mean importance of its rows; rows without
importance are left out.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.features.query_ids import Queries
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

ALL = ("map", "ndcg", "ndcg@10")
NAME = re.compile(r"map|ndcg|ndcg@([1-9][0-9]{0,8})")


def is_ranking(name: str) -> bool:
    """Whether a metric's name belongs here."""
    return NAME.fullmatch(name) is not None


class Rankings(Listener):
    """Labelled rows with their queries, collected batch by batch: 20 bytes per row."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self._columns = array("Q"), array("f"), array("f"), array("f")

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        """Add rows of a batch; they are ranked by the prediction before clip and link."""
        labelled = ~np.isnan(batch.label[begin:end]) & (batch.importance[begin:end] > 0)
        columns = (self.queries.of(batch), batch.label, results.raw, batch.importance)
        for column, values in zip(self._columns, columns, strict=True):
            column.frombytes(np.ascontiguousarray(values[begin:end][labelled]).view(np.uint8))

    def evaluate(self, names: Iterable[str]) -> dict[str, Any]:
        """The number of queries and the metrics named. Raises DataError when there is no row."""
        kinds = (np.uint64, np.float32, np.float32, np.float32)
        columns = [np.array(column, kind) for column, kind in zip(self._columns, kinds, strict=True)]
        if not len(columns[0]):
            raise DataError("there is no labelled example to rank")
        self.queries.check()
        ranking = Ranking(*columns)
        return {"queries": len(ranking.start), **{name: ranking.measure(name) for name in names}}


class Ranking:
    """Rows sorted by query, best prediction first. Columns: uint64, float32, float32, float32, all (n,)."""

    def __init__(self, query: np.ndarray, label: np.ndarray, prediction: np.ndarray, importance: np.ndarray) -> None:
        order = np.lexsort((-prediction, query))
        query, prediction = query[order], prediction[order]
        self.label = label[order].astype(np.float64)
        new = np.concatenate(([True], query[1:] != query[:-1]))
        self.start = np.flatnonzero(new)
        self.size = np.diff(np.append(self.start, len(query)))
        self.number = np.repeat(np.arange(len(self.start)), self.size)
        self.position = np.arange(len(query)) - self.start[self.number] + 1
        self.weight = np.add.reduceat(importance[order].astype(np.float64), self.start) / self.size
        tie = new | np.concatenate(([True], prediction[1:] != prediction[:-1]))
        self.tie_start = np.flatnonzero(tie)
        self.tie_size = np.diff(np.append(self.tie_start, len(query)))
        self.relevant = (self.label > 0).astype(np.float64)
        self.gain = np.exp2(np.maximum(self.label, 0)) - 1

    def measure(self, name: str) -> float:
        """``map``, ``ndcg`` (mean over all positions) or ``ndcg@k``."""
        values = self.average_precision if name == "map" else self.ndcg(name)
        return float(np.average(values, weights=self.weight))

    def over_ties(self, values: np.ndarray) -> np.ndarray:
        """The mean of its tie for every row."""
        return np.repeat(np.add.reduceat(values, self.tie_start) / self.tie_size, self.tie_size)

    def within_query(self, values: np.ndarray) -> np.ndarray:
        """Running sums that begin anew with every query."""
        reached = np.cumsum(values)
        return reached - (reached - values)[self.start][self.number]

    @cached_property
    def discount(self) -> np.ndarray:
        return 1 / np.maximum(np.log2(self.position), 1)

    @cached_property
    def ndcg_at(self) -> np.ndarray:
        """NDCG at every position."""
        best = self.gain[np.lexsort((-self.gain, self.number))]
        ideal = self.within_query(best * self.discount)
        reached = self.within_query(self.over_ties(self.gain) * self.discount)
        return np.divide(reached, ideal, out=np.zeros(len(reached)), where=np.repeat(self.any_relevant, self.size))

    @cached_property
    def any_relevant(self) -> np.ndarray:
        return np.add.reduceat(self.relevant, self.start) > 0

    def ndcg(self, name: str) -> np.ndarray:
        """Per query; with ``@k`` at position k, or the last."""
        if name == "ndcg":
            return np.add.reduceat(self.ndcg_at, self.start) / self.size
        cut = np.minimum(int(name.partition("@")[2]), self.size)
        return self.ndcg_at[self.start + cut - 1]

    @cached_property
    def average_precision(self) -> np.ndarray:
        """Per query: the mean precision at the relevant rows, ties in every order (McSherry and Najork, 2008).

        Of a tie of m rows, r of them relevant, after R relevant ones, the i-th is relevant with probability r / m and
        then has R + 1 + (i - 1)(r - 1) / (m - 1) relevant rows up to itself on average.
        """
        size = np.repeat(self.tie_size, self.tie_size).astype(np.float64)
        hits = np.add.reduceat(self.relevant, self.tie_start)
        inside = np.arange(len(size)) - np.repeat(self.tie_start, self.tie_size)
        before = (self.within_query(self.relevant) - self.relevant)[self.tie_start]
        before, hits = np.repeat(before, self.tie_size), np.repeat(hits, self.tie_size)
        above = before + 1 + inside * (hits - 1) / np.maximum(size - 1, 1)
        total = np.add.reduceat(hits / size * above / self.position, self.start)
        return total / np.maximum(np.add.reduceat(self.relevant, self.start), 1)


def choose(names: list[str] | None, by: str | None) -> tuple[list[str], list[str] | None]:
    """The ranking metrics among ``names`` and the others; all of both when None, rankings only with ``--qid``.

    Raises UsageError for ``--qid`` that no metric needs.
    """
    if names is None:
        return (list(ALL) if by else []), None
    ranked = [name for name in names if is_ranking(name)]
    if by and not ranked:
        raise UsageError("--qid is for the metrics map, ndcg and ndcg@K")
    return ranked, [name for name in names if name not in ranked]


