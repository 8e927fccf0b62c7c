"""Options of contextual bandits whose actions have features of their own, a line each."""

from __future__ import annotations

from typing import ClassVar

from vwlite.learners.configs.bandit import SECTION, LoggedConfig
from vwlite.options import config, option


@config
class BanditGroupsConfig(LoggedConfig):
    """As ``LoggedConfig``, of actions that are the lines of a group."""

    cb_adf: bool = option(
        False, "A line for each action, 'n:cost:probability | features' for the one that was shown, a blank line after "
        "each group of them; a first line 'shared | features' adds to all. Actions are counted from 0.",
        section=SECTION, shape=True,
    )
    rank_all: bool = option(
        False, "Write all actions with their scores.", section=SECTION, vw_only=True, in_vw_models="forgotten"
    )

    learner: ClassVar[str] = "cb_adf"
    selected_by: ClassVar[tuple[str, ...]] = ("cb_adf",)
    exclusivity: ClassVar[str] = "an example is a group of lines, which are its actions"
    multiline: ClassVar[bool] = True
    count: ClassVar[int] = 1
    cb: ClassVar[int] = 0  # actions that all examples have
