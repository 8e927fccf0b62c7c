"""Options of dyadic models (``--dotproduct``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, Self

from vwlite.errors import UsageError
from vwlite.features.config import read_numbers
from vwlite.learners.configs.base import LearnerConfig, check_levels, random_seed, show_number
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LossConfig, given_range
from vwlite.options import again, config, option

# Learning rate and L2 decay of latent vectors, chosen on MovieLens-100K and 1M: losses of small slope, others.
SMALL_SLOPE_DEFAULTS, OTHER_DEFAULTS = (0.2, 0.035), (0.04, 0.12)
# The same where rates are adaptive, but for the rate of all, and the power and the decay by passes.
SMALL_SLOPE_ADAPTIVE, OTHER_ADAPTIVE, POWER, PASS_DECAYS = (0.5, 0.21), (0.5, 0.75), 0.25, (1.5, 4.0)
ONE_RATE = "add --dot-rates global"
SMALL_SLOPE_LOSSES = ("hinge", "quantile", "truncated", "geman_mcclure", "tanh", "logistic")
SECTION = "Dot products of latent vectors"
NEGATIVES = "Negative examples for --dotproduct"


def check_flow(loss: LossConfig, option: str) -> None:
    """Raises UsageError for a loss that no exact update lowers."""
    if not loss.loss.dyadic:
        raise UsageError(
            f"--loss_function {loss.name} does not go with {option}: its exact update ends at the margin 0, where "
            "training starts; --loss_function hinge goes on to the margin 1"
        )


def by_loss(position: int) -> str:
    """The defaults at this position of the pairs above, for --help."""
    *names, last = SMALL_SLOPE_LOSSES
    losses = f"{', '.join(names)} or {last} loss"
    return f"{SMALL_SLOPE_DEFAULTS[position]:g} with {losses}, else {OTHER_DEFAULTS[position]:g}"


def check_vectors(config: Any) -> None:
    """Fills in the scale of start values. Raises UsageError for options of vectors that contradict each other."""
    if config.dot_init is None:
        object.__setattr__(config, "dot_init", 0.1 / math.sqrt(max(config.rank, 1)))
    if not config.dot_init and not config.dot_offset:
        raise UsageError("--dot-init 0 never learns: vectors of 0 do not move each other; add a --dot-offset")
    if config.dot_l2_of == "weights" and not config.dot_offset:
        raise UsageError("--dot-l2-of weights does nothing without --dot-offset")
    if any(not 0 <= decay < math.inf for decay in (*config.decays.values(), config.decay)):
        raise UsageError(f"--dot-l2 takes numbers of 0 or more, not {config.dot_l2}")


def check_rates(config: Any, usual: Mapping[str, float]) -> None:
    """Fills in what depends on the rates, ``usual`` with a global one. Raises UsageError for what needs one."""
    filled = {"dot_l2_power": POWER, "first_pass_t": 0.0} if config.own_rates else {"dot_l2_power": 0.0, **usual}
    for name, value in filled.items():
        if getattr(config, name) is None:
            object.__setattr__(config, name, value)
    for typed, name in ((config.first_pass_t, "--dot-first-t"), (config.power_t, "--power_t")):
        if config.own_rates and typed:
            raise UsageError(f"{name} does not go with rates that are adaptive: {ONE_RATE}")


@config
class DyadicConfig(LearnerConfig):
    """Options of a dyadic model. ``learning_rate`` and ``dot_l2`` None depend on the loss.

    ``rank`` 0 pairs the features of both sides by position. The rate of the example at time t, the importance learned
    so far, is ``learning_rate * decay_learning_rate^passes * (initial_t / (initial_t + t))^power_t``. With power_t 0 it
    is multiplied by ``sqrt(first_pass_t / (first_pass_t + t))`` in the first pass, which may be the only one, and in
    later ones where ``decay_learning_rate`` is 1. With ``dot_rates`` adaptive rates are as
    ``cython_ext/learners/dyadic_rates.pxd`` has them.
    """

    loss: LossConfig = field(default_factory=LossConfig)
    link: str = again(GdConfig, "link", "identity", shown="as the loss has it")
    pairs: int = 1
    rank: int = option(
        10, "Length of the latent vectors; 0 pairs features by position.", section=SECTION, low=0, high=4096,
        settled=True,
    )
    dot_rates: str | None = option(
        "global", "A learning rate for each vector and weight (adaptive), or one for all (global).",
        section=SECTION, spelled=("--dot-rates",), choices=("adaptive", "global"), settled=True,
    )
    learning_rate: float | None = again(GdConfig, "learning_rate", None, shown=by_loss(0))
    decay_learning_rate: float | None = again(
        GdConfig, "decay_learning_rate", None, shown="0.75, at which nothing is learned after some 20 passes"
    )
    power_t: float = again(GdConfig, "power_t", 0.0, low=0)
    initial_t: float = again(GdConfig, "initial_t", 1.0)
    first_pass_t: float | None = option(
        None, "In the first pass the rate falls as sqrt(X / (X + t)), t the importance so far; 0: it does not.",
        section=SECTION, spelled=("--dot-first-t",), low=0, shown="3000",
    )
    dot_l2: float | str | None = option(
        None, "L2 decay of the latent vectors, of all or by namespace.", section=SECTION, spelled=("--dot-l2",),
        read_as="decays", metavar="X|NS=X,...", shown=by_loss(1),
    )
    dot_l2_power: float | None = option(
        None, "Vectors and weights that were updated n times decay with (1 + n)^-X of the L2.", section=SECTION,
        spelled=("--dot-l2-power",), low=0, shown="0",
    )
    dot_pass_l2: float | None = option(
        None, "Of adaptive rates: from the second pass on, a vector or weight that is updated n times a pass also "
        "decays with X / n.",
        section=SECTION, spelled=("--dot-pass-l2",), low=0, shown="by the loss, 1.5 or 4",
    )
    dot_l2_of: str = option(
        "sums", "With --dot-offset: what decays, the vectors with the offset (sums) or the weights themselves.",
        section=SECTION, spelled=("--dot-l2-of",), choices=("sums", "weights"),
    )
    linear_l2: float = option(
        0.0, "L2 decay of the linear weights of these namespaces.", section=SECTION, spelled=("--linear-l2",), low=0
    )
    dot_init: float | None = option(
        None, "Scale of the start values of latent vectors.", section=SECTION, spelled=("--dot-init",), low=0,
        settled=True,
        shown="0.1 / sqrt(rank)",
    )
    dot_init_kind: str = option(
        "uniform", "Distribution of these start values.", section=SECTION, spelled=("--dot-init-kind",),
        choices=("uniform", "normal"),
        settled=True,
    )
    dot_offset: float = option(
        0.0, "Add this to every element of both vectors.", section=SECTION, spelled=("--dot-offset",), settled=True
    )
    no_dot_linear: bool = option(
        False, "No linear weights for these namespaces.", section=SECTION, spelled=("--no-dot-linear",), settled=True
    )
    dot_unseen: str = option(
        "zero", "What vectors that were never updated count as in predictions: zero, or their start values.",
        section=SECTION, spelled=("--dot-unseen",), choices=("zero", "start"),
    )
    min_updates: int = option(
        1, "In predictions vectors of fewer updates count as 0.", section=SECTION, spelled=("--min-updates",), low=1,
        unit="updates",
    )
    negatives: int = option(
        0, "After each example learn N negative ones: the same with other items, drawn from those seen so far.",
        section=NEGATIVES, low=0, high=10_000, metavar="N", shown="none",
    )
    negatives_of: str = option(
        "", "The namespaces that make an item.", section=NEGATIVES, spelled=("--negatives-of",), metavar="NS,...",
        needs=("negatives",), shown="the second of --dotproduct",
    )
    negative_label: float | None = option(
        None, "The label of negative examples; examples of the data with this label are negative, too.",
        section=NEGATIVES,
        spelled=("--negative-label",), needs=("negatives",), shown="-1 with losses of two classes, else 0",
    )
    negative_weight: float = option(
        1.0, "The importance of each is X times that of its example.", section=NEGATIVES,
        spelled=("--negative-weight",), needs=("negatives",), above=0,
    )
    confidence_rate: float | None = option(
        None, "Of dot products: predict --confidence is for this learning rate.", section="Active learning",
        spelled=("--confidence-rate",), above=0, shown="the one that training began with",
    )
    random_seed: int = random_seed()
    levels: tuple[float, ...] = again(GdConfig, "levels", ())
    min_prediction: float | None = again(GdConfig, "min_prediction", None)
    max_prediction: float | None = again(GdConfig, "max_prediction", None)
    revision: int = 1  # 0: a dot product has the term rank * dot_offset^2, which is no part of the model of the posts

    learner: ClassVar[str] = "dyadic"
    supports_trees: ClassVar[bool] = True
    can_freeze: ClassVar[bool] = True
    selected_by: ClassVar[tuple[str, ...]] = ("dotproduct",)
    exclusivity: ClassVar[str] = "the prediction is a product of what is learned, not a sum of weights"
    written_as_text: ClassVar[bool] = False

    supports_levels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        check_levels(self)
        check_flow(self.loss, "--dotproduct")
        if not 1 <= self.pairs <= 16:
            raise UsageError("--dotproduct may be given 16 times at most")
        if self.dot_pass_l2 and not self.own_rates:
            raise UsageError("--dot-pass-l2 is for rates that are adaptive: add --dot-rates adaptive")
        if self.dot_pass_l2 is None:
            usual = PASS_DECAYS[self.loss.name not in SMALL_SLOPE_LOSSES] if self.own_rates else 0.0
            object.__setattr__(self, "dot_pass_l2", usual)
        check_rates(self, {"decay_learning_rate": 0.75, "first_pass_t": 3000.0})
        if self.power_t and not self.initial_t:
            raise UsageError("--power_t of a dyadic model needs an --initial_t above 0")
        check_vectors(self)
        if self.dot_unseen == "start" and self.min_updates > 1:
            raise UsageError("--dot-unseen start and --min-updates contradict each other: drop one")
        if self.linear_l2 and self.no_dot_linear:
            raise UsageError("--linear-l2 does nothing with --no-dot-linear")
        if self.negatives and self.levels:
            raise UsageError("--negatives does not go with --levels: what is drawn has no rating")
        if self.negatives and not self.loss.accepts(self.unwanted_label):
            rule = self.loss.label_rule
            raise UsageError(f"--negative-label {self.unwanted_label:g}: labels of this loss must be {rule}")
        if not 0 <= self.revision <= 1:
            raise UsageError(f"a dyadic model of revision {self.revision} needs a later version")

    @classmethod
    def restore(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Self:
        """Models of before ``revision`` predict as they did, and those of before ``dot_rates`` have a global rate."""
        before = {} if "revision" in stored else {"revision": 0, "dot_unseen": "start"}
        return super().restore({"dot_rates": "global", **before, **stored}, changes)

    def to_show(self, what: str) -> Mapping[str, object]:
        return show_number(self, what)

    @property
    def own_rates(self) -> bool:  # type: ignore[override]
        """Whether every vector and weight has a rate of its own."""
        return self.dot_rates == "adaptive"

    @property
    def takes_any_unit(self) -> bool:
        """Whether rates are in units of the labels' standard deviation."""
        return self.own_rates and not self.loss.loss.two_classes and self.loss.name not in ("logistic", "poisson")

    @property
    def defaults(self) -> tuple[float, float]:
        """Learning rate and L2 decay of vectors."""
        small = self.loss.name in SMALL_SLOPE_LOSSES
        if self.own_rates:
            return SMALL_SLOPE_ADAPTIVE if small else OTHER_ADAPTIVE
        return SMALL_SLOPE_DEFAULTS if small else OTHER_DEFAULTS

    @property
    def initial_learning_rate(self) -> float:
        return self.defaults[0] if self.learning_rate is None else self.learning_rate

    @property
    def unwanted_label(self) -> float:
        """The label of examples that are drawn; those with a larger one are wanted."""
        if self.negative_label is not None:
            return self.negative_label
        if self.loss.name == "logistic":
            return self.loss.logistic_min
        return -1.0 if self.loss.loss.two_classes else 0.0

    @property
    def flip_rate(self) -> float:
        """The learning rate at which confidences are found."""
        return self.initial_learning_rate if self.confidence_rate is None else self.confidence_rate

    @property
    def decays(self) -> dict[str, float]:
        """L2 decay by namespace, as typed."""
        return read_numbers(self.dot_l2, "--dot-l2") if isinstance(self.dot_l2, str) else {}

    @property
    def decay(self) -> float:
        """That of other namespaces."""
        return self.defaults[1] if self.dot_l2 is None or isinstance(self.dot_l2, str) else self.dot_l2

    @property
    def fewest_updates(self) -> int:
        """Vectors of fewer updates count as 0 in predictions."""
        return 0 if self.dot_unseen == "start" else self.min_updates

    @property
    def prediction_bounds(self) -> tuple[float, float] | None:
        return given_range(self.min_prediction, self.max_prediction)
