"""Options of active learning (``--active``) and confidences."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.shared import random_seed
from vwlite.options import config, option


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
    plays_in_trees: ClassVar[bool] = False
    asked_by: ClassVar[tuple[str, ...]] = ("active", "confidence")
    takes_levels: ClassVar[bool] = False
    alone: ClassVar[str] = "it must be known how far an update moves the one prediction there is: by gradients, or FTRL"
    continues: ClassVar[tuple[str, ...]] = ("gd",)

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.active and self.confidence:
            raise UsageError("--active and --confidence do not go together")
        if self.confidence_after_training and not self.confidence:
            raise UsageError("--confidence_after_training needs --confidence")
        if self.simulation and not self.active:
            raise UsageError("--simulation needs --active")
