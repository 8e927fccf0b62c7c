"""Contextual bandits that explore among actions that are the lines of a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.batch import INNER, Batch, first_of_group
from vwlite.data.label_vocabulary import tag_of
from vwlite.learners.bandit_groups import BanditGroups
from vwlite.learners.configs.explore_groups import ExploreGroupsConfig
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
        return int(results.features[row])

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
