"""Threads that each learn some of the classes of one against all.

A class learns from every row whatever the others have answered, so that its weights are the same bytes in any number of
threads. What a row's answer is, the class with the highest score, is put together afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import STOPPED
from vwlite.learners.row_results import Results

State = TypeVar("State", bound=Any)  # a ``vwlite.learners.per_class.PerClass``, which imports this module

BLOCK = 16  # classes that a kernel learns at once, at most: parts begin with a multiple of it
FEW = 1 << 12  # scores below which threads cost more than they take over
ROWS = 1024  # after which a request to stop is looked at


def parts_of(classes: int, threads: int) -> list[tuple[int, int]]:
    """The first class and the number of classes of each thread: one block or more, whole but for the last class's.

    With fewer classes a thread would take from those that parse more than it gives.
    """
    blocks = -(-classes // BLOCK)
    count = max(1, min(threads, classes // BLOCK))
    bounds = [*(BLOCK * (blocks * number // count) for number in range(count)), classes]
    return [(begin, end - begin) for begin, end in pairwise(bounds)]


def part_of(state: State, config: Any, part: tuple[int, int]) -> tuple[State, Any]:
    """A learner of some classes on the tables of ``state``, with numbers of its own, and its kernel's configuration."""
    own, chosen = copy(state), copy(config)
    chosen.part = part
    own.scalars, own.is_transposed = state.scalars.copy(), np.zeros_like(state.is_transposed)
    own.raw, own.score = np.zeros((2, 1, config.models), np.float32)
    return own, chosen


def join_answers(found: Sequence[Results], batch: Batch, results: Results, begin: int, end: int) -> None:
    """Take the class with the highest score in any part for each row: the first one of equals, as without threads."""
    rows, first = slice(begin, end), found[0]
    prediction, score = first.prediction[rows], first.loss[rows]
    for other in found[1:]:
        better = other.loss[rows] > score
        np.copyto(prediction, other.prediction[rows], where=better)
        np.copyto(score, other.loss[rows], where=better)
    label, importance = batch.label[rows], batch.importance[rows]
    results.prediction[rows] = prediction
    results.raw[rows], results.features[rows] = first.raw[rows], first.features[rows]
    wrong = ~np.isnan(label) & (importance > 0) & (prediction != label)
    results.loss[rows] = np.where(wrong, importance, np.float32(0))


class ClassThreads:
    """The kernel of a ``PerClass``, run on the same rows by up to ``count`` threads, each for its classes."""

    def __init__(self, native: Any, count: int) -> None:
        self.native, self.count = native, count

    def run_rows(
        self, state: Any, config: Any, plan: Plan, batch: Batch, results: Results, begin: int, end_and_mode: Any
    ) -> tuple[int, int]:
        """As ``run_rows`` of ``cython_ext/learners/per_class.pyx``; a request to stop waits for up to ``ROWS`` rows."""
        end, learning = end_and_mode
        parts = parts_of(config.classes, self.count)
        few = (end - begin) * config.classes < FEW
        if few or not learning or len(parts) < 2 or not self.native.can_split(state, config):
            return self.native.run_rows(state, config, plan, batch, results, begin, end_and_mode)
        status = 0
        with ThreadPoolExecutor(len(parts) - 1, "vwlite-classes") as pool:
            while begin < end and not status:
                if plan.stop[0]:
                    return STOPPED, begin
                learners = [part_of(state, config, part) for part in parts]
                status, begin = self.run_parts(pool, learners, plan, batch, results, begin, min(begin + ROWS, end))
                state.scalars[:] = learners[0][0].scalars  # the same in all
        return status, begin

    def run_parts(
        self,
        pool: ThreadPoolExecutor,
        learners: Sequence[tuple[Any, Any]],
        plan: Plan,
        batch: Batch,
        results: Results,
        begin: int,
        end: int,
    ) -> tuple[int, int]:
        whole = copy(plan)
        whole.stop = np.zeros(1, np.uint8)  # all are to end at the same row
        results_of_parts = [Results() for _ in learners]

        def run(number: int) -> tuple[int, int]:
            own = results_of_parts[number]
            own.reserve(len(results))
            own.holdout_mask = results.holdout_mask
            return self.native.run_rows(*learners[number], whole, batch, own, begin, (end, True))

        waiting = [pool.submit(run, number) for number in range(1, len(learners))]
        ends = [run(0), *(one.result() for one in waiting)]
        status, last = min((one for one in ends if one[0]), key=lambda one: one[1], default=ends[0])
        join_answers(results_of_parts, batch, results, begin, last)
        return status, last
