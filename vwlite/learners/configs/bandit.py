"""Options of learners from logged decisions (``--cb``, ``--cb_adf``)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.options import again, config, option, read_decimal

TYPES = ("mtr", "ips", "dm", "dr", "direct", "sm")  # numbered as in the kernel
SECTION = "Logged decisions"
HIGHEST = "max"


@config
class LoggedConfig(GdConfig):
    """As ``GdConfig``; what learners from logged decisions have in common."""

    cb_type: str = option(
        "mtr", "How costs that nobody saw are made up for: by importance-weighted regression, inverse propensity "
        "scores, a cost of 0, doubly robust, or not at all (direct); sm, of 'vwlite vw', is vw's softmax.",
        section=SECTION, choices=TYPES, shape=True,
    )
    clip_p: float = option(
        0.0, "Take probabilities below this for this.", section=SECTION, low=0, high=1
    )
    cost_offset: str = option(
        "", "Learn costs as differences to this number, or to the highest cost so far.", section=SECTION,
        metavar="X|max", settled=True,
    )
    scores: bool = again(PerClassConfig, "scores", False)

    explorer: ClassVar[str] = ""  # what chooses actions at random, of those that have one
    cover: ClassVar[int] = 0  # policies of the explorer of this name
    supports_trees: ClassVar[bool] = False
    is_reduction: ClassVar[bool] = True
    supports_levels: ClassVar[bool] = False
    has_sensitivity: ClassVar[bool] = False
    label_words: ClassVar[bool] = True
    eval_: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.binary:
            raise UsageError(f"--binary does not go with --{self.option}, which answers with actions: drop it")
        if self.cost_offset not in ("", HIGHEST) and not math.isfinite(self.offset):
            raise UsageError(f"--cost_offset takes a number, or {HIGHEST}, not {self.cost_offset!r}")

    @property
    def offset(self) -> float:
        """The number that ``cost_offset`` is; 0 for another word that it takes, NaN for what it does not."""
        if self.cost_offset in ("", HIGHEST):
            return 0.0
        try:
            return read_decimal(self.cost_offset)
        except ValueError:
            return math.nan

    @property
    def learned_type(self) -> str:
        """The ``cb_type`` that is learned by."""
        return self.cb_type

    @property
    def weight_sets(self) -> int:
        """How many sets of weights an action has."""
        return 2 if self.learned_type == "dr" else 1

    @property
    def vw_sets(self) -> int:
        """How many sets vw has."""
        return self.weight_sets

    @property
    def vw_difference(self) -> str:
        if self.cb_type == "direct":
            return "--cb_type direct is none of vw's types"
        return "--cost_offset is none of vw's options" if self.cost_offset else super().vw_difference

    @property
    def only_in_vw(self) -> str:  # type: ignore[override]
        wrong = "--cb_type sm is for 'vwlite vw', since vw confuses the costs of actions in it; take mtr or dr"
        return wrong if self.cb_type == "sm" else ""

    def to_show(self, what: str) -> dict[str, Any]:
        if what == "probabilities":
            raise UsageError("--probabilities: the policy shows its best action always; --scores has predicted costs")
        return {"scores": what == "scores", **({"as_raw": True} if what == "raw" else {})}


@config
class BanditConfig(LoggedConfig):
    """As ``LoggedConfig``; ``cb`` is the number of actions."""

    cb: int = option(
        0, "N actions of every example; labels are words action:cost:probability, of the action that was shown.",
        section=SECTION, unit="actions", low=1, high=(1 << 24) - 1, shown="", shape=True, needed=True,
    )

    eval_: bool = option(
        False, "Value the action that is the first word of a label, by inverse propensity scores or doubly robust.",
        section=SECTION, spelled=("--eval",), key="eval_", shape=True, vw_only=True,
    )

    learner: ClassVar[str] = "cb"
    selected_by: ClassVar[tuple[str, ...]] = ("cb",)
    exclusivity: ClassVar[str] = "an example is a logged decision"
    written_as_text: ClassVar[bool] = False
    named_labels: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eval_ and self.cb_type == "dm":
            raise UsageError("--eval goes with --cb_type ips and dr: what dm says of a policy is biased")

    @property
    def count(self) -> int:
        return self.cb

    @property
    def learned_type(self) -> str:
        """Of actions that are valued as in vw ``dr`` where the type is not ``ips``."""
        return "dr" if self.eval_ and self.cb_type != "ips" else self.cb_type


@config
class BanditGroupsConfig(LoggedConfig):
    """As ``LoggedConfig``, of actions that are the lines of a group."""

    cb_adf: bool = option(
        False, "A line for each action, 'n:cost:probability | features' for the one that was shown, a blank line after "
        "each group of them; a first line 'shared | features' adds to all. Actions are counted from 0.",
        section=SECTION, shape=True,
    )
    rank_all: bool = option(
        False, "Write all actions with their scores.", section=SECTION, vw_only=True
    )

    learner: ClassVar[str] = "cb_adf"
    selected_by: ClassVar[tuple[str, ...]] = ("cb_adf",)
    exclusivity: ClassVar[str] = "an example is a group of lines, which are its actions"
    multiline: ClassVar[bool] = True
    count: ClassVar[int] = 1
    cb: ClassVar[int] = 0  # actions that all examples have
