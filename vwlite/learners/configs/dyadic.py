"""Options of dyadic models (``--dotproduct``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.losses import LossConfig, link_code
from vwlite.learners.prediction_limits import given_range

# Learning rate and L2 decay of latent vectors, chosen on MovieLens-100K and 1M: losses of bounded slope, others.
BOUNDED_DEFAULTS, CURVED_DEFAULTS = (0.2, 0.035), (0.04, 0.12)
BOUNDED_LOSSES = ("hinge", "quantile", "logistic")


@dataclass(frozen=True, slots=True)
class DyadicConfig:
    """Options of a dyadic model. ``learning_rate`` and ``dot_l2`` None depend on the loss.

    ``rank`` 0 pairs the features of both sides by position. The rate of the example at time t, the importance learned
    so far, is ``learning_rate * decay_learning_rate^passes * (initial_t / (initial_t + t))^power_t``.
    """

    loss: LossConfig = field(default_factory=LossConfig)
    link: str = "identity"
    pairs: int = 1
    rank: int = 10
    learning_rate: float | None = None
    decay_learning_rate: float = 0.75
    power_t: float = 0.0
    initial_t: float = 1.0
    dot_l2: float | None = None
    dot_init: float = 0.1
    dot_init_kind: str = "uniform"
    dot_offset: float = 0.0
    no_dot_linear: bool = False
    random_seed: int = 0
    min_prediction: float | None = None
    max_prediction: float | None = None

    learner: ClassVar[str] = "dyadic"
    default_loss: ClassVar[str] = "squared"

    def __post_init__(self) -> None:
        link_code(self.link)
        if not self.loss.loss.dyadic:
            raise UsageError(f"--loss_function {self.loss.name} does not go with --dotproduct")
        if not 0 <= self.rank <= 4096:
            raise UsageError(f"--rank takes 0 to 4096, not {self.rank}")
        if not 1 <= self.pairs <= 16:
            raise UsageError("--dotproduct may be given 16 times at most")
        if self.dot_init_kind not in ("uniform", "normal"):
            raise UsageError(f"--dot-init-kind is uniform or normal, not {self.dot_init_kind!r}")
        for name in ("learning_rate", "decay_learning_rate", "power_t", "initial_t", "dot_l2", "dot_init"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"--{name} takes a number of 0 or more, not {value:g}")
        if not abs(self.dot_offset) < float("inf"):
            raise UsageError(f"--dot-offset takes a finite number, not {self.dot_offset:g}")
        if self.power_t and not self.initial_t:
            raise UsageError("--power_t of a dyadic model needs an --initial_t above 0")

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
