"""The stages of a curriculum: each draws from more rows, the easiest first, or from more pairs, the farthest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from vwlite.errors import DataError, UsageError
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.pair_sampling import PairIndex, RowColumns
from vwlite.training.config import CurriculumConfig
from vwlite.training.curriculum import StepRanking, fill_missing

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
