"""Options of a tree of classes that grows with the examples (``--log_multi``)."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.per_class import classes
from vwlite.learners.configs.tree_base import TreeConfig
from vwlite.options import config, option


@config
class LogMultiConfig(TreeConfig):
    """``log_multi`` is the number of classes.

    A leaf that has met other labels than its answer more than ``swap_resistance`` times as often as anything came to
    the emptiest leaf is given children at that leaf's cost.
    """

    log_multi: int = classes("N classes in a tree that grows with the examples, about log N steps deep.")
    swap_resistance: int = option(
        4, "How much fuller than the emptiest a leaf is that takes its place.", section="Classes",
        low=0, high=(1 << 32) - 1,
    )

    learner: ClassVar[str] = "log_multi"
    asked_by: ClassVar[tuple[str, ...]] = ("log_multi",)
    own_loss: ClassVar[bool] = True
    default_loss: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        TreeConfig.__post_init__(self)
        if self.loss.name != "quantile" or self.loss.quantile_tau != 0.5:
            raise UsageError("--log_multi has a loss of its own, quantile: drop --loss_function and --quantile_tau")

    @property
    def models(self) -> int:
        return max(self.log_multi - 1, 1)
