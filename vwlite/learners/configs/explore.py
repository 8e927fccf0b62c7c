"""Options of contextual bandits that explore (how likely each action is to be shown), and of simulated ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.active import ActiveConfig
from vwlite.learners.configs.bandit import LoggedConfig
from vwlite.learners.configs.base import random_seed
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.options import again, config, option

SECTION = "Exploration"
SIMULATION = "Simulated bandits"
EXPLORERS = ("", "epsilon", "first", "softmax", "bag", "squarecb", "regcb", "cover")  # numbered as in the kernel
GREEDY = 0.05


@config
class ExplorationConfig(LoggedConfig):
    """As ``LoggedConfig``; predictions are the probabilities of the actions. Without an explorer it is epsilon."""

    epsilon: float | None = option(
        None, "Share this probability evenly among all actions.", section=SECTION, low=0, high=1,
        shown="0.05, of other explorers 0",
    )
    first: int = option(
        0, "Show all actions with equal probability until N events were learned, then the best.", section=SECTION,
        low=1, shown=""
    )
    softmax: bool = option(
        False, "Probabilities fall exponentially with the cost predicted.", section=SECTION
    )
    lambda_: float = option(
        1.0, "How fast probabilities fall with the predicted cost.", section=SECTION, spelled=("--lambda",),
        key="lambda_", needs=("softmax",)
    )
    bag: int = option(
        0, "N policies, each of which learns an event a random number of times, vote.", section=SECTION, low=1,
        unit="policies", shown="", shape=True,
    )
    greedify: bool = option(False, "Of --bag: the first learns each event once.", section=SECTION, needs=("bag",))
    squarecb: bool = option(
        False, "Probabilities fall with the inverse of what an action costs more than the best.", section=SECTION
    )
    gamma_scale: float = option(10.0, "How fast probabilities fall.", section=SECTION, low=0, needs=("squarecb",))
    gamma_exponent: float = option(
        0.5, "The exponent of its growth with the number of events learned.", section=SECTION, needs=("squarecb",)
    )
    elim: bool = option(
        False, "Of --squarecb: show only actions that may be the best.", section=SECTION, needs=("squarecb",)
    )
    regcb: bool = option(
        False, "Show, with equal probability, the actions that may be the best by the bounds of their costs.",
        section=SECTION
    )
    regcbopt: bool = option(False, "Show the action whose cost has the lowest bound.", section=SECTION)
    cb_min_cost: float = option(
        0.0, "The lowest possible cost.", section=SECTION, needs=("regcb", "regcbopt", "elim")
    )
    cb_max_cost: float = option(1.0, "The highest possible cost.", section=SECTION, needs=("regcb", "regcbopt", "elim"))
    mellowness: float | None = again(
        ActiveConfig, "mellowness", None, section=SECTION, shown="0.1, of --squarecb 0.001"
    )
    cover: int = option(
        0, "N policies, each of which learns to choose what the others do not.", section=SECTION, low=1,
        unit="policies", shown="", shape=True,
    )
    psi: float = option(1.0, "How much the policies differ.", section=SECTION, low=0, needs=("cover",))
    nounif: bool = option(
        False, "Of --cover: do not show what no policy chooses.", section=SECTION, needs=("cover",)
    )
    first_only: bool = option(
        False, "Of actions that are tied show the first.", section=SECTION
    )
    probabilities: bool = again(PerClassConfig, "probabilities", False)
    random_seed: int = random_seed()

    has_sensitivity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = [name for name in ("first", "softmax", "bag", "squarecb", "regcb", "cover") if getattr(self, name)]
        if self.regcbopt and "regcb" not in chosen:
            chosen.append("regcbopt")
        if len(chosen) > 1:
            raise UsageError(f"--{chosen[0]} and --{chosen[1]} do not go together: each is an explorer")
        if self.cover and self.cb_type not in ("mtr", "ips", "dr"):
            raise UsageError(f"--cover goes with --cb_type mtr, ips and dr, not {self.cb_type}")
        if self.explorer in ("squarecb", "regcb") and self.cb_type != "mtr":
            raise UsageError(f"--{self.explorer} goes with --cb_type mtr, not {self.cb_type}")
        if self.cb_min_cost >= self.cb_max_cost:
            raise UsageError("--cb_min_cost must be below --cb_max_cost")

    @property
    def explorer(self) -> str:
        chosen = [name for name in EXPLORERS[2:] if getattr(self, name)]
        return chosen[0] if chosen else "regcb" if self.regcbopt else EXPLORERS[1]

    @property
    def bounds(self) -> bool:
        """Whether predictions need the rates of learning."""
        return self.regcb or self.regcbopt or self.elim

    @property
    def policies(self) -> int:
        return self.bag or self.cover or 1

    @property
    def weight_sets(self) -> int:
        return self.cover + 1 if self.cover else self.policies * super().weight_sets

    @property
    def vw_sets(self) -> int:
        """The number of sets in vw."""
        if not self.cover:
            return self.weight_sets
        return self.cover + 1 if self.cb_type == "ips" else 2 * self.cover + 2

    @property
    def simulation(self) -> Mapping[str, object]:
        """The settings of the kernel for a simulation with labels of all costs, or with a log."""
        return {"simulated": 0, "right": 0.0, "wrong": 1.0, "valued": False, "target_rate": -1.0, "ratio": 0.0}

    def to_show(self, what: str) -> Mapping[str, object]:
        if what == "probabilities":
            return {"scores": False, "probabilities": True}
        return {**super().to_show(what), "probabilities": False}


@config
class ExploreConfig(ExplorationConfig):
    """As ``ExplorationConfig``; ``cb_explore`` is the number of actions."""

    cb_explore: int = option(
        0, "As --cb N, with the probabilities of actions as predictions.", section=SECTION, unit="actions", low=1,
        high=(1 << 24) - 1, shown="", shape=True, needed=True,
    )

    learner: ClassVar[str] = "cb_explore"
    selected_by: ClassVar[tuple[str, ...]] = ("cb_explore",)
    exclusivity: ClassVar[str] = "an example is a logged decision"
    written_as_text: ClassVar[bool] = False
    named_labels: ClassVar[tuple[str, ...]] = ()

    @property
    def cb(self) -> int:
        return self.cb_explore

    @property
    def count(self) -> int:
        return self.cb_explore


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

    supports_audit: ClassVar[bool] = True
    bare_lines: ClassVar[bool] = True
    learner: ClassVar[str] = "cb_explore_adf"
    selected_by: ClassVar[tuple[str, ...]] = ("cb_explore_adf",)
    exclusivity: ClassVar[str] = "an example is a group of lines, which are its actions"
    @property
    def simulation(self) -> Mapping[str, object]:
        rate = -1.0 if self.target_rate is None else self.target_rate
        played = {"valued": self.explore_eval, "target_rate": rate, "ratio": self.multiplier or 0.0}
        return {**super().simulation, **played}

    multiline: ClassVar[bool] = True
    count: ClassVar[int] = 1
    cb: ClassVar[int] = 0
    rank_all: ClassVar[bool] = False


SIMULATED = ("", "classes", "costs")  # numbered as in the kernel


@config
class SimulationConfig(ExplorationConfig):
    """As ``ExplorationConfig``; the loss is the cost of the action drawn."""

    takes: ClassVar[str]  # one of SIMULATED
    held_out_in_vw: ClassVar[bool] = False

    @property
    def simulation(self) -> Mapping[str, object]:
        return {**super().simulation, "simulated": SIMULATED.index(self.takes)}

    def to_show(self, what: str) -> Mapping[str, object]:
        if what == "raw":
            return {"as_raw": True}
        raise UsageError(f"--{what} does not go with a model of --{self.option}: its answers are the actions drawn")


@config
class SimulateConfig(SimulationConfig):
    """As ``SimulationConfig``; ``cbify`` is the number of classes."""

    cbify: int = option(
        0, "Play a bandit with labels that are classes 1 to N: an action is drawn, and its cost alone is learned.",
        section=SIMULATION, unit="classes", low=1, high=(1 << 24) - 1, shown="", shape=True, needed=True,
    )
    cbify_cs: bool = option(
        False, "Of --cbify: labels are class:cost of all classes.", section=SIMULATION, needs=("cbify",), shape=True
    )
    loss0: float = option(0.0, "Of --cbify: the cost of the right class.", section=SIMULATION, needs=("cbify",))
    loss1: float = option(1.0, "Of --cbify: the cost of others.", section=SIMULATION, needs=("cbify",))
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
    def simulation(self) -> Mapping[str, object]:
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
        False, "Play a bandit with groups of lines 'action:cost | features', as --csoaa_ldf has them.",
        section=SIMULATION, shape=True,
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
