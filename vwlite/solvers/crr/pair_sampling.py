"""Draws random candidate pairs of a training set without enumerating them; the stages of a curriculum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from vwlite._native.crr import alias, draw, near_groups
from vwlite.errors import DataError, UsageError
from vwlite.solvers.crr.config import CrrConfig
from vwlite.training.config import CurriculumConfig
from vwlite.training.curriculum import StepRanking, fill_missing

HIGHEST_GRADE = 60  # 2^grade is still exact beside smaller ones


@dataclass(slots=True)
class PairIndex:
    """Rows sorted by query, then label; a group is one label of one query (shapes: ``solvers/pair_draws.pxd``)."""

    batch: np.ndarray  # uint32[rows], the batch a row stands in
    row: np.ndarray  # uint32[rows], its number there
    cumulative_importance: np.ndarray | None  # float64[rows + 1], importance before each row; None when all weigh 1
    group_start: np.ndarray  # int64[groups + 1]
    cumulative_weight: np.ndarray  # float64[groups + 1], importance of all groups before
    pairs: np.ndarray  # float64[groups], pairs led by the query's groups up to this one
    query_start: np.ndarray  # int64[queries], first group, of queries with pairs only
    query_end: np.ndarray  # int64[queries]
    alias_prob: np.ndarray  # float64[queries], alias table
    alias_index: np.ndarray  # int64[queries]
    highest_label: np.ndarray  # float64[queries]
    candidates: float  # pairs in all, each counted once
    label: np.ndarray  # float64[groups]
    near_start: np.ndarray | None = None  # int64[groups]; groups of labels too near to a group's own to make a pair
    near_end: np.ndarray | None = None  # int64[groups]

    def draw(self, seed: int, first: int, count: int) -> np.ndarray:
        """int64[count, 2]: positions, in the sorted rows, of the pairs of ``count`` steps from ``first`` on."""
        out = np.empty((count, 2), np.int64)
        draw(self, seed, first, out)
        return out

    def near(self, least: float) -> tuple[np.ndarray, np.ndarray]:
        """The groups whose labels differ by less than ``least`` from that of each group of a query with pairs.

        Two int64[groups], the first such group and one past the last. ``least`` must be positive.
        """
        begin, end = (np.zeros(len(self.label), np.int64) for _ in range(2))
        near_groups(self.label, self.query_start, self.query_end, least, begin, end)
        return begin, end

    def spans(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """int64[n] each: the groups of queries with pairs, the first of each one's query and one past its last."""
        sizes = self.query_end - self.query_start
        group = np.arange(sizes.sum()) + np.repeat(self.query_start - (np.cumsum(sizes) - sizes), sizes)
        return group, np.repeat(self.query_start, sizes), np.repeat(self.query_end, sizes)

    def count(self, least: float) -> int:
        """Pairs of rows whose labels differ by ``least`` or more, whatever their importance."""
        begin, end = self.near(least)
        group, first, last = self.spans()
        rows = self.group_start
        others = rows[last] - rows[first] - (rows[end[group]] - rows[begin[group]])
        return int((np.diff(rows)[group] * others).sum()) // 2

    def exclude(self, begin: np.ndarray, end: np.ndarray, sampling: str) -> PairIndex:
        """The index without pairs of groups in the ranges of ``near``; other pairs must exist."""
        group, first, last = self.spans()
        weight, begin_of, end_of = self.cumulative_weight, begin[group], end[group]
        others = weight[last] - weight[first] - (weight[end_of] - weight[begin_of])
        others[(begin_of == first) & (end_of == last)] = 0  # whatever sums are rounded to: none can be drawn
        led = np.cumsum(np.diff(weight)[group] * others)
        pairs = np.zeros(len(self.label))
        pairs[group] = led - np.concatenate(([0.0], led))[np.searchsorted(group, first)]
        totals = pairs[self.query_end - 1]
        some = totals > 0
        columns = (self.query_start, self.query_end, self.highest_label)
        query_start, query_end, highest_label = (column[some] for column in columns)
        alias_prob, alias_index = alias_table(totals[some] if sampling == "pairs" else np.ones(some.sum()))
        return replace(
            self, pairs=pairs, query_start=query_start, query_end=query_end, highest_label=highest_label,
            alias_prob=alias_prob, alias_index=alias_index, candidates=float(totals.sum()) / 2,
            near_start=begin, near_end=end,
        )


@dataclass(slots=True)
class RowColumns:
    """What an index is made of: uint64[n] queries, float32[n] labels, float64[n] importance, batch and row of each."""

    queries: np.ndarray
    labels: np.ndarray
    importance: np.ndarray
    location: tuple[np.ndarray, np.ndarray]

    def index(self, sampling: str, rows: np.ndarray, weights: np.ndarray | None) -> PairIndex:
        """The index of some rows, int64[m], whose importance is multiplied by ``weights``, float32[n], if there are
        any."""
        batch, row = self.location
        importance = self.importance if weights is None else self.importance * weights
        columns = (self.queries[rows], self.labels[rows], importance[rows], (batch[rows], row[rows]))
        return pair_index(*columns, sampling)


def pair_index(
    queries: np.ndarray,
    labels: np.ndarray,
    importance: np.ndarray,
    location: tuple[np.ndarray, np.ndarray],
    sampling: str,
) -> PairIndex:
    """The index of uint64[n] queries, float32[n] labels, float64[n] importance and ``location``, batch and row of each.

    Importance 2 means the same as the row given twice, in examples and in pairs.
    """
    order = np.lexsort((labels, queries))
    queries, labels, importance = queries[order], labels[order], importance[order]
    batch, row = (column[order].astype(np.uint32) for column in location)
    new_query = np.concatenate(([True], queries[1:] != queries[:-1]))
    new_group = new_query | np.concatenate(([True], labels[1:] != labels[:-1]))
    group_start = np.append(np.flatnonzero(new_group), len(labels)).astype(np.int64)
    plain = bool((importance == 1).all())
    cumulative_importance = None if plain else np.concatenate(([0.0], np.cumsum(importance)))
    cumulative_weight = group_start.astype(np.float64) if plain else cumulative_importance[group_start]
    start = np.flatnonzero(new_query[group_start[:-1]])
    end = np.append(start[1:], len(group_start) - 1)
    pairs = led_pairs(cumulative_weight, start, end)
    several = end - start > 1
    start, end = start[several].astype(np.int64), end[several].astype(np.int64)
    totals = pairs[end - 1] if len(end) else np.zeros(0)
    alias_prob, alias_index = alias_table(totals if sampling == "pairs" else np.ones(len(totals)))
    return PairIndex(
        batch, row, cumulative_importance, group_start, cumulative_weight,
        pairs, start, end, alias_prob, alias_index, labels[group_start[end] - 1].astype(np.float64),
        candidates=float(totals.sum()) / 2,
        label=labels[group_start[:-1]].astype(np.float64),
    )


def drawn_whole(pairs: PairIndex, pairing: str) -> PairIndex:
    """The index where queries are drawn to learn from all their pairs, each as often as another: all pairs are alike
    where each step takes their sum; a metric is a mean of queries, which weigh the mean importance of their rows.

    Raises DataError for labels of which the metric makes nothing.
    """
    start, end, weight = pairs.query_start, pairs.query_end, np.ones(len(pairs.query_start))
    if pairing != "all":
        some = pairs.highest_label > 0
        if not some.any():
            raise DataError(f"no query has two different labels, one of them above 0, which --pairs {pairing} needs")
        if pairing == "lambda-ndcg" and pairs.highest_label.max() > HIGHEST_GRADE:
            raise DataError(
                f"label {pairs.highest_label.max():g} is no grade: NDCG's gain of a label is 2^label - 1; "
                "--pairs lambda-map and all take it"
            )
        start, end = start[some], end[some]
        importance = pairs.cumulative_weight[end] - pairs.cumulative_weight[start]
        weight = importance / (pairs.group_start[end] - pairs.group_start[start])
    alias_prob, alias_index = alias_table(weight)
    return replace(pairs, query_start=start, query_end=end, alias_prob=alias_prob, alias_index=alias_index)


def led_pairs(cumulative_weight: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """float64[groups]: the sum, over the query's groups up to this one, of its weight times that of the others."""
    weight = np.diff(cumulative_weight)
    total = np.repeat(cumulative_weight[end] - cumulative_weight[start], end - start)
    led = np.cumsum(weight * (total - weight))
    before = np.concatenate(([0.0], led))[start]
    return led - np.repeat(before, end - start)


def alias_table(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walker's table: float64[n] and int64[n]."""
    n = len(weight)
    alias_prob, alias_index, stack = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    if n:
        alias(np.ascontiguousarray(weight, np.float64), alias_prob, alias_index, stack)
    return alias_prob, alias_index


SMALLEST, INFINITY = 5e-324, float("inf")  # SMALLEST: the least positive float64


def check_curriculum(config: CrrConfig, curriculum: CurriculumConfig) -> None:
    """Raises UsageError for a curriculum that is incompatible with the options of ``vwlite crr``."""
    if not curriculum.order:
        return
    if config.takes_queries:
        raise UsageError(
            f"--curriculum is of single pairs and examples, --pairs {config.pairing} takes whole queries: "
            "drop one of the two"
        )
    if not curriculum.steps:
        raise UsageError("--curriculum needs --curriculum-steps N, after which more take part: crr has no passes")
    if curriculum.of_pairs and config.share == 1:
        raise UsageError("--curriculum-by difference is of pairs, and --alpha 1 learns from none: drop one of the two")


@dataclass(slots=True)
class CurriculumStages:
    """The stages of the steps ``[first, total)`` of a run. ``whole``: the index of all rows and pairs."""

    curriculum: CurriculumConfig
    config: CrrConfig
    whole: PairIndex
    first: int
    total: int

    def remaining(
        self, done: int, columns: RowColumns | None, difficulty: np.ndarray | None, note: Callable[[str], None]
    ) -> Iterator[tuple[PairIndex, int]]:
        """The stages left after ``done`` steps: the index to draw from, and the step that ends the stage.

        ``columns`` and ``difficulty`` float64[rows] are None for a curriculum of pairs. Raises DataError for a stage
        without pairs, UsageError where no row has the namespace of ``value:NAMESPACE``.
        """
        ranking = StepRanking(self.curriculum, self.config.seed, note, "--steps ends")
        if difficulty is not None:
            fill_missing(difficulty, self.curriculum.by, note)
        end = self.first
        while ranking.share < 1 and end < self.total:
            end = min(end + int(self.curriculum.steps or 0), self.total)
            if end <= done:
                ranking.begin()
            elif columns is None or difficulty is None:
                yield select_far_pairs(self.whole, self.config.draws, ranking), end
            else:
                yield self.easy_rows(columns, difficulty, ranking), end
        if ranking.steps:
            ranking.report_all_admitted()
        if end < self.total:
            yield self.whole, self.total

    def easy_rows(self, columns: RowColumns, difficulty: np.ndarray, ranking: StepRanking) -> PairIndex:
        """The index of the admitted rows, with their importance multiplied by the weights of the curriculum."""
        admitted = ranking.admit(difficulty)
        index = columns.index(self.config.draws, admitted.rows, admitted.weights)
        if self.config.share < 1 and not len(index.query_start):
            raise DataError(
                f"curriculum, step {ranking.steps}: of the {len(admitted.rows)} easiest examples no query has two "
                "different labels: a larger --curriculum-start has more"
            )
        return index


def select_far_pairs(whole: PairIndex, sampling: str, ranking: StepRanking) -> PairIndex:
    """The index of the next share of pairs, those whose labels differ most.

    It always includes all pairs with the largest difference, even if these are more than the share.
    """
    share = ranking.begin()
    total, least = whole.count(SMALLEST), least_difference(whole, share)
    near = whole.near(least)
    admitted = whole.count(least)
    ranking.report(f"weights add up to {admitted} of {total} pairs, entropy {np.log2(admitted):.4f} bits")
    return whole.exclude(*near, sampling)


def least_difference(whole: PairIndex, share: float) -> float:
    """The least label difference that at most ``share`` of all pairs reach.

    If even the largest difference is reached by more pairs, that difference.
    """
    most = share * whole.count(SMALLEST)
    low, high = float_bits(SMALLEST), float_bits(INFINITY)
    while high - low > 1:  # bisection over bit patterns, which are ordered as positive floats are
        middle = (low + high) // 2
        low, high = (low, middle) if whole.count(float_from_bits(middle)) <= most else (middle, high)
    return float_from_bits(high) if whole.count(float_from_bits(high)) else float_from_bits(low)


def float_bits(number: float) -> int:
    """The bit pattern of a float64, as an int."""
    return int(np.float64(number).view(np.int64))


def float_from_bits(bits: int) -> float:
    """The inverse of ``float_bits``."""
    return float(np.int64(bits).view(np.float64))
