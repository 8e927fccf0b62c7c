"""The whole run on one screen: batches in, predictions and a model out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Protocol

import numpy as np

from vwlite.data.batch import INNER, SAVE, Batch, first_of_group
from vwlite.features.feature_plan import Plan, new_namespaces
from vwlite.interrupts import obey
from vwlite.training.resume_position import Place


class Run(Protocol):
    """What a run consists of; see ``vwlite/training/trainer.py``."""

    passes: int
    passes_done: int  # when a stopped run goes on
    plan: Plan
    place: Place

    def undisturbed(self) -> AbstractContextManager[None]: ...
    def batches(self, number: int) -> Iterator[Batch]: ...
    def step(self, batch: Batch, held: np.ndarray | None, begin: int, end: int) -> int: ...
    def hold_out(self, batch: Batch) -> np.ndarray | None: ...
    def end_pass(self, number: int) -> bool: ...
    def finish(self) -> None: ...


def run(session: Run, row_by_row: bool = False) -> None:
    """Predict and learn from every batch of every pass, in order; ``end_pass`` may end it early.

    Raises Interrupted where a signal has stopped a kernel between two rows.
    """
    number = session.passes_done
    while number < session.passes:
        number += 1
        for batch in session.batches(number):
            with session.undisturbed():
                held = session.hold_out(batch)
                for begin, end in stretches(batch, session.plan, row_by_row, session.place.learned(batch)):
                    done = session.step(batch, held, begin, end)
                    if done < end:
                        session.place.advance(batch, done)
                        obey()
                session.place.advance(batch)
            if batch.release:
                batch.release()
        with session.undisturbed():
            last = session.end_pass(number)
        if last:
            break
    with session.undisturbed():
        session.finish()


def stretches(batch: Batch, plan: Plan, row_by_row: bool = False, first: int = 0) -> Iterator[tuple[int, int]]:
    """Cut a batch, from row ``first`` on, where something happens between two rows: a save command, or a namespace no
    wildcard knew. Groups of lines stay whole.

    The plan is told of new namespaces before the first row that has them is given out.
    """
    rows = len(batch)
    if not rows:
        yield 0, 0
        return
    cuts = {0, rows}
    if row_by_row:
        cuts.update(range(rows))
    marks = batch.marks
    if marks & SAVE:
        saves = np.flatnonzero(batch.flags & SAVE)
        cuts.update(saves.tolist(), (saves + 1).tolist())
    news = new_namespaces(batch, plan) if plan.wild else {}
    if marks & INNER:
        news = by_group(news, batch)
    cuts.update(news)
    if marks & INNER:
        cuts -= set((np.flatnonzero(batch.flags & INNER) + 1).tolist()) - {rows}
    ordered = sorted(cut for cut in {*cuts, first} if cut >= first)
    for begin, end in pairwise(ordered):
        if begin in news:
            plan.see(news[begin])
        yield begin, end


def by_group(news: dict[int, list[int]], batch: Batch) -> dict[int, list[int]]:
    """The same with the first row of its group in place of each row."""
    firsts: dict[int, list[int]] = {}
    for row, characters in news.items():
        firsts.setdefault(first_of_group(batch, row), []).extend(characters)
    return firsts
