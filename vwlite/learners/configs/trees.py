"""Options of trees of classes: a few contests of two-class sets of weights find an example's class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import no_scores, show_classes
from vwlite.learners.configs.dyadic import DyadicConfig, check_flow
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.label_vectors import LabelVectorsConfig
from vwlite.learners.configs.per_class import EnsembleConfig, PerClassConfig, classes
from vwlite.options import again, config, option

WHY_NOT = {
    **dict.fromkeys(("probabilities", "scores"), "a tree has only its answer; --oaa has them"),
    "oaa_subsample": "contests are between few classes anyway; --oaa takes it",
    "binary": "it answers with classes",
    "cs_absolute_loss": "labels have no costs; --csoaa takes it",
}


class TreeConfig(PerClassConfig):
    """Labels are those of ``oaa``; there are neither scores nor probabilities of all classes."""

    only_answers: ClassVar[bool] = True
    shows_probabilities_of_classes: ClassVar[Mapping[str, object]] = {}

    def __post_init__(self) -> None:
        super(PerClassConfig, self).__post_init__()
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        for name, why in WHY_NOT.items():
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --{self.selected_by[0]}: {why}")
        self.check_sets()
        self.check_names()

    def to_show(self, what: str) -> Mapping[str, object]:
        raise no_scores(what)

    @property
    def kind(self) -> str:
        return "oaa"

    @property
    def count(self) -> int:
        return getattr(self, self.selected_by[0])


@config
class LogMultiConfig(TreeConfig):
    """``log_multi`` is the number of classes.

    A leaf that has met other labels than its answer more than ``swap_resistance`` times as often as anything came to
    the emptiest leaf is given children at that leaf's cost.
    """

    log_multi: int = classes("N classes in a tree that grows with the examples, about log N steps deep.")
    swap_resistance: int = option(
        4, "How much fuller than the emptiest leaf another one must be to take its place.", section="Classes",
        low=0, high=(1 << 32) - 1,
    )

    learner: ClassVar[str] = "log_multi"
    selected_by: ClassVar[tuple[str, ...]] = ("log_multi",)
    own_loss: ClassVar[bool] = True
    default_loss: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        TreeConfig.__post_init__(self)
        if self.loss.name != "quantile" or self.loss.quantile_tau != 0.5:
            raise UsageError("--log_multi has a loss of its own, quantile: drop --loss_function and --quantile_tau")

    @property
    def models(self) -> int:
        return max(self.log_multi - 1, 1)


@config
class EctConfig(TreeConfig):
    """``ect`` is the number of classes; the one that is right may lose ``error`` contests."""

    ect: int = classes("N classes by error-correcting tournaments.")
    error: int = option(
        0, "Contests the right class may lose.", section="Classes", low=0, high=1023, shape=True
    )

    learner: ClassVar[str] = "ect"
    selected_by: ClassVar[tuple[str, ...]] = ("ect",)

    def __post_init__(self) -> None:
        TreeConfig.__post_init__(self)
        if self.models >= 1 << 24:
            raise UsageError(f"--ect {self.ect} --error {self.error} needs more than {1 << 24} contests")

    @property
    def models(self) -> int:
        """A set of weights for each contest: those of error + 1 tournaments, and those between their winners."""
        return max((self.ect - 1) * (self.error + 1) + self.error, 1)


@config
class FilterTreeConfig(EnsembleConfig):
    """``base`` is the configuration of every node's learner; with ``costs`` labels are as those of ``csoaa``."""

    filter_tree: int = classes(
        "N classes by a tournament of learners of two classes, of any kind.", low=2, high=4096
    )
    costs: bool = option(False, "Labels of --filter_tree are words class:cost.", section="Classes", shape=True)

    supports_audit: ClassVar[bool] = False
    learner: ClassVar[str] = "filter_tree"
    selected_by: ClassVar[tuple[str, ...]] = ("filter_tree",)
    is_reduction: ClassVar[bool] = False  # ``base`` is the options of any learner of numbers
    in_vw: ClassVar[bool] = False
    only_answers: ClassVar[bool] = True
    shows_probabilities_of_classes: ClassVar[Mapping[str, object]] = {}
    written_as_text: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        if self.probabilities or self.scores or self.oaa_subsample or self.binary:
            refused = "--probabilities, --scores, --oaa_subsample and --binary"
            raise UsageError(f"--filter_tree does not go with {refused}: a tree has only its answer; --oaa has them")
        if self.base.levels:
            raise UsageError(f"--levels does not go with --{self.option}: answers are classes")
        if getattr(self.base, "negatives", 0):
            raise UsageError(f"--negatives does not go with --{self.option}: every example has its class")
        if not self.base.supports_trees:
            raise UsageError("--filter_tree plays with learners of two classes: not --oaa and its like, and not --bfgs")
        if not self.base.loss.loss.two_classes and self.base.loss.name != "squared":
            raise UsageError("--filter_tree needs a loss of two classes, or squared")
        self.check_names()

    def to_show(self, what: str) -> Mapping[str, object]:
        raise no_scores(what)

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        return getattr(self.base, "unused_options", ("", ()))

    @property
    def can_freeze(self) -> bool:  # type: ignore[override]
        return self.base.can_freeze

    @property
    def kind(self) -> str:
        return "csoaa" if self.costs else "oaa"

    @property
    def count(self) -> int:
        return self.filter_tree


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
    linear_l2: float = again(DyadicConfig, "linear_l2", 0.0)
    dot_unseen: str = again(DyadicConfig, "dot_unseen", "zero")
    min_updates: int = again(DyadicConfig, "min_updates", 1)

    learner: ClassVar[str] = "scoring_tree"
    selected_together: ClassVar[tuple[str, ...]] = ("filter_tree", "scoring")
    selected_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    asked_as: ClassVar[str] = "--filter_tree and --scoring"
    includes: ClassVar[tuple[str, ...]] = ("dyadic", "active", "active_dyadic")
    exclusivity: ClassVar[str] = "each class has one score for all its contests"
    needs_pairs: ClassVar[tuple[str, ...]] = (
        "rank", "dot_l2", "dot_l2_power", "dot_l2_of", "linear_l2", "dot_init", "dot_init_kind", "dot_offset",
        "no_dot_linear", "dot_unseen", "min_updates",
    )
    fewest_pairs: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.dot_unseen == "start" and self.min_updates > 1:
            raise UsageError("--dot-unseen start and --min-updates contradict each other: drop one")
        check_flow(self.loss, "--scoring")
        if not (self.loss.loss.two_classes or self.loss.name == "squared"):
            raise UsageError("--scoring needs a --loss_function of two classes, like hinge or logistic, or squared")
        if self.probabilities and (self.loss.name != "logistic" or self.costs):
            raise UsageError("--probabilities of --scoring needs --loss_function logistic, and labels without --costs")
        self.check()

    def to_show(self, what: str) -> Mapping[str, object]:
        if self.costs and what == "probabilities":
            raise UsageError("--probabilities: costs are not probabilities; --scores shows the score of every class")
        return show_classes(what, self.loss.name, "logistic")

    @property
    def shows_probabilities_of_classes(self) -> Mapping[str, object]:
        if self.loss.name != "logistic" or self.costs:
            return {}
        return {"probabilities": True, "scores": False}

    defaults = DyadicConfig.defaults
    initial_learning_rate = DyadicConfig.initial_learning_rate
    kind = FilterTreeConfig.kind
    count = FilterTreeConfig.count

    decay = DyadicConfig.decay

    @property
    def linear_decay(self) -> float:
        return self.linear_l2

    @property
    def pairs_by_position(self) -> bool:
        return bool(self.pairs) and not self.rank

    @property
    def vector_length(self) -> int:
        return max(self.rank, 1) if self.pairs else self.rank

    @property
    def fewest_updates(self) -> int:
        """Vectors of fewer updates count as 0 in predictions."""
        return 0 if self.dot_unseen == "start" else self.min_updates
