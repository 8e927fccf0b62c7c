"""Options of filter trees."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import no_scores
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import PerClassConfig, classes
from vwlite.options import config, option


@config
class FilterTreeConfig(PerClassConfig):
    """``base`` is the configuration of every node's learner; with ``costs`` labels are as those of ``csoaa``."""

    filter_tree: int = classes(
        "N classes by a tournament of learners of two classes, of any kind.", low=2, high=4096
    )
    costs: bool = option(False, "Labels of --filter_tree are words class:cost.", section="Classes", shape=True)
    base: Any = None
    pairs: int = 0  # of dot products, those of the base

    learner: ClassVar[str] = "filter_tree"
    asked_by: ClassVar[tuple[str, ...]] = ("filter_tree",)
    goes_over_bases: ClassVar[bool] = False  # ``base`` is the options of any learner of numbers
    in_vw: ClassVar[bool] = False
    only_answers: ClassVar[bool] = True
    shows_probabilities_of_classes: ClassVar[dict[str, Any]] = {}
    written_as_text: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        if self.probabilities or self.scores or self.oaa_subsample or self.binary:
            refused = "--probabilities, --scores, --oaa_subsample and --binary"
            raise UsageError(f"--filter_tree does not go with {refused}: a tree has but its answer, --oaa has them")
        if self.base.levels:
            raise UsageError(f"--levels does not go with --{self.option}: answers are classes")
        if getattr(self.base, "negatives", 0):
            raise UsageError(f"--negatives does not go with --{self.option}: every example has its class")
        if not self.base.plays_in_trees:
            raise UsageError("--filter_tree plays with learners of two classes: not --oaa and its like, and not --bfgs")
        if not self.base.loss.loss.two_classes and self.base.loss.name != "squared":
            raise UsageError("--filter_tree needs a loss of two classes, or squared")
        self.check_names()

    def to_show(self, what: str) -> dict[str, Any]:
        raise no_scores(what)

    @property
    def idle(self) -> tuple[str, tuple[str, ...]]:
        return getattr(self.base, "idle", ("", ()))

    @property
    def can_freeze(self) -> bool:  # type: ignore[override]
        return self.base.can_freeze

    @property
    def kind(self) -> str:
        return "csoaa" if self.costs else "oaa"

    @property
    def count(self) -> int:
        return self.filter_tree
