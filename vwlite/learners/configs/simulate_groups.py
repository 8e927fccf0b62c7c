"""Options of bandits that are played with groups of lines whose costs are all known."""

from __future__ import annotations

from typing import ClassVar

from vwlite.learners.configs.explore_groups import ExploreGroupsConfig
from vwlite.learners.configs.simulate import SECTION, SimulationConfig
from vwlite.options import again, config, option


@config
class SimulateGroupsConfig(SimulationConfig):
    """As ``SimulationConfig``, of actions that are the lines of a group."""

    cbify_ldf: bool = option(
        False, "Play a bandit with groups of lines 'action:cost | features', as --csoaa_ldf has them.", section=SECTION,
        shape=True,
    )
    cb_explore_adf: bool = again(ExploreGroupsConfig, "cb_explore_adf", False)

    takes: ClassVar[str] = "costs"
    learner: ClassVar[str] = "cbify_ldf"
    asked_by: ClassVar[tuple[str, ...]] = ("cbify_ldf",)
    includes: ClassVar[tuple[str, ...]] = ("cb_explore_adf",)
    alone: ClassVar[str] = "an example is a group of lines, which are its actions"
    multiline: ClassVar[bool] = True
    count: ClassVar[int] = 1
    cb: ClassVar[int] = 0
    rank_all: ClassVar[bool] = False
    explore_eval: ClassVar[bool] = False
