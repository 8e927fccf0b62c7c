"""Options of gradient descent that predicts with the mean of its iterates (``--average``)."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.options import config, option


@config
class AverageConfig(GdConfig):
    """As ``GdConfig``. ``average_after`` None: the mean is of at least the last half of the examples."""

    average: bool = option(
        False, "Predict with the mean of the weights after every example, not with the last ones.", section="Update",
        settled=True,
    )
    average_after: int | None = option(
        None, "Examples before the mean begins.", section="Update", unit="examples", low=0, settled=True,
        shown="so that it is of the last half, or up to three quarters",
    )

    learner: ClassVar[str] = "average"
    asked_by: ClassVar[tuple[str, ...]] = ("average",)
    alone: ClassVar[str] = "the mean is one of single steps of gradient descent"
    in_vw: ClassVar[bool] = False
    has_sensitivity: ClassVar[bool] = False
    shrinks: ClassVar[tuple[str, ...]] = ("l2",)

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.ftrl:
            raise UsageError("--ftrl does not go with --average: its weights follow from sums already")
        if self.l1:
            raise UsageError("--l1 does not go with --average: a mean of sparse weights is not sparse")

    @property
    def differs_from_vw(self) -> str:
        return "--average is none of vw's options"
