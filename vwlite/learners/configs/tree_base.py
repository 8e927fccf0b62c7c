"""Options of learners that find an example's class by contests of two-class sets of weights."""

from __future__ import annotations

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import ManyConfig


class TreeConfig(ManyConfig):
    """Labels are those of ``oaa``; there are neither scores nor probabilities of all classes."""

    __slots__ = ()

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        for name in ("probabilities", "scores", "oaa_subsample", "binary", "sequential", "cs_absolute_loss"):
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --{self.asked_by[0]}")
        self.check_names()

    @property
    def kind(self) -> str:
        return "oaa"

    @property
    def count(self) -> int:
        return getattr(self, self.asked_by[0])
