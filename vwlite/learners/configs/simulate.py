"""Options of bandits that are played with labelled data: the cost of the action drawn is looked up in the label."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.explore import ExplorationConfig, ExploreGroupsConfig
from vwlite.options import again, config, option

SECTION = "Simulated bandits"
SIMULATED = ("", "classes", "costs")  # numbered as in the kernel


@config
class SimulationConfig(ExplorationConfig):
    """As ``ExplorationConfig``; the loss is the cost of the action drawn."""

    takes: ClassVar[str]  # one of SIMULATED

    @property
    def simulation(self) -> dict[str, Any]:
        return {**super().simulation, "simulated": SIMULATED.index(self.takes)}

    def to_show(self, what: str) -> dict[str, Any]:
        if what == "raw":
            return {"as_raw": True}
        raise UsageError(f"--{what} does not go with a model of --{self.option}: its answers are the actions drawn")


@config
class SimulateConfig(SimulationConfig):
    """As ``SimulationConfig``; ``cbify`` is the number of classes."""

    cbify: int = option(
        0, "Play a bandit with labels that are classes 1 to N: an action is drawn, and its cost alone is learned.",
        section=SECTION, unit="classes", low=1, high=(1 << 24) - 1, shown="", shape=True, needed=True,
    )
    cbify_cs: bool = option(
        False, "Of --cbify: labels are class:cost of all classes.", section=SECTION, needs=("cbify",), shape=True
    )
    loss0: float = option(0.0, "Of --cbify: the cost of the right class.", section=SECTION, needs=("cbify",))
    loss1: float = option(1.0, "Of --cbify: the cost of others.", section=SECTION, needs=("cbify",))
    cb_explore_adf: bool = again(ExploreGroupsConfig, "cb_explore_adf", False)

    learner: ClassVar[str] = "cbify"
    selected_by: ClassVar[tuple[str, ...]] = ("cbify",)
    includes: ClassVar[tuple[str, ...]] = ("cb_explore_adf",)
    exclusivity: ClassVar[str] = "an example is a decision that is played"
    written_as_text: ClassVar[bool] = False
    named_labels: ClassVar[tuple[str, ...]] = ()

    @property
    def takes(self) -> str:  # type: ignore[override]
        return "costs" if self.cbify_cs else "classes"

    @property
    def label_words(self) -> bool | None:  # type: ignore[override]
        return True if self.cbify_cs else None

    @property
    def simulation(self) -> dict[str, Any]:
        return {**super().simulation, "right": self.loss0, "wrong": self.loss1}

    @property
    def cb(self) -> int:
        return self.cbify

    @property
    def count(self) -> int:
        return self.cbify


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
    selected_by: ClassVar[tuple[str, ...]] = ("cbify_ldf",)
    includes: ClassVar[tuple[str, ...]] = ("cb_explore_adf",)
    exclusivity: ClassVar[str] = "an example is a group of lines, which are its actions"
    multiline: ClassVar[bool] = True
    count: ClassVar[int] = 1
    cb: ClassVar[int] = 0
    rank_all: ClassVar[bool] = False
    explore_eval: ClassVar[bool] = False
