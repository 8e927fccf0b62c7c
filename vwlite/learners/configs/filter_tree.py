"""Options of filter trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import ManyConfig

NODES = ("gd", "dyadic", "coin", "lrq")


@dataclass(frozen=True, slots=True)
class FilterTreeConfig(ManyConfig):
    """``base`` is the configuration of every node's learner; with ``costs`` labels are as those of ``csoaa``."""

    filter_tree: int = 0
    costs: bool = False
    base: Any = None
    pairs: int = 0  # of dot products, those of the base

    learner: ClassVar[str] = "filter_tree"

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        if not 2 <= self.filter_tree <= 4096:
            raise UsageError(f"--filter_tree takes 2 to 4096 classes, not {self.filter_tree}")
        if self.probabilities or self.scores or self.oaa_subsample or self.binary:
            raise UsageError("--filter_tree does not go with --probabilities, --scores, --oaa_subsample and --binary")
        if self.base.learner not in NODES:
            raise UsageError("--filter_tree plays with learners of two classes: not --oaa and its like, and not --bfgs")
        if not self.base.loss.loss.two_classes and self.base.loss.name != "squared":
            raise UsageError("--filter_tree needs a loss of two classes, or squared")
        self.check_names()

    @property
    def idle(self) -> tuple[str, tuple[str, ...]]:
        return getattr(self.base, "idle", ("", ()))

    @property
    def kind(self) -> str:
        return "csoaa" if self.costs else "oaa"

    @property
    def count(self) -> int:
        return self.filter_tree
