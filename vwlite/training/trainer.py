"""The training loop: batches in, a learner that has learned from them out. All else is done by listeners."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from typing import Any, Protocol, cast

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import INNER, SAVE, Batch, first_of_group
from vwlite.errors import Diverged, ModelError
from vwlite.features.feature_plan import Plan, new_namespaces
from vwlite.interrupts import Guard, raise_if_stopped
from vwlite.learners.base import Learner, is_finished
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener


class Position:
    """Counts the rows of a pass. A resumed run passes over those it has learned, and knows them by their labels.

    The checksum, CRC-32 of the labels in order, tells whether a pipe brings the same data again.
    """

    def __init__(self, skip: int = 0, expected: int = 0) -> None:
        """``skip`` rows, whose checksum is ``expected``, are to be passed over."""
        self.rows = self.checksum = 0
        self.skip, self.expected = skip, expected

    def learned(self, batch: Batch) -> int:
        """Count how many of the batch's rows, the next ones, have been learned before."""
        return min(max(self.skip - self.rows, 0), len(batch))

    def advance(self, batch: Batch, end: int | None = None) -> None:
        """The batch's rows, or those before ``end``, are done. Raises ModelError where those passed over are not those
        learned before.
        """
        first = self.learned(batch)
        if first:
            self.add(batch.label[:first])
            if self.rows == self.skip and self.checksum != self.expected:
                raise ModelError("the input is not what the stopped run read: start again without --resume")
        self.add(batch.label[first:end])

    def add(self, labels) -> None:
        self.rows += len(labels)
        self.checksum = zlib.crc32(labels.tobytes(), self.checksum)

    @property
    def reached(self) -> bool:
        """Whether all rows to be passed over have been."""
        return self.rows >= self.skip

    def end_pass(self) -> None:
        """Begin to count anew. Raises ModelError when the input ended too early."""
        if not self.reached:
            raise ModelError(
                f"the input has {self.rows} examples, fewer than the stopped run read: start again without --resume"
            )
        self.__init__()


def row_ranges(batch: Batch, plan: Plan, row_by_row: bool = False, first: int = 0) -> Iterator[tuple[int, int]]:
    """Consecutive ranges ``(begin, end)`` of the batch's rows from ``first`` on.

    A range ends before and after a save command, and before a row with a namespace that wildcards have not met: the
    plan is informed of it before that range. With ``row_by_row`` each row is a range. A group of lines is never
    split. An empty batch is the one range ``(0, 0)``.
    """
    rows = len(batch)
    if not rows:
        yield 0, 0
        return
    flags = batch.any_flags
    if not (row_by_row or plan.wild or flags & (SAVE | INNER)):
        if first < rows:
            yield first, rows
        return
    cuts = {0, rows}
    if row_by_row:
        cuts.update(range(rows))
    if flags & SAVE:
        saves = np.flatnonzero(batch.flags & SAVE)
        cuts.update(saves.tolist(), (saves + 1).tolist())
    new = new_namespaces(batch, plan) if plan.wild else {}
    if flags & INNER:
        new = at_first_rows_of_groups(new, batch)
    cuts.update(new)
    if flags & INNER:
        cuts -= set((np.flatnonzero(batch.flags & INNER) + 1).tolist()) - {rows}
    ordered = sorted(cut for cut in {*cuts, first} if cut >= first)
    for begin, end in pairwise(ordered):
        if begin in new:
            plan.see(new[begin])
        yield begin, end


def at_first_rows_of_groups(new: dict[int, list[int]], batch: Batch) -> dict[int, list[int]]:
    """``new_namespaces`` with the first row of its group in place of each row."""
    rows_of_groups: dict[int, list[int]] = {}
    for row, characters in new.items():
        rows_of_groups.setdefault(first_of_group(batch, row), []).extend(characters)
    return rows_of_groups


class BatchSource(Protocol):
    """Where batches come from, such as ``vwlite.training.file_batches.FileBatches``."""

    def batches(self, number: int) -> Generator[Batch]:
        """The batches of pass ``number``, from 1. Each is used up when the next one is asked for."""


class ReadAhead(Protocol):
    """A source for weights of terms, which count all examples first."""

    def ahead_of_passes(self) -> Generator[Batch]:
        """Yield all batches, in order, before pass 1."""


class Trainer:
    """Has ``learner`` predict and learn every batch of ``source`` in ``passes`` passes, while ``listeners`` listen."""

    def __init__(
        self,
        learner: Learner,
        plan: Plan,
        source: BatchSource,
        listeners: Sequence[Listener] = (),
        *,
        passes: int = 1,
        row_by_row: bool = False,
        guard: Guard | None = None,
        confidence: bool = False,
    ) -> None:
        """``row_by_row``: listeners hear of every row, or group of lines, by itself. ``confidence``: results have the
        importance that would flip a prediction's sign.
        """
        self.learner, self.plan, self.source, self.listeners = learner, plan, source, listeners
        self.passes, self.passes_done, self.position = passes, 0, Position()
        self.row_by_row, self.guard, self.results = row_by_row, guard or Guard(), Results()
        if confidence:
            self.results.want_flip_importance()
        self.before, self.after = self.handlers("before"), self.handlers("batch")

    def handlers(self, event: str) -> list[Callable[..., Any]]:
        """The methods of this name, of those listeners whose method does something."""
        empty = getattr(Listener, event)
        return [getattr(listener, event) for listener in self.listeners if getattr(type(listener), event) is not empty]

    def begin(self) -> None:
        for listener in self.listeners:
            listener.begin(self)

    def run(self) -> None:
        """Raises Interrupted where a signal asks to stop, Diverged, DataError, and what the listeners raise."""
        self.begin()
        if self.plan.weights and self.plan.weights.waiting:
            self.count_terms()
        last = False
        while not last and self.passes_done < self.passes:
            self.read_pass(self.passes_done + 1)
            with self.guard.deferred():
                last = self.end_pass(self.passes_done + 1)
        with self.guard.deferred():
            for listener in self.listeners:
                listener.end()

    def count_terms(self) -> None:
        """Count the terms of all examples for their weights."""
        source = cast(ReadAhead, self.source)
        with closing(source.ahead_of_passes()) as batches:
            for batch in batches:
                self.plan.weights.count(batch)
                if batch.release:
                    batch.release()
                self.guard.check()
        self.plan.weights.settle()

    def read_pass(self, number: int) -> None:
        for listener in self.listeners:
            listener.begin_pass(number)
        between = self.handlers("between")
        with closing(self.source.batches(number)) as batches:
            for batch in self.settled(map(self.extended, batches)):
                with self.guard.deferred():
                    self.learn(batch)
                if batch.release:
                    batch.release()
                self.guard.check()
                for handler in between:
                    handler()

    def settled(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches, before the first of which features of kernels know what they have to."""
        if self.plan.random is None:
            return batches
        from vwlite.features.gamma import settle_gamma  # which other runs need not

        return settle_gamma(self.plan, batches)

    def extended(self, batch: Batch) -> Batch:
        """The batch with the features of Theta. Raises as ``Plan.extend``."""
        return self.plan.extend(batch, self.learner.learning)

    def learn(self, batch: Batch) -> None:
        if len(batch) > len(self.results):
            self.results.reserve(len(batch))
        self.results.holdout_mask = batch.holdout_mask
        for begin, end in row_ranges(batch, self.plan, self.row_by_row, self.position.learned(batch)):
            done = self.step(batch, begin, end)
            if done < end:
                self.position.advance(batch, done)
                raise_if_stopped()
        self.position.advance(batch)

    def step(self, batch: Batch, begin: int, end: int) -> int:
        """The rows ``[begin, end)``; answers where it ended, as ``Learner.run``."""
        for handler in self.before:
            handler(batch, begin, end)
        end = self.learner.run(batch, self.plan, self.results, begin, end)
        for handler in self.after:
            handler(batch, self.results, begin, end)
        return end

    def end_pass(self, number: int) -> bool:
        """End a pass; return True when it was the last one."""
        self.passes_done = number
        self.position.end_pass()
        for listener in self.listeners:
            listener.pass_read(number)
        self.learner.end_pass()
        if not math.isfinite(self.learner.get("rate")):
            raise Diverged("the learning rate grew beyond all numbers; --decay_learning_rate is too large")
        stops = [listener.end_pass(number) for listener in self.listeners]
        return any(stops) or is_finished(self.learner)

    def extend(self, passes: int) -> None:
        """Make a number of further passes."""
        self.passes += passes

    def state(self) -> JsonObject:
        """Return how far the run has come, as JSON data."""
        return {
            "passes_done": self.passes_done,
            "rows": self.position.rows,
            "checksum": self.position.checksum,
            "matched": [list(names) for names in self.plan.matching()],
        }

    def restore(self, state: JsonObject) -> None:
        """Go on from the ``state`` of a stopped run, which had the learner of now."""
        self.passes_done = state["passes_done"]
        self.position = Position(state["rows"], state["checksum"])
        matched = set(map(tuple, state["matched"]))
        for place, interaction in enumerate(self.plan.interactions):
            self.plan.matched[place] = interaction in matched
