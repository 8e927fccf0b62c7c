"""Options of error-correcting tournaments (``--ect``)."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.per_class import classes
from vwlite.learners.configs.tree_base import TreeConfig
from vwlite.options import config, option


@config
class EctConfig(TreeConfig):
    """``ect`` is the number of classes; the one that is right may lose ``error`` contests."""

    ect: int = classes("N classes by error-correcting tournaments.")
    error: int = option(
        0, "Contests the right class may lose.", section="Classes", low=0, high=1023, shape=True
    )

    learner: ClassVar[str] = "ect"
    asked_by: ClassVar[tuple[str, ...]] = ("ect",)

    def __post_init__(self) -> None:
        TreeConfig.__post_init__(self)
        if self.models >= 1 << 24:
            raise UsageError(f"--ect {self.ect} --error {self.error} needs more than {1 << 24} contests")

    @property
    def models(self) -> int:
        """A set of weights for each contest: those of error + 1 tournaments, and those between their winners."""
        return max((self.ect - 1) * (self.error + 1) + self.error, 1)
