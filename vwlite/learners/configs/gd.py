"""Options of gradient descent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.losses import LossConfig, link_code
from vwlite.learners.prediction_limits import given_range

OF_RATES = ("learning_rate", "power_t", "initial_t", "decay_learning_rate")  # options
OF_UPDATES = ("sgd", "adaptive", "normalized", "invariant")


@dataclass(frozen=True, slots=True)
class GdConfig:
    """Options of the update, as Vowpal Wabbit names and defaults them.

    Naming any of ``sgd``, ``adaptive``, ``normalized``, ``invariant`` switches on just those named; naming none means
    the last three. ``learning_rate`` None is 0.5, or 10 unless both adaptive and normalized are on.
    """

    loss: LossConfig = field(default_factory=LossConfig)
    link: str = "identity"
    sgd: bool = False
    adaptive: bool = False
    normalized: bool = False
    invariant: bool = False
    learning_rate: float | None = None
    power_t: float = 0.5
    initial_t: float | None = None
    decay_learning_rate: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    sparse_l2: float = 0.0
    min_prediction: float | None = None
    max_prediction: float | None = None
    initial_weight: float = 0.0
    random_weights: str | None = None  # or their distribution: uniform, normal, truncated
    weights_seed: int = 0
    constant: float = 0.0
    binary: bool = False  # predictions are -1 or 1, and the loss is their errors
    ftrl: bool = False
    ftrl_alpha: float | None = None  # 0.5
    ftrl_beta: float | None = None  # 1

    learner: ClassVar[str] = "gd"
    default_loss: ClassVar[str] = "squared"

    def __post_init__(self) -> None:
        link_code(self.link)
        for name in ("learning_rate", "initial_t", "decay_learning_rate", "l1", "l2", "sparse_l2"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"--{name} takes a number of 0 or more, not {value:g}")
        self.check_ftrl()

    def check_ftrl(self) -> None:
        for name in ("ftrl_alpha", "ftrl_beta"):
            if getattr(self, name) is not None and not self.ftrl:
                raise UsageError(f"--{name} needs --ftrl")
        if self.ftrl_alpha is not None and not 0 < self.ftrl_alpha < float("inf"):
            raise UsageError(f"--ftrl_alpha takes a number above 0, not {self.ftrl_alpha:g}")
        if self.ftrl_beta is not None and not 0 <= self.ftrl_beta < float("inf"):
            raise UsageError(f"--ftrl_beta takes a number of 0 or more, not {self.ftrl_beta:g}")
        if self.ftrl and (self.sgd or self.adaptive or self.normalized or self.invariant or self.sparse_l2):
            raise UsageError("--ftrl does not go with --sgd, --adaptive, --normalized, --invariant and --sparse_l2")

    @property
    def idle(self) -> tuple[str, tuple[str, ...]]:
        """An option, and others that do nothing beside it. (Not of ``ftrl``: spaces to tune have both it and rates.)"""
        return "", ()

    @property
    def modes(self) -> tuple[bool, bool, bool]:
        """Whether updates are adaptive, normalized, invariant."""
        if self.ftrl:  # a table with the same columns
            return True, True, True
        named = (self.adaptive, self.normalized, self.invariant)
        return named if self.sgd or any(named) else (True, True, True)

    @property
    def start_time(self) -> float:
        adaptive, normalized, _ = self.modes
        if self.initial_t is not None:
            return self.initial_t
        return 0.0 if adaptive or normalized else 1.0

    @property
    def initial_learning_rate(self) -> float:
        """The learning rate in float32; without adaptive and normalized it is stretched by ``initial_t ** power_t``."""
        import numpy as np  # not with the module: ``--help`` shows these options without it

        adaptive, normalized, _ = self.modes
        rate = self.learning_rate
        if rate is None:
            rate = 0.5 if adaptive and normalized else 10.0
        if adaptive or normalized:
            return float(np.float32(rate))
        return float(np.float32(rate) * np.float32(self.start_time) ** np.float32(self.power_t))

    @property
    def prediction_bounds(self) -> tuple[float, float] | None:
        return given_range(self.min_prediction, self.max_prediction)
