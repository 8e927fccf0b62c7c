"""Options of active learning (``--active``) and confidences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import random_seed
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.options import again, config, option


@config
class ActiveConfig(GdConfig):
    """As ``GdConfig``, with ``active`` or ``confidence``."""

    active: bool = option(
        False,
        "Beside predictions without a label (-p), the importance to ask for it with, if at all.",
        section="Active learning",
    )
    simulation: bool = option(
        False, "Of --active: ask for labels of the data, and learn no others.", section="Active learning",
        in_vw_models="forgotten",
    )
    mellowness: float = option(
        1.0, "Of --active: the larger, the more labels are asked for; of explorers: the wider the bounds of costs.",
        section="Active learning", low=0,
    )
    confidence: bool = option(
        False, "Beside predictions (-p), the importance that would flip their sign.", section="Active learning"
    )
    confidence_after_training: bool = option(
        False, "The same once the example has been learned.", section="Active learning", in_vw_models="forgotten",
    )
    random_seed: int = random_seed()  # of the choice of labels

    learner: ClassVar[str] = "active"
    supports_trees: ClassVar[bool] = False
    selected_by: ClassVar[tuple[str, ...]] = ("active", "confidence")
    supports_levels: ClassVar[bool] = False
    exclusivity: ClassVar[str] = (
        "it must be known how far an update moves the one prediction there is: by gradients, or FTRL"
    )
    continues: ClassVar[tuple[str, ...]] = ("gd",)

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.active and self.confidence:
            raise UsageError("--active and --confidence do not go together")
        if self.confidence_after_training and not self.confidence:
            raise UsageError("--confidence_after_training needs --confidence")
        if self.simulation and not self.active:
            raise UsageError("--simulation needs --active")


def check_asking(config: Any, models: str) -> None:
    """Raises UsageError where a model with dot products cannot ask for labels as the options say; ``models``: such."""
    if config.active and not config.simulation:
        instead = "'vwlite predict --active' shows which labels to ask for"
        raise UsageError(f"--active with {models} needs --simulation: {instead}")
    if not config.active:
        for name, typed in (("--simulation", config.simulation), ("--mellowness", config.mellowness != 1)):
            if typed:
                raise UsageError(f"{name} needs --active")


@config
class ActiveDyadicConfig(DyadicConfig):
    """As ``DyadicConfig``; of labels in the data only those that are asked for are learned."""

    active: bool = again(ActiveConfig, "active", False)
    simulation: bool = again(ActiveConfig, "simulation", False)
    mellowness: float = again(ActiveConfig, "mellowness", 1.0)

    learner: ClassVar[str] = "active_dyadic"
    supports_trees: ClassVar[bool] = False
    selected_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    selected_together: ClassVar[tuple[str, ...]] = ("active", "dotproduct")
    supports_levels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        DyadicConfig.__post_init__(self)
        check_asking(self, "--dotproduct")
        if self.negatives:
            raise UsageError("--negatives does not go with --active: what is drawn needs no label")
        if not self.rank:
            raise UsageError("--active does not go with --rank 0: without --dotproduct it takes linear models")

    def to_show(self, what: str) -> Mapping[str, object]:
        return DyadicConfig.to_show(self, what)
