"""Predictions of a run as arrays: what ``vwlite.training.predictions`` writes as lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, Batch
from vwlite.learners.base import Learner
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

Answers = np.ndarray | list[Any]


class PredictionArrays(Listener):
    """Keeps what the learner answers to every row that is not blank; a malformed line's answer is ``missing``."""

    def __init__(self, learner: Learner, raw: bool = False, fill_gaps: bool = False) -> None:
        """``raw``: predictions before clip and link. ``fill_gaps``: malformed lines have an answer, too."""
        self.learner, self.raw, self.fill_gaps = learner, raw, fill_gaps
        self.parts: list[Answers] = []

    def begin_pass(self, number: int) -> None:
        self.parts = []  # those of the last pass count

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        for gap in batch.gaps if self.fill_gaps else ():
            if begin <= gap < end or gap == end == len(batch):
                self.add(batch, results, begin, gap)
                self.parts.append(self.learner.no_answer(self.raw))
                begin = gap
        self.add(batch, results, begin, end)

    def add(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        rows = np.flatnonzero(batch.flags[begin:end] & BLANK == 0) + begin
        self.parts.append(self.learner.answers(batch, results, rows, self.raw))

    def result(self) -> Answers:
        """Of all rows: an array of one dtype, or a list where answers are lists."""
        if any(isinstance(part, list) for part in self.parts):
            return [answer for part in self.parts for answer in part]
        parts = [part for part in self.parts if len(part)] or [self.learner.no_answer(self.raw)[:0]]
        return np.concatenate(parts)
