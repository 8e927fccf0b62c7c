"""Where a batch is cut before the learner is given it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from vwlite.data.batch import INNER, SAVE, Batch, first_of_group
from vwlite.features.feature_plan import Plan, new_namespaces


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
    marks = batch.any_flags
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
