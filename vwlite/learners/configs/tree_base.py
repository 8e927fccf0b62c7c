"""Options of learners that find an example's class by contests of two-class sets of weights."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import ManyConfig


class TreeConfig(ManyConfig):
    """Labels are those of ``oaa``; there are neither scores nor probabilities of all classes."""

    __slots__ = ()
    option: ClassVar[str]  # which has the number of classes

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        if not 1 <= self.count < 1 << 24:
            raise UsageError(f"--{self.option} takes 1 to {(1 << 24) - 1} classes, not {self.count}")
        for name in ("probabilities", "scores", "oaa_subsample", "binary", "sequential", "cs_absolute_loss"):
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --{self.option}")
        self.check_names()

    @property
    def kind(self) -> str:
        return "oaa"

    @property
    def count(self) -> int:
        return getattr(self, self.option)
