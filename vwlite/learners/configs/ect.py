"""Options of error-correcting tournaments (``--ect``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.tree_base import TreeConfig


@dataclass(frozen=True, slots=True)
class EctConfig(TreeConfig):
    """``ect`` is the number of classes; the one that is right may lose ``error`` contests."""

    ect: int = 0
    error: int = 0

    learner: ClassVar[str] = "ect"
    option: ClassVar[str] = "ect"

    def __post_init__(self) -> None:
        TreeConfig.__post_init__(self)
        if not 0 <= self.error < 1024:
            raise UsageError(f"--error takes 0 to 1023, not {self.error}")
        if self.models >= 1 << 24:
            raise UsageError(f"--ect {self.ect} --error {self.error} needs more than {1 << 24} contests")

    @property
    def models(self) -> int:
        """A set of weights for each contest: those of error + 1 tournaments, and those between their winners."""
        return max((self.ect - 1) * (self.error + 1) + self.error, 1)
