"""Options of dyadic models that ask for labels (``--dotproduct`` with ``--active``)."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.active import ActiveConfig
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.options import again, config


@config
class ActiveDyadicConfig(DyadicConfig):
    """As ``DyadicConfig``; of labels in the data only those that are asked for are learned."""

    active: bool = again(ActiveConfig, "active", False)
    simulation: bool = again(ActiveConfig, "simulation", False)
    mellowness: float = again(ActiveConfig, "mellowness", 1.0)

    learner: ClassVar[str] = "active_dyadic"
    plays_in_trees: ClassVar[bool] = False
    asked_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    asked_together: ClassVar[tuple[str, ...]] = ("active", "dotproduct")
    takes_levels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        DyadicConfig.__post_init__(self)
        if not self.simulation:
            instead = "what to ask for is told by 'vwlite predict --active'"
            raise UsageError(f"--active with --dotproduct needs --simulation: {instead}")
        if self.negatives:
            raise UsageError("--negatives does not go with --active: what is drawn needs no label")
        if not self.rank:
            raise UsageError("--active does not go with --rank 0: without --dotproduct it takes linear models")

    def to_show(self, what: str) -> dict[str, Any]:
        return DyadicConfig.to_show(self, what)
