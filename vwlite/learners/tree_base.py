"""What trees of classes have in common: two-class contests between sets of weights decide on an example's class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.learners.per_class import PerClass
from vwlite.learners.row_results import Results, WeightedSum


class Tree(PerClass):
    """``models`` sets of weights. ``trace_calls`` uint32[n] and ``trace_scores`` float32[n] are for audits."""

    shows_raw = False

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.trace_calls, self.trace_scores = np.empty(0, np.uint32), np.empty(0, np.float32)
        self.trace_size = 0

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        stack = super(PerClass, self).described[0]
        return (*stack, self.config.option), "MULTICLASS", "MULTICLASS"

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        return self.config.classes.display_name(int(results.prediction[row]))

    def want_sums(self) -> None:
        if not len(self.trace_calls):
            # Each set predicts at most once before it learns the example and once after.
            size = 4 * self.config.models + 64
            self.trace_calls, self.trace_scores = np.empty(size, np.uint32), np.empty(size, np.float32)

    def weighted_sums(self, batch: Batch, results: Results, row: int, classes: int | None = None) -> list[WeightedSum]:
        """Of the contests on the way to the answer, in their order; each is won by the sign of its sum."""
        calls = self.trace_calls[: self.trace_size].tolist()
        return [WeightedSum(call // 2, f"contest {call // 2}", float(self.raw[0, call // 2])) for call in calls]

    @property
    def class_names(self) -> Sequence[str]:
        return ()  # weights are of contests

    def audited(self, batch: Batch, row: int) -> Iterable[int]:
        self.want_sums()
        return range(self.config.models)

    def spoken(self, results: Results, row: int, classes: Iterable[int]) -> Iterator[tuple[int, bool, float]]:
        """``(set, whether it had learned the row, score)`` in the order of the predictions."""
        calls = self.trace_calls[: self.trace_size].tolist()
        scores = self.trace_scores[: self.trace_size].tolist()
        return ((call // 2, bool(call % 2), score) for call, score in zip(calls, scores, strict=True))
