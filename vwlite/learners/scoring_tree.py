"""Scoring filter trees, ``--filter_tree`` with ``--scoring``; see ``cython_ext/learners/scoring_tree.pyx``."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite._native import scoring_tree as kernel
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners.class_costs import ClassCosts
from vwlite.learners.configs.scoring_tree import ScoringTreeConfig
from vwlite.learners.label_vectors import LabelKernelConfig, LabelVectors
from vwlite.learners.row_results import Results


class ScoringKernelConfig(LabelKernelConfig):
    """``ScoringTreeConfig`` in the words of the kernel."""

    def show(self, config: ScoringTreeConfig) -> None:  # type: ignore[override]
        self.probabilities = config.probabilities


class ScoringTree(ClassCosts, LabelVectors):
    """``costs`` float32[rows, classes] and ``first`` int32[rows] are of the rows at work, which begin at ``begin``."""

    name = "scoring_tree"
    config_type = ScoringTreeConfig
    native = kernel
    kernel_config = ScoringKernelConfig
    lowest_first = False

    def __init__(self, config: ScoringTreeConfig, bits: int, **options: Any) -> None:
        super().__init__(config, bits, **options)
        self.costs, self.first, self.begin = np.zeros((0, config.count), np.float32), np.zeros(0, np.int32), 0

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        return self.run_pieces(batch, plan, results, begin, end)

    def run_piece(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> None:
        self.costs, self.first = self.costs_of(batch, results, begin, end)
        self.begin = begin
        super().run(batch, plan, results, begin, end)

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        predictions = "SCALARS" if self.shows_scores else "MULTICLASS"
        labels = "CS" if self.config.costs else "MULTICLASS"
        return ("filter_tree", "scoring", self.config.loss.name), labels, predictions

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        if not self.kernel.probabilities:
            return []
        loss, weight = self.log_loss[:, int(held)].tolist()
        return [("average multiclass log loss", loss / weight)] if weight else []
