"""Options of dyadic models (``--dotproduct``)."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import LearnerConfig, show_number
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.shared import check_levels, random_seed
from vwlite.learners.losses import LossConfig
from vwlite.learners.prediction_limits import given_range
from vwlite.options import again, config, option

# Learning rate and L2 decay of latent vectors, chosen on MovieLens-100K and 1M: losses of bounded slope, others.
BOUNDED_DEFAULTS, CURVED_DEFAULTS = (0.2, 0.035), (0.04, 0.12)
BOUNDED_LOSSES = ("hinge", "quantile", "logistic")
SECTION = "Dot products of latent vectors"


def by_loss(position: int) -> str:
    """The defaults at this position of the pairs above, for --help."""
    *names, last = BOUNDED_LOSSES
    losses = f"{', '.join(names)} or {last} loss"
    return f"{BOUNDED_DEFAULTS[position]:g} with {losses}, else {CURVED_DEFAULTS[position]:g}"


@config
class DyadicConfig(LearnerConfig):
    """Options of a dyadic model. ``learning_rate`` and ``dot_l2`` None depend on the loss.

    ``rank`` 0 pairs the features of both sides by position. The rate of the example at time t, the importance learned
    so far, is ``learning_rate * decay_learning_rate^passes * (initial_t / (initial_t + t))^power_t``. With power_t 0 it
    is multiplied by ``sqrt(first_pass_t / (first_pass_t + t))`` in the first pass, which may be the only one, and in
    later ones where ``decay_learning_rate`` is 1.
    """

    loss: LossConfig = field(default_factory=LossConfig)
    link: str = again(GdConfig, "link", "identity", shown="as the loss has it")
    pairs: int = 1
    rank: int = option(
        10, "Length of the latent vectors; 0 pairs features by position.", section=SECTION, low=0, high=4096,
        settled=True,
    )
    learning_rate: float | None = again(GdConfig, "learning_rate", None, shown=by_loss(0))
    decay_learning_rate: float = again(GdConfig, "decay_learning_rate", 0.75)
    power_t: float = again(GdConfig, "power_t", 0.0, low=0)
    initial_t: float = again(GdConfig, "initial_t", 1.0)
    first_pass_t: float = option(
        3000.0, "In the first pass the rate falls as sqrt(X / (X + t)), t the importance so far; 0: it does not.",
        section=SECTION, spelled=("--dot-first-t",), low=0,
    )
    dot_l2: float | None = option(
        None, "L2 decay of the latent vectors.", section=SECTION, spelled=("--dot-l2",), low=0, shown=by_loss(1)
    )
    dot_init: float = option(
        0.1, "Scale of their start values.", section=SECTION, spelled=("--dot-init",), low=0, settled=True
    )
    dot_init_kind: str = option(
        "uniform", "Their distribution.", section=SECTION, spelled=("--dot-init-kind",), choices=("uniform", "normal"),
        settled=True,
    )
    dot_offset: float = option(
        0.0, "Add this to every element of both vectors.", section=SECTION, spelled=("--dot-offset",), settled=True
    )
    no_dot_linear: bool = option(
        False, "No linear weights for these namespaces.", section=SECTION, spelled=("--no-dot-linear",), settled=True
    )
    random_seed: int = random_seed()
    levels: tuple[float, ...] = again(GdConfig, "levels", ())
    min_prediction: float | None = again(GdConfig, "min_prediction", None)
    max_prediction: float | None = again(GdConfig, "max_prediction", None)

    learner: ClassVar[str] = "dyadic"
    plays_in_trees: ClassVar[bool] = True
    asked_by: ClassVar[tuple[str, ...]] = ("dotproduct",)
    alone: ClassVar[str] = "the prediction is a product of what is learned, not a sum of weights"
    written_as_text: ClassVar[bool] = False

    takes_levels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        check_levels(self)
        if not self.loss.loss.dyadic:
            raise UsageError(f"--loss_function {self.loss.name} does not go with --dotproduct")
        if not 1 <= self.pairs <= 16:
            raise UsageError("--dotproduct may be given 16 times at most")
        if self.power_t and not self.initial_t:
            raise UsageError("--power_t of a dyadic model needs an --initial_t above 0")

    def to_show(self, what: str) -> dict[str, Any]:
        return show_number(self, what)

    @property
    def defaults(self) -> tuple[float, float]:
        return BOUNDED_DEFAULTS if self.loss.name in BOUNDED_LOSSES else CURVED_DEFAULTS

    @property
    def initial_learning_rate(self) -> float:
        return self.defaults[0] if self.learning_rate is None else self.learning_rate

    @property
    def decay(self) -> float:
        return self.defaults[1] if self.dot_l2 is None else self.dot_l2

    @property
    def prediction_bounds(self) -> tuple[float, float] | None:
        return given_range(self.min_prediction, self.max_prediction)
