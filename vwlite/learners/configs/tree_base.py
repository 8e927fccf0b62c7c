"""Options of learners that find an example's class by contests of two-class sets of weights."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import no_scores
from vwlite.learners.configs.per_class import PerClassConfig

WHY_NOT = {
    **dict.fromkeys(("probabilities", "scores"), "a tree has but its answer; --oaa has them"),
    "oaa_subsample": "contests are between few classes anyway; --oaa takes it",
    "binary": "it answers with classes",
    "cs_absolute_loss": "labels have no costs; --csoaa takes it",
}


class TreeConfig(PerClassConfig):
    """Labels are those of ``oaa``; there are neither scores nor probabilities of all classes."""

    only_answers: ClassVar[bool] = True
    shows_probabilities_of_classes: ClassVar[dict[str, Any]] = {}

    def __post_init__(self) -> None:
        super(PerClassConfig, self).__post_init__()
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        for name, why in WHY_NOT.items():
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --{self.asked_by[0]}: {why}")
        self.check_sets()
        self.check_names()

    def to_show(self, what: str) -> dict[str, Any]:
        raise no_scores(what)

    @property
    def kind(self) -> str:
        return "oaa"

    @property
    def count(self) -> int:
        return getattr(self, self.asked_by[0])
