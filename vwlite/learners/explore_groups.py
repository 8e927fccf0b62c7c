"""Contextual bandits that explore among actions that are the lines of a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.batch import INNER, SHARED, Batch, first_of_group
from vwlite.data.label_vocabulary import tag_of
from vwlite.learners.bandit_groups import BanditGroups
from vwlite.learners.configs.explore import ExploreGroupsConfig
from vwlite.learners.explore import Exploration
from vwlite.learners.row_results import Results


class ExploreGroups(Exploration, BanditGroups):
    """An action is the place of its line, from 0; what is told of a group is that of its last row."""

    name = "cb_explore_adf"
    config_type = ExploreGroupsConfig

    @property
    def class_names(self) -> list[str]:  # type: ignore[override]
        return [name.removesuffix("'s") for name in self.set_names] if self.config.weight_sets > 1 else []

    def shown_features(self, results: Results, row: int) -> int:
        counted = int(results.features[row])
        first = self.first_action(self.batch, row)
        if not (self.vw_compat and self.config.explore_eval and self.batch.flags[first - 1] & SHARED and first):
            return counted
        return counted + (row + 1 - first) * self.shared_features(first)

    def label_text(self, batch: Batch, row: int) -> str:
        return "known" if self.config.explore_eval else super().label_text(batch, row)

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        return self.played() if self.config.explore_eval else super().summary_lines(held)

    def played(self) -> list[tuple[str, float | str]]:
        """What vw tells of an explorer played on a log."""
        config, accepted, violations = self.config, self.get("accepted"), self.get("violations")
        lines: list[tuple[str, float | str]] = [("weighted update count", self.get("updates"))]
        if accepted:
            lines.append(("average accepted example weight", self.get("updates") / accepted))
        if violations:
            lines.append(("violation count", f"{violations:.0f}"))
        if config.multiplier is None:
            lines.append(("final multiplier", 1.0 if config.target_rate is not None else self.get("least_ratio")))
        if config.target_rate is not None:
            goal = config.target_rate * self.get("seen")
            lines += [("targeted update count", goal), ("final rate", self.get("least_ratio"))]
        return lines

    def event(self, batch: Batch, results: Results, row: int) -> tuple[int, np.ndarray, np.ndarray]:
        rows = slice(self.first_action(batch, row), row + 1)
        return 0, results.raw[rows], self.pmf[rows]

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        if raw or not self.shows_probabilities:
            return super().answers(batch, results, rows, raw)
        lasts = rows[batch.flags[rows] & INNER == 0]
        return [self.probable(batch, results, row) for row in lasts.tolist()]

    def line(self, batch: Batch, results: Results, last: int, raw: bool) -> bytes:
        if raw or not self.shows_probabilities:
            return super().line(batch, results, last, raw)
        return self.probability_line(batch, results, last, tag_of(batch, first_of_group(batch, last)))
