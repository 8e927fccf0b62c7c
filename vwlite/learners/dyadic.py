"""Dyadic models (``--dotproduct``): configuration, state arrays, calls into ``cython_ext/learners/dyadic.pyx``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from vwlite._native import dyadic as kernel
from vwlite.arrays import np
from vwlite.config_check import count_in
from vwlite.errors import UsageError
from vwlite.learners.base import CommonConfig, Learner, given_range, restored_config
from vwlite.learners.losses import LossConfig, link_code
from vwlite.storage.weight_table import Table, any_set, set_slots, zeros

SCALARS = (
    "time",  # sum of importance of the examples learned
    "min_label",
    "max_label",
    "rate",  # learning rate, decayed by the passes so far
    "unbounded",  # updates that hit an iteration limit
    "mismatched",  # rows whose sides cannot be paired by position (rank 0)
)
COUNTS = ("unbounded", "mismatched")
# Learning rate and L2 decay of latent vectors, chosen on MovieLens-100K and 1M: losses of bounded slope, others.
BOUNDED_DEFAULTS, CURVED_DEFAULTS = (0.2, 0.035), (0.04, 0.12)
BOUNDED_LOSSES = ("hinge", "quantile", "logistic")
MASK = 2**64 - 1


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
    usual_loss: ClassVar[str] = "squared"

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
    def start_rate(self) -> float:
        return self.defaults[0] if self.learning_rate is None else self.learning_rate

    @property
    def decay(self) -> float:
        return self.defaults[1] if self.dot_l2 is None else self.dot_l2

    @property
    def frozen_range(self) -> tuple[float, float] | None:
        return given_range(self.min_prediction, self.max_prediction)


class KernelConfig(CommonConfig):
    """``DyadicConfig`` in the words of the kernel."""

    def __init__(self, config: DyadicConfig, *, strict: bool, frozen: bool) -> None:
        super().__init__(config, strict=strict, frozen=frozen)
        self.rank, self.decay, self.offset = config.rank, config.decay, config.dot_offset
        self.power_t, self.initial_t = config.power_t, config.initial_t
        self.scale, self.normal = config.dot_init, config.dot_init_kind == "normal"
        base = config.random_seed * 0x9E3779B97F4A7C15
        self.seeds = [
            [(base + (2 * pair + side + 1) * 0xD6E8FEB86659FD93) & MASK for side in range(2)]
            for pair in range(config.pairs)
        ]


class Dyadic(Learner):
    """A linear part, ``weights`` float32[2^bits, 1], and for both sides of every pair a table of latent vectors.

    ``latent[pair][side]`` is float32[2^bits, stride]: the vector, then the number of its updates, then padding.
    """

    name = "dyadic"
    asked_by = "dotproduct"
    SCALARS = SCALARS
    native = kernel
    tells_flips = True

    def __init__(
        self, config: DyadicConfig, bits: int, *, learning: bool = True, strict: bool = True, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, strict=strict)
        self.rank = max(config.rank, 1)
        self.stride = (self.rank + 4) // 4 * 4
        self.weights = zeros(1 << bits, 1)
        self.latent = [[self.table() if start else None for _ in range(2)] for _ in range(config.pairs)]
        self.kernel = KernelConfig(config, strict=strict, frozen=not learning)
        low, high = config.frozen_range or config.loss.start_range(strict)
        self.set(min_label=low, max_label=high, rate=config.start_rate)

    def table(self) -> np.ndarray:
        return zeros(1 << self.bits, self.stride)

    @property
    def drops_pairs(self) -> bool:  # type: ignore[override]
        return self.config.no_dot_linear

    def tables(self, predict_only: bool) -> dict[str, Table]:
        columns = (*(f"v{number}" for number in range(self.rank)), "updates")
        latent = {
            f"latent{pair}{'ab'[side]}": Table(table, columns)
            for pair, sides in enumerate(self.latent)
            for side, table in enumerate(sides)
        }
        return {"weights": Table(self.weights, ("w",)), **latent}

    @classmethod
    def wanted(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    @classmethod
    def config_from(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> DyadicConfig:
        return restored_config(DyadicConfig, stored, changes)

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        for name in COUNTS:
            count_in(scalars, name)
        for name in SCALARS:
            if whole or name in ("min_label", "max_label"):
                self.set(**{name: float(scalars[name])})
        self.weights = self.checked(arrays, "weights", 1)
        for pair in range(self.config.pairs):
            for side in range(2):
                self.latent[pair][side] = self.checked(arrays, f"latent{pair}{'ab'[side]}", self.stride)

    def complaints(self) -> list[str]:
        lines = []
        if mismatched := int(self.get("mismatched")):
            why = "a feature twice on one side of --dotproduct, or sides of different length"
            lines.append(f"{mismatched} examples so far have {why}: --rank 0 learns nothing from them")
        if unbounded := int(self.get("unbounded")):
            lines.append(f"{unbounded} updates so far stopped short of their end; try a smaller learning rate (-l)")
        return lines

    def has_learned_pair(self, number: int) -> bool:
        return all(any_set(table, self.rank) for table in self.latent[number])

    def factors(self, pair: int, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Slots uint32[n] that were ever updated and their vectors float32[n, rank]."""
        table = self.latent[pair][side]
        slots = set_slots(table, self.rank)
        return slots.astype(np.uint32), table[slots, : self.rank]
