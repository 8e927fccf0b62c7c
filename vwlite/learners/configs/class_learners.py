"""Options of classes each of which has a learner of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.options import config


@config
class ClassLearnersConfig(PerClassConfig):
    """As ``PerClassConfig``; ``base`` is the configuration of every class's learner."""

    base: Any = None
    pairs: int = 0  # of dot products, those of the base

    learner: ClassVar[str] = "class_learners"
    selected_by: ClassVar[tuple[str, ...]] = ()  # but by --oaa and its like beside an option that asks for the base
    is_reduction: ClassVar[bool] = False  # ``base`` is the options of a learner of numbers that is no such base
    in_vw: ClassVar[bool] = False
    written_as_text: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.oaa_subsample:
            raise UsageError(f"--oaa_subsample does not go with --{self.base.option}: every class learns by itself")
        if self.base.levels:
            raise UsageError(f"--levels does not go with --{self.option}: answers are classes")
        if self.base.negatives:
            raise UsageError(f"--negatives does not go with --{self.option}: every example has its class")
        if not (self.base.supports_trees or self.base.supports_oaa):
            why = "classes are over learners of numbers"
            raise UsageError(f"--{self.kind} does not go with --{self.base.option}: {why}")
        if self.base.supports_oaa and self.set_loss not in ("", "hamming"):
            why = "a label is learned from all examples at once, not after the answers of others"
            raise UsageError(f"--set-loss {self.set_loss} does not go with --{self.base.option}: {why}")
        if self.base.supports_oaa and (self.kind == "csoaa" or getattr(self.base, "hard_margin", False)):
            option = f"--{self.kind}" if self.kind == "csoaa" else "--hard_margin"
            way = "--oaa does" if self.kind == "csoaa" else "two classes have it"
            raise UsageError(f"{option} does not go with --{self.base.option} for classes: {way}")

    @property
    def fixed_passes(self) -> int:  # type: ignore[override]
        return self.base.fixed_passes

    @property
    def needs_full_passes(self) -> bool:  # type: ignore[override]
        return self.base.needs_full_passes

    @property
    def can_freeze(self) -> bool:  # type: ignore[override]
        return self.base.can_freeze

    @property
    def option(self) -> str:
        return self.kind

    @property
    def vw_difference(self) -> str:
        if self.base.learner == "bfgs":  # whose minimum is the same whether classes are fitted by themselves or at once
            return ""
        return f"--{self.kind} over --{self.base.option} gives other numbers than vw's: every class has its own table"

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        return getattr(self.base, "unused_options", ("", ()))
