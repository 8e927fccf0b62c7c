"""Filter trees: a class, or the cheapest of classes with costs, by a tournament of two-class learners of any kind.

Beygelzimer, Langford and Ravikumar (2009), algorithm 1. Every inner node of a binary tree over the classes learns
which of the winners below it costs less, and how much that matters is the importance it learns with. What a node
learns depends on what the nodes below predicted, not on the other examples: so the nodes of a batch are run one after
the other, from the bottom up, with the very results of running its examples one by one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.filter_tree import FilterTreeConfig
from vwlite.learners.ensemble import Ensemble
from vwlite.learners.row_results import Results


class FilterTree(Ensemble):
    """Nodes are numbered like a heap's: n has the children 2n and 2n + 1, class c is the leaf ``classes + c``."""

    name = "filter_tree"
    config_type = FilterTreeConfig
    shows_raw = False
    one_less = 1

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        stack = self.nodes[0].described[0]
        return (*stack, "filter_tree"), "CS" if self.config.costs else "MULTICLASS", "MULTICLASS"

    def run_piece(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> None:
        rows, count = slice(begin, end), self.config.count
        if len(self.inner) < len(results):
            self.inner.reserve(len(results))
        self.inner.holdout_mask = results.holdout_mask
        costs, first = self.costs_of(batch, results, begin, end)
        winner = np.tile(np.arange(-count, count, dtype=np.int32), (end - begin, 1))
        known, place = ~np.isnan(batch.label[rows]), np.arange(end - begin)
        label, importance = batch.label.copy(), batch.importance.copy()
        for number in range(count - 1, 0, -1):
            left, right = winner[:, 2 * number], winner[:, 2 * number + 1]
            with np.errstate(invalid="ignore"):
                apart = costs[place, left] - costs[place, right]
            apart[~np.isfinite(apart)] = 0
            label[rows] = np.where(known, np.where(apart < 0, 1, -1), np.nan)
            importance[rows] = np.abs(apart) * batch.importance[rows]
            contest = replace(batch, label=label, importance=importance)
            self.nodes[number - 1].run(contest, plan, self.inner, begin, end)
            winner[:, number] = np.where(self.inner.raw[rows] > 0, left, right)
        answer = winner[:, 1]
        with np.errstate(invalid="ignore"):
            above = costs[place, answer] - costs.min(axis=1)
        shown = batch.flags[rows] & (BLANK | SAVE) == 0
        results.prediction[rows] = np.where(shown, answer + first, 0)
        results.raw[rows] = first
        results.loss[rows] = np.where(shown & known & np.isfinite(above), above * batch.importance[rows], 0)
        results.features[rows] = self.inner.features[rows]
