"""Updates without a learning rate: coin betting, PiSTOL and passive-aggressive ones; the kernel is
``cython_ext/learners/rule_learner.pyx``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite._native import rule_learner as kernel
from vwlite.learners.configs.gd import CoinConfig, PassiveAggressiveConfig
from vwlite.learners.gd import Gd, KernelConfig
from vwlite.storage.weight_table import zeros

NAMES = ("w", "sum", "size", "largest", "won", "steepest")  # of the table's columns; two more make it eight


class UpdateRule(Gd):
    """While learning the table has ``stride`` columns, of which a model keeps ``COLUMNS``; the weight is the first.

    The rule itself, a capsule from a kernel, is the ``rule`` of its ``kernel_config``.
    """

    COLUMNS: ClassVar[tuple[str, ...]]
    STRIDE: ClassVar[int]
    native = kernel
    tests_on_copy = True

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=False)
        if learning:
            self.stride = self.STRIDE
            self.weights = zeros(1 << bits, self.stride)

    @classmethod
    def slot_bytes(cls, config: Any, learning: bool) -> float:
        return 4.0 * (cls.STRIDE if learning else 1)

    def set_scalars(self) -> None:
        super().set_scalars()
        self.set(norm_sum=0.0, norm_weight=0.0)  # whatever --initial_t is

    def set_weights(self) -> None:
        """All weights follow from the sums, and begin at 0."""

    @property
    def columns(self) -> tuple[str, ...]:
        return self.COLUMNS if self.stride > 1 else self.COLUMNS[:1]


class CoinKernelConfig(KernelConfig):
    def __init__(self, config: CoinConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.rule = kernel.COIN if config.coin else kernel.PISTOL
        alpha, beta = (4.0, 1.0) if config.coin else (1.0, 0.5)
        self.ftrl_alpha = alpha if config.ftrl_alpha is None else config.ftrl_alpha
        self.ftrl_beta = beta if config.ftrl_beta is None else config.ftrl_beta


class Coin(UpdateRule):
    """Coin betting or PiSTOL."""

    name = bottom = "coin"
    config_type = CoinConfig
    COLUMNS, STRIDE = NAMES, 8
    kernel_config = CoinKernelConfig
    names_zero_weights = True

    @property
    def text_columns(self) -> list[int]:
        return list(range(6 if self.config.coin else 4))


class PassiveAggressiveKernelConfig(KernelConfig):
    def __init__(self, config: PassiveAggressiveConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        rules = kernel.OF_CLASSES if config.loss.name == "hinge" else kernel.OF_NUMBERS
        self.rule = rules[config.passive_aggressive]
        self.ftrl_alpha, self.ftrl_beta = config.aggressiveness, config.loss.tube


class PassiveAggressive(UpdateRule):
    """Passive-aggressive updates (Crammer and others, 2006): PA, PA-I and PA-II."""

    name = bottom = "passive_aggressive"
    config_type = PassiveAggressiveConfig
    COLUMNS, STRIDE = ("w",), 2
    kernel_config = PassiveAggressiveKernelConfig
