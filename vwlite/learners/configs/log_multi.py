"""Options of a tree of classes that grows with the examples (``--log_multi``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.tree_base import TreeConfig


@dataclass(frozen=True, slots=True)
class LogMultiConfig(TreeConfig):
    """``log_multi`` is the number of classes.

    A leaf that has met other labels than its answer more than ``swap_resistance`` times as often as anything came to
    the emptiest leaf is given children at that leaf's cost.
    """

    log_multi: int = 0
    swap_resistance: int = 4

    learner: ClassVar[str] = "log_multi"
    option: ClassVar[str] = "log_multi"
    default_loss: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        TreeConfig.__post_init__(self)
        if self.loss.name != "quantile" or self.loss.quantile_tau != 0.5:
            raise UsageError("--log_multi has a loss of its own, quantile: drop --loss_function and --quantile_tau")
        if not 0 <= self.swap_resistance < 1 << 32:
            raise UsageError(f"--swap_resistance takes 0 to {(1 << 32) - 1}, not {self.swap_resistance}")

    @property
    def models(self) -> int:
        return max(self.log_multi - 1, 1)
