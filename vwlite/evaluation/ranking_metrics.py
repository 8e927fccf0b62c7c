"""Ranking metrics, averaged over queries: MAP and NDCG as LETOR 4.0 defines them, and others.

A row is relevant if its label is above 0. Its gain is ``2^label - 1``, and the discount of position j is 1 for the
first two positions and ``log2(j)`` beyond, unless ``RankingConfig`` says otherwise. Queries without a relevant row
count as 0, and are left out of AUC. For queries with fewer than k rows, NDCG@k is that of all rows. Ties are averaged
over all orders, so that the order of the input does not matter (LETOR uses that order). The weight of a query is the
mean importance of its rows, in ``gauc`` their sum; rows of importance 0 are skipped.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.config import RankingConfig
from vwlite.evaluation.metric_table import QUERIES, names_of
from vwlite.features.group_columns import Queries
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

DEFAULT_METRICS = ("map", "ndcg", "ndcg@10")
NAME = re.compile(r"map|mrr|gauc|ndcg|(ndcg|p|recall|hr|err)@[1-9][0-9]{0,8}")


def is_ranking(name: str) -> bool:
    """Whether a metric of this name is a ranking metric."""
    return NAME.fullmatch(name) is not None


class RankingCollector(Listener):
    """Collects labelled rows with their queries, batch by batch: 20 bytes per row."""

    def __init__(self, queries: Queries, config: RankingConfig) -> None:
        self.queries, self.config = queries, config
        self._columns = array("Q"), array("f"), array("f"), array("f")

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        """Add the labelled rows of a batch. They are ranked by the prediction before clipping and link function."""
        labelled = ~np.isnan(batch.label[begin:end]) & (batch.importance[begin:end] > 0)
        columns = (self.queries.of(batch), batch.label, results.raw, batch.importance)
        for column, values in zip(self._columns, columns, strict=True):
            column.frombytes(np.ascontiguousarray(values[begin:end][labelled]).view(np.uint8))

    def ranking(self) -> Ranking:
        """The ranking of all rows collected. Raises DataError if there are none."""
        kinds = (np.uint64, np.float32, np.float32, np.float32)
        columns = [np.array(column, kind) for column, kind in zip(self._columns, kinds, strict=True)]
        if not len(columns[0]):
            raise DataError("there is no labelled example to rank")
        self.queries.check()
        return Ranking(*columns, self.config)


class Ranking:
    """Rows sorted by query, the highest prediction first, and their ranking metrics.

    Arguments: ``query`` uint64[n], ``label``, ``prediction`` and ``importance`` float32[n], in any order of rows.
    """

    def __init__(
        self,
        query: np.ndarray,
        label: np.ndarray,
        prediction: np.ndarray,
        importance: np.ndarray,
        config: RankingConfig | None = None,
    ) -> None:
        config = config or RankingConfig()
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
        self.hits = np.add.reduceat(self.relevant, self.start)
        self.query = query[self.start]
        grade = np.maximum(self.label, 0)
        self.gain = grade if config.gain == "linear" else np.exp2(grade) - 1
        beyond = np.log2(self.position + (config.discount == "log2"))
        self.discount = 1 / np.maximum(beyond, 1)

    def measure(self, name: str) -> float:
        """The weighted mean of ``values`` over the queries; NaN if no query has a value."""
        values, weights = self.values(name), self.weights(name)
        counted = ~np.isnan(values)
        return float(np.average(values[counted], weights=weights[counted])) if counted.any() else math.nan

    def weights(self, name: str) -> np.ndarray:
        """float64[queries], the weights of the queries in ``measure``."""
        return self.weight * self.size if name == "gauc" else self.weight

    def values(self, name: str) -> np.ndarray:
        """float64[queries], the metric for each query, NaN where it is undefined.

        ``name``: ``map``, ``mrr``, ``gauc``, ``ndcg`` (mean over all positions), ``ndcg@k``, ``p@k``, ``recall@k``,
        ``hr@k`` or ``err@k``.
        """
        kind, _, at = name.partition("@")
        if not at:
            whole = {"map": self.average_precision, "mrr": self.reciprocal_rank, "gauc": self.auc}
            return whole.get(kind, self.mean_ndcg)()
        cut = {"ndcg": self.ndcg, "p": self.precision, "recall": self.recall, "hr": self.hit_rate}
        return cut.get(kind, self.expected_reciprocal_rank)(int(at))

    def over_ties(self, values: np.ndarray) -> np.ndarray:
        """float64[n], for each row the mean of ``values`` over the rows tied with it."""
        return np.repeat(np.add.reduceat(values, self.tie_start) / self.tie_size, self.tie_size)

    def within_query(self, values: np.ndarray) -> np.ndarray:
        """float64[n], cumulative sums within each query."""
        reached = np.cumsum(values)
        return reached - (reached - values)[self.start][self.number]

    @cached_property
    def ndcg_at(self) -> np.ndarray:
        """float64[n], NDCG at every position."""
        best = self.gain[np.lexsort((-self.gain, self.number))]
        ideal = self.within_query(best * self.discount)
        reached = self.within_query(self.over_ties(self.gain) * self.discount)
        return np.divide(reached, ideal, out=np.zeros(len(reached)), where=np.repeat(self.hits > 0, self.size))

    def mean_ndcg(self) -> np.ndarray:
        return np.add.reduceat(self.ndcg_at, self.start) / self.size

    def ndcg(self, k: int) -> np.ndarray:
        return self.ndcg_at[self.last(k)]

    def last(self, k: int) -> np.ndarray:
        """The index of the row at position k of each query, or of its last row."""
        return self.start + np.minimum(k, self.size) - 1

    def precision(self, k: int) -> np.ndarray:
        """Relevant rows among the first k, divided by k even if a query has fewer rows (as in trec_eval)."""
        return self.found[self.last(k)] / k

    def recall(self, k: int) -> np.ndarray:
        return self.found[self.last(k)] / np.maximum(self.hits, 1)

    @cached_property
    def found(self) -> np.ndarray:
        """float64[n], the number of relevant rows up to every position."""
        return self.within_query(self.over_ties(self.relevant))

    def auc(self) -> np.ndarray:
        """The share of pairs of a relevant and an irrelevant row in the right order; ties count as half."""
        other = 1 - self.relevant
        tied = np.repeat(np.add.reduceat(other, self.tie_start), self.tie_size)
        above = np.repeat((self.within_query(other) - other)[self.tie_start], self.tie_size)
        others = self.size - self.hits
        ordered = np.add.reduceat(self.relevant * (others[self.number] - above - tied / 2), self.start)
        pairs = self.hits * others
        return np.divide(ordered, pairs, out=np.full(len(pairs), math.nan), where=pairs > 0)

    def first_relevant_ties(self) -> Iterator[tuple[int, int, int, int]]:
        """The first tie with a relevant row of each query that has one: query, position, size, hits."""
        hits = np.add.reduceat(self.relevant, self.tie_start)
        ties = np.flatnonzero(hits)
        query, first = np.unique(self.number[self.tie_start[ties]], return_index=True)
        for number, tie in zip(query, ties[first], strict=True):
            yield number, int(self.position[self.tie_start[tie]]), int(self.tie_size[tie]), int(hits[tie])

    def reciprocal_rank(self) -> np.ndarray:
        """1 / position of the first relevant row, averaged over the orders of its tie."""
        values = np.zeros(len(self.start))
        for query, position, size, hits in self.first_relevant_ties():
            values[query] = mean_reciprocal(position, size, hits)
        return values

    def hit_rate(self, k: int) -> np.ndarray:
        """The probability that at least one relevant row is among the first k."""
        values = np.zeros(len(self.start))
        for query, position, size, hits in self.first_relevant_ties():
            if places := max(k + 1 - position, 0):  # of the tie, among the first k
                none = no_hit_probabilities(size, hits)
                values[query] = 1 - none[places] if places < len(none) else 1
        return values

    def expected_reciprocal_rank(self, k: int) -> np.ndarray:
        """The expectation of 1 / position at which a user stops, over the first k positions.

        The user stops at a row with probability (2^label - 1) / 2^(largest label). Chapelle, Metzler, Zhang and
        Grinspan, CIKM 2009, algorithm 1.
        """
        grade = np.maximum(self.label, 0)
        continue_probability = 1 - (np.exp2(grade) - 1) / np.exp2(grade.max())
        logs = np.log(continue_probability)
        reached = np.exp(self.within_query(logs) - logs)[self.tie_start]
        stopped = 1 - continue_probability
        for tie in np.flatnonzero((self.tie_size > 1) & (self.position[self.tie_start] <= k)):
            begin, size = self.tie_start[tie], self.tie_size[tie]
            count = min(size, k - self.position[begin] + 1)
            stopped[begin : begin + count] = stop_probabilities(continue_probability[begin : begin + size], count)
        chances = np.repeat(reached, self.tie_size) * stopped
        return np.add.reduceat(np.where(self.position <= k, chances / self.position, 0), self.start)

    def average_precision(self) -> np.ndarray:
        """The mean precision at the relevant rows of each query, averaged over ties (McSherry and Najork, 2008).

        In a tie of m rows, r of them relevant, that follows R relevant rows, the i-th row is relevant with probability
        r / m. Given that, the expected number of relevant rows up to it is R + 1 + (i - 1)(r - 1) / (m - 1).
        """
        size = np.repeat(self.tie_size, self.tie_size).astype(np.float64)
        hits = np.add.reduceat(self.relevant, self.tie_start)
        inside = np.arange(len(size)) - np.repeat(self.tie_start, self.tie_size)
        before = (self.within_query(self.relevant) - self.relevant)[self.tie_start]
        before, hits = np.repeat(before, self.tie_size), np.repeat(hits, self.tie_size)
        above = before + 1 + inside * (hits - 1) / np.maximum(size - 1, 1)
        total = np.add.reduceat(hits / size * above / self.position, self.start)
        return total / np.maximum(self.hits, 1)


def no_hit_probabilities(size: int, hits: int) -> np.ndarray:
    """float64[size - hits + 1]: the probability that the first i of ``size`` rows in random order miss all ``hits``."""
    before = np.arange(size - hits)
    return np.concatenate(([1.0], np.cumprod((size - hits - before) / (size - before))))


def mean_reciprocal(position: int, size: int, hits: int) -> float:
    """The expectation of 1 / position of the first of ``hits`` relevant rows in a tie of ``size`` at ``position``."""
    before = np.arange(size - hits + 1)
    return float(np.sum(no_hit_probabilities(size, hits) * hits / (size - before) / (position + before)))


def stop_probabilities(continue_probability: np.ndarray, wanted: int) -> np.ndarray:
    """float64[wanted]: the probability of stopping at each of the first positions of a tie, averaged over its orders.

    ``continue_probability`` float64[m] is that of each row. The mean product of i of the m values is
    e_i / binomial(m, i), with the elementary symmetric polynomial e_i; it is updated value by value.
    """
    means = np.zeros(wanted + 1)
    means[0], i = 1, np.arange(1, wanted + 1)
    for count, value in enumerate(continue_probability, 1):
        j = i[:count]
        means[1 : count + 1] = ((count - j) * means[1 : count + 1] + j * value * means[: len(j)]) / count
    return means[:-1] - means[1:]


def split_metrics(names: list[str] | None, by: str | None) -> tuple[list[str], list[str] | None]:
    """The ranking metrics among ``names``, and the other metrics.

    Without ``names``, DEFAULT_METRICS if there is ``by``, the value of ``--qid``; and None, for all other metrics.
    Raises UsageError if no metric uses ``by``.
    """
    if names is None:
        return (list(DEFAULT_METRICS) if by else []), None
    ranked = [name for name in names if is_ranking(name)]
    if by and not ranked:
        raise UsageError(f"--qid is for the metrics {', '.join(names_of(QUERIES))}")
    return ranked, [name for name in names if name not in ranked]


