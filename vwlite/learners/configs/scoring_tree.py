"""Options of scoring filter trees (``--filter_tree`` with ``--scoring``)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import show_classes
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.filter_tree import FilterTreeConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.label_vectors import LabelVectorsConfig
from vwlite.options import again, config, option


@config
class ScoringTreeConfig(LabelVectorsConfig):
    """A score for each of ``filter_tree`` classes, linear where there are no ``pairs``.

    Learning rate and decay are as in ``DyadicConfig``. Names, scores and probabilities are as with ``oaa``.
    """

    filter_tree: int = again(FilterTreeConfig, "filter_tree", 0, low=2, shown="")
    scoring: bool = option(
        False, "Of --filter_tree: one score for each class, by which it plays all its contests.", section="Classes",
        shape=True,
    )
    costs: bool = again(FilterTreeConfig, "costs", False)
    pairs: int = 0
    decay_learning_rate: float = again(GdConfig, "decay_learning_rate", 0.75)
    first_pass_t: float = again(DyadicConfig, "first_pass_t", 3000.0)
    dot_l2: float | None = again(DyadicConfig, "dot_l2", None)
    dot_init: float | None = again(DyadicConfig, "dot_init", None)
    dot_unseen: str = again(DyadicConfig, "dot_unseen", "zero")
    min_updates: int = again(DyadicConfig, "min_updates", 1)

    learner: ClassVar[str] = "scoring_tree"
    asked_together: ClassVar[tuple[str, ...]] = ("filter_tree", "scoring")
    asked_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    asked_as: ClassVar[str] = "--filter_tree and --scoring"
    includes: ClassVar[tuple[str, ...]] = ("dyadic",)
    alone: ClassVar[str] = "each class has one score for all its contests"
    needs_pairs: ClassVar[tuple[str, ...]] = (
        "rank", "dot_l2", "dot_init", "dot_init_kind", "no_dot_linear", "dot_unseen", "min_updates",
    )
    linear_l2: ClassVar[float] = 0.0
    fewest_pairs: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if isinstance(self.dot_l2, str):
            raise UsageError("--dot-l2 by namespace does not go with --scoring: type one number, for all vectors")
        if self.dot_init is None:
            object.__setattr__(self, "dot_init", 0.1 / math.sqrt(max(self.rank, 1)))
        if self.pairs and not self.rank:
            raise UsageError("--rank 0 does not go with --scoring: without --dotproduct scores are linear")
        if not self.dot_init:
            raise UsageError("--dot-init 0 never learns: vectors of 0 do not move each other")
        if self.dot_unseen == "start" and self.min_updates > 1:
            raise UsageError("--dot-unseen start and --min-updates contradict each other: drop one")
        if not (self.loss.loss.two_classes or self.loss.name == "squared") or not self.loss.loss.dyadic:
            raise UsageError("--filter_tree --scoring needs a --loss_function of hinge, logistic or squared")
        if self.probabilities and (self.loss.name != "logistic" or self.costs):
            raise UsageError("--probabilities of --scoring needs --loss_function logistic, and labels without --costs")
        self.check()

    def to_show(self, what: str) -> dict[str, Any]:
        if self.costs and what == "probabilities":
            raise UsageError("--probabilities: costs are none; --scores shows the score of every class")
        return show_classes(what, self.loss.name, "logistic")

    @property
    def shows_probabilities_of_classes(self) -> dict[str, Any]:
        if self.loss.name != "logistic" or self.costs:
            return {}
        return {"probabilities": True, "scores": False}

    defaults = DyadicConfig.defaults
    initial_learning_rate = DyadicConfig.initial_learning_rate
    kind = FilterTreeConfig.kind
    count = FilterTreeConfig.count

    @property
    def decay(self) -> float:
        return self.defaults[1] if self.dot_l2 is None else self.dot_l2

    @property
    def fewest_updates(self) -> int:
        """Vectors of fewer updates count as 0 in predictions."""
        return 0 if self.dot_unseen == "start" else self.min_updates
