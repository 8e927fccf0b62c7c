"""Options of batch optimisation of classes (``--bfgs --multiclass``)."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.bfgs import BfgsConfig
from vwlite.learners.configs.softmax import REFUSED, MulticlassConfig
from vwlite.options import config


@config
class BfgsMulticlassConfig(MulticlassConfig, BfgsConfig):
    """As ``BfgsConfig``; labels, names and predictions are those of ``MulticlassConfig``."""

    learner: ClassVar[str] = "bfgs_multiclass"
    asked_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    asked_together: ClassVar[tuple[str, ...]] = ("bfgs", "multiclass")
    includes: ClassVar[tuple[str, ...]] = ("bfgs", "multiclass")
    alone: ClassVar[str] = "the weights of all classes are one vector, which is fitted to whole passes"
    refused: ClassVar[tuple[str, ...]] = tuple(name for name in REFUSED if name not in ("l1", "l2"))

    def __post_init__(self) -> None:
        BfgsConfig.__post_init__(self)
        MulticlassConfig.__post_init__(self)
        if self.average:
            raise UsageError("--average does not go with --multiclass and --bfgs, which fits whole passes: drop one")
        if self.group_l1:
            raise UsageError("--group_l1 does not go with --bfgs: its steps are of single examples; --l1 is of weights")
        if self.class_loss == "crammer_singer":
            raise UsageError(
                "--loss_function crammer_singer does not go with --bfgs: it has kinks; with --dual and --l2 it has a "
                "solver of its own"
            )

    @classmethod
    def asked_with(cls, typed: Collection[str]) -> bool:
        return "multiclass" in typed and any(name in typed for name in BfgsConfig.asked_by)
