"""Gradient descent: configuration, state arrays, calls into the kernel ``cython_ext/learners/gd.pyx``."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from vwlite._native import gd as kernel
from vwlite.batch import Batch
from vwlite.errors import Diverged, UsageError
from vwlite.expand import Plan
from vwlite.losses import LossConfig, link_code
from vwlite.results import Results
from vwlite.table import zeros

OK, NO_MEMORY, UNSTABLE = 0, 101, 102  # of core/status.pxd
SCALARS = (
    "norm_sum",  # sum of squared normalised inputs, times importance
    "norm_weight",  # sum of importance over the same updates
    "time",  # sum of importance over all examples
    "held_weight",  # the part of it that was held out
    "unlabeled_weight",  # the part of it without a label
    "gravity",  # L1 shrinkage not yet applied to the table
    "contraction",  # L2 shrinkage not yet applied to the table
    "min_label",
    "max_label",
    "rate",  # learning rate, decayed by the passes so far
    "multiplier",  # global scale of the last update with a loss
)
COLUMNS = ("w", "adaptive", "normalized")  # of the table; a fourth is scratch


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
    constant: float = 0.0

    def __post_init__(self) -> None:
        link_code(self.link)
        for name in ("learning_rate", "initial_t", "decay_learning_rate", "l1", "l2", "sparse_l2"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"--{name} takes a number of 0 or more, not {value:g}")

    @property
    def modes(self) -> tuple[bool, bool, bool]:
        """Whether updates are adaptive, normalized, invariant."""
        named = (self.adaptive, self.normalized, self.invariant)
        return named if self.sgd or any(named) else (True, True, True)

    @property
    def start_time(self) -> float:
        adaptive, normalized, _ = self.modes
        if self.initial_t is not None:
            return self.initial_t
        return 0.0 if adaptive or normalized else 1.0

    @property
    def start_rate(self) -> float:
        """The learning rate; without adaptive and normalized it is stretched by ``initial_t ** power_t``."""
        adaptive, normalized, _ = self.modes
        rate = self.learning_rate
        if rate is None:
            rate = 0.5 if adaptive and normalized else 10.0
        if adaptive or normalized:
            return rate
        return float(np.float32(np.float32(rate) * np.float32(self.start_time) ** np.float32(self.power_t)))

    @property
    def frozen_range(self) -> tuple[float, float] | None:
        """The label range when it is given; the bound not given is 0."""
        if self.min_prediction is None and self.max_prediction is None:
            return None
        return self.min_prediction or 0.0, self.max_prediction or 0.0


class KernelConfig:
    """``GdConfig`` in the words of the kernel."""

    def __init__(self, config: GdConfig, *, strict: bool, frozen: bool) -> None:
        self.loss_code, self.link_code = config.loss.loss.code, link_code(config.link)
        self.tau, self.expectile, self.logistic_min, self.logistic_max = map(float, config.loss.params()[:4])
        self.adaptive, self.normalized, self.invariant = config.modes
        self.power_t = config.power_t
        self.l1, self.l2, self.sparse_l2 = config.l1, config.l2, config.sparse_l2
        self.frozen = frozen or config.frozen_range is not None
        self.strict = strict


class Gd:
    """The learner's state: ``weights`` float32[2^bits, stride] and ``scalars`` float64[len(SCALARS)].

    With ``strict`` the first number that is not finite raises ``Diverged``; without it counts as 0.
    """

    name = "gd"

    def __init__(
        self, config: GdConfig, bits: int, *, learning: bool = True, strict: bool = True, start: bool = True
    ) -> None:
        self.config, self.bits, self.learning, self.strict = config, bits, learning, strict
        adaptive, normalized, _ = config.modes
        self.stride = 4 if learning and (adaptive or normalized) else 1
        self.weights = zeros(1 << bits, self.stride)
        self.scalars = np.zeros(len(SCALARS))
        self.kernel = KernelConfig(config, strict=strict, frozen=not learning)
        self.mask: np.ndarray | None = None  # uint8[2^bits], 0 where nothing is learned
        self.set_scalars()
        if start:
            self.set_weights()

    def set_scalars(self) -> None:
        """The numbers before the first example."""
        config = self.config
        low, high = config.frozen_range or config.loss.loss.initial_range
        self.set(contraction=1.0, min_label=low, max_label=high, multiplier=1.0)
        self.set(time=config.start_time, rate=config.start_rate)
        if config.initial_t:
            self.set(norm_sum=config.initial_t, norm_weight=config.initial_t)

    def set_weights(self) -> None:
        """The table before the first example."""
        config = self.config
        if config.initial_t and self.stride == 4 and config.modes[0]:
            self.weights[:, 1] = config.initial_t
        if config.initial_weight:
            self.weights[:, 0] = config.initial_weight
        if config.constant:
            self.weights[11650396 & ((1 << self.bits) - 1), 0] = config.constant

    def get(self, name: str) -> float:
        return float(self.scalars[SCALARS.index(name)])

    def set(self, **values: float) -> None:
        for name, value in values.items():
            self.scalars[SCALARS.index(name)] = value

    def mask_with(self, mask: np.ndarray) -> None:
        """Learn only slots where ``mask``, uint8[2^bits], is not 0."""
        self.mask = mask

    @property
    def label_range(self) -> tuple[float, float]:
        return self.get("min_label"), self.get("max_label")

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> None:
        """Predict the rows ``begin`` to ``end`` in order and, unless this learner only tests, learn them.

        Raises Diverged (strict only) when a prediction or an update is not finite, MemoryError.
        """
        status, row = kernel.run_rows(self, self.kernel, plan, batch, results, begin, (end, self.learning))
        if status == UNSTABLE:
            raise Diverged(
                f"the prediction or the update of example {row - begin} of this batch is not a finite number; "
                "try a smaller learning rate (-l) or scale the features"
            )
        if status == NO_MEMORY:
            raise MemoryError("an example's interactions need more memory than there is")

    def end_pass(self) -> None:
        self.set(rate=self.get("rate") * self.config.decay_learning_rate)

    def apply_shrinkage(self) -> None:
        """Bring outstanding L1 and L2 shrinkage into the weights."""
        if self.get("gravity") or self.get("contraction") != 1:
            kernel.apply_shrinkage(self, self.kernel)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the table's columns that a model keeps."""
        if self.stride == 1:
            return COLUMNS[:1]
        return (*COLUMNS, "rate") if self.config.sparse_l2 else COLUMNS

    def header(self) -> dict[str, Any]:
        return {
            "learner": self.name,
            "config": asdict(self.config),
            "scalars": {name: float(value) for name, value in zip(SCALARS, self.scalars, strict=True)},
        }


def config_from_header(header: dict[str, Any], **changes: Any) -> GdConfig:
    """The configuration a model was trained with, but for ``changes``."""
    stored = dict(header["config"])
    config = GdConfig(**{**stored, "loss": LossConfig(**stored["loss"])})
    return replace(config, **changes)
