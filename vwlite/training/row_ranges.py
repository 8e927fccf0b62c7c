"""Which rows of a batch the learner is given at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from vwlite.data.batch import INNER, SAVE, Batch, first_of_group
from vwlite.features.feature_plan import Plan, new_namespaces


def row_ranges(batch: Batch, plan: Plan, row_by_row: bool = False, first: int = 0) -> Iterator[tuple[int, int]]:
    """Consecutive ranges ``(begin, end)`` of the batch's rows from ``first`` on.

    A range ends before and after a save command, and before a row with a namespace that wildcards have not met: the
    plan is told of it before that range. With ``row_by_row`` each row is a range. A group of lines is never
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
    found: dict[int, list[int]] = {}
    for row, characters in new.items():
        found.setdefault(first_of_group(batch, row), []).extend(characters)
    return found
