"""Options of contextual bandits that explore among actions with features of their own, a line each."""

from __future__ import annotations

from typing import ClassVar

from vwlite.learners.configs.explore import SECTION, ExplorationConfig
from vwlite.options import config, option


@config
class ExploreGroupsConfig(ExplorationConfig):
    """As ``ExplorationConfig``, of actions that are the lines of a group."""

    cb_explore_adf: bool = option(
        False, "As --cb_adf, with the probabilities of actions as predictions.", section=SECTION, shape=True
    )

    learner: ClassVar[str] = "cb_explore_adf"
    asked_by: ClassVar[tuple[str, ...]] = ("cb_explore_adf",)
    alone: ClassVar[str] = "an example is a group of lines, which are its actions"
    multiline: ClassVar[bool] = True
    count: ClassVar[int] = 1
    cb: ClassVar[int] = 0
    rank_all: ClassVar[bool] = False
