"""What steps draw from while a curriculum admits more: rows of least difficulty, or pairs whose labels differ most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.pair_sampling import PairIndex, RowColumns
from vwlite.training.curriculum import StepRanking, complete
from vwlite.training.curriculum_config import CurriculumConfig

TINY, INFINITE = 5e-324, float("inf")  # the least positive number: all different labels differ by so much


def check_curriculum(config: CrrConfig, curriculum: CurriculumConfig) -> None:
    """Raises UsageError for a curriculum that does not go with what steps draw."""
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
class Stages:
    """Of the steps from ``first`` on, which is counted from 0, to ``total``; ``whole`` has all rows and pairs."""

    curriculum: CurriculumConfig
    config: CrrConfig
    whole: PairIndex
    first: int
    total: int

    def after(
        self, done: int, columns: RowColumns | None, difficulty: np.ndarray | None, note: Callable[[str], None]
    ) -> Iterator[tuple[PairIndex, int]]:
        """The index of each stage that does not end with the first ``done`` steps, and the step that it ends with.

        ``columns`` and ``difficulty``, float64[rows], are of rows by difficulty. Raises DataError where a stage has no
        pair, UsageError where no row has the namespace of ``value:NAMESPACE``.
        """
        ranking = StepRanking(self.curriculum, self.config.seed, note, "--steps ends")
        if difficulty is not None:
            complete(difficulty, self.curriculum.by, note)
        end = self.first
        while ranking.share < 1 and end < self.total:
            end = min(end + int(self.curriculum.steps or 0), self.total)
            if end <= done:
                ranking.begin()
            elif columns is None or difficulty is None:
                yield far_pairs(self.whole, self.config.draws, ranking), end
            else:
                yield self.easy_rows(columns, difficulty, ranking), end
        if ranking.steps:
            ranking.tell_of_all()
        if end < self.total:
            yield self.whole, self.total

    def easy_rows(self, columns: RowColumns, difficulty: np.ndarray, ranking: StepRanking) -> PairIndex:
        """The rows that are admitted, drawn as often as their weights say."""
        admitted = ranking.admit(difficulty)
        index = columns.index(self.config.draws, admitted.rows, admitted.weights)
        if self.config.share < 1 and not len(index.query_start):
            raise DataError(
                f"curriculum, step {ranking.steps}: of the {len(admitted.rows)} easiest examples no query has two "
                "different labels: a larger --curriculum-start has more"
            )
        return index


def far_pairs(whole: PairIndex, sampling: str, ranking: StepRanking) -> PairIndex:
    """The pairs whose labels differ most: of as many as the share, but all that differ by the most."""
    share = ranking.begin()
    of, least = whole.count(TINY), least_difference(whole, share)
    near = whole.near(least)
    taken = whole.count(least)
    ranking.tell(f"weights add up to {taken} of {of} pairs, entropy {np.log2(taken):.4f} bits")
    return whole.without(*near, sampling)


def least_difference(whole: PairIndex, share: float) -> float:
    """The least for which pairs that differ by so much are no more than a share of all; of none, the largest."""
    most = share * whole.count(TINY)
    low, high = bits_of(TINY), bits_of(INFINITE)
    while high - low > 1:  # which ends within 64 steps, as the bits of positive numbers grow with them
        middle = (low + high) // 2
        low, high = (low, middle) if whole.count(float_of(middle)) <= most else (middle, high)
    return float_of(high) if whole.count(float_of(high)) else float_of(low)


def bits_of(number: float) -> int:
    return int(np.float64(number).view(np.int64))


def float_of(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))
