"""What learners have in common that find an example's class by contests of two-class sets of weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.learners.per_class import Many
from vwlite.learners.row_results import Results


class Tree(Many):
    """``models`` sets of weights. ``trace_calls`` uint32[n] and ``trace_scores`` float32[n] are for audits."""

    shows_raw = False

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, strict: bool = True, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, strict=strict, start=start)
        self.trace_calls, self.trace_scores = np.empty(0, np.uint32), np.empty(0, np.float32)
        self.trace_size = 0

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        stack = super(Many, self).described[0]
        return (*stack, self.config.option), "MULTICLASS", "MULTICLASS"

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        return self.config.classes.display_name(int(results.prediction[row]))

    def audited(self, batch: Batch, row: int) -> Iterable[int]:
        if not len(self.trace_calls):
            room = 4 * self.config.models + 64  # each set is asked and taught once at most, and asked again
            self.trace_calls, self.trace_scores = np.empty(room, np.uint32), np.empty(room, np.float32)
        return range(self.config.models)

    def spoken(self, results: Results, row: int, classes: Iterable[int]) -> Iterator[tuple[int, bool, float]]:
        """In the order in which sets of weights were asked about the row, and asked again when they had learned it."""
        calls = self.trace_calls[: self.trace_size].tolist()
        scores = self.trace_scores[: self.trace_size].tolist()
        return ((call // 2, bool(call % 2), score) for call, score in zip(calls, scores, strict=True))
