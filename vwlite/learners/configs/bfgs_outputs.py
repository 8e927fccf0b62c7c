"""Options of batch optimisation of several outputs (``--bfgs --outputs``)."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from vwlite.learners.configs.bfgs import BfgsConfig
from vwlite.learners.configs.outputs import OutputsConfig
from vwlite.options import config


@config
class BfgsOutputsConfig(OutputsConfig, BfgsConfig):
    """As ``BfgsConfig``; labels, names and predictions are those of ``OutputsConfig``."""

    learner: ClassVar[str] = "bfgs_outputs"
    asked_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    asked_together: ClassVar[tuple[str, ...]] = ("bfgs", "outputs")
    alone: ClassVar[str] = "the weights of all outputs are one vector, which is fitted to whole passes"
    includes: ClassVar[tuple[str, ...]] = ("bfgs", "outputs")

    @classmethod
    def asked_with(cls, typed: Collection[str]) -> bool:
        return "outputs" in typed and any(name in typed for name in BfgsConfig.asked_by)

    @property
    def idle(self) -> tuple[str, tuple[str, ...]]:
        beside, names = super().idle
        return beside, (*names, "shared_rates")
