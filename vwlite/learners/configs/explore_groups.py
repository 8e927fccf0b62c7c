"""Options of contextual bandits that explore among actions with features of their own, a line each."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite.learners.configs.explore import SECTION, ExplorationConfig
from vwlite.options import config, option


@config
class ExploreGroupsConfig(ExplorationConfig):
    """As ``ExplorationConfig``, of actions that are the lines of a group."""

    cb_explore_adf: bool = option(
        False, "As --cb_adf, with the probabilities of actions as predictions.", section=SECTION, shape=True
    )

    explore_eval: bool = option(
        False, "Play the explorer on a log: it learns what it would have shown itself.", section=SECTION, vw_only=True
    )
    target_rate: float | None = option(
        None, "Of --explore_eval: the share of decisions to learn.", section=SECTION, vw_only=True, low=0, high=1
    )
    multiplier: float | None = option(
        None, "Of --explore_eval: what ratios of probabilities are multiplied with.", section=SECTION, vw_only=True,
        above=0, shown="the least of them so far",
    )

    learner: ClassVar[str] = "cb_explore_adf"
    selected_by: ClassVar[tuple[str, ...]] = ("cb_explore_adf",)
    exclusivity: ClassVar[str] = "an example is a group of lines, which are its actions"
    @property
    def simulation(self) -> dict[str, Any]:
        rate = -1.0 if self.target_rate is None else self.target_rate
        played = {"valued": self.explore_eval, "target_rate": rate, "ratio": self.multiplier or 0.0}
        return {**super().simulation, **played}

    multiline: ClassVar[bool] = True
    count: ClassVar[int] = 1
    cb: ClassVar[int] = 0
    rank_all: ClassVar[bool] = False
