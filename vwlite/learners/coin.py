"""Updates without a learning rate: coin betting and PiSTOL; the kernel is ``cython_ext/learners/coin.pyx``."""

from collections.abc import Mapping
from typing import Any

from vwlite._native import coin as kernel
from vwlite.learners.base import restored_config
from vwlite.learners.configs.coin import CoinConfig
from vwlite.learners.gd import Gd, KernelConfig
from vwlite.storage.weight_table import Table, zeros

NAMES = ("w", "sum", "size", "largest", "won", "steepest")  # of the table's columns; two more make it eight


class CoinKernelConfig(KernelConfig):
    def __init__(self, config: CoinConfig, *, strict: bool, frozen: bool) -> None:
        super().__init__(config, strict=strict, frozen=frozen)
        self.coin = config.coin
        alpha, beta = (4.0, 1.0) if config.coin else (1.0, 0.5)
        self.ftrl_alpha = alpha if config.ftrl_alpha is None else config.ftrl_alpha
        self.ftrl_beta = beta if config.ftrl_beta is None else config.ftrl_beta


class Coin(Gd):
    """Coin betting or PiSTOL. While learning the table has eight columns, of which ``NAMES`` are kept."""

    name = "coin"
    native = kernel

    def __init__(
        self, config: CoinConfig, bits: int, *, learning: bool = True, strict: bool = True, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, strict=strict, start=False)
        if learning:
            self.stride = 8
            self.weights = zeros(1 << bits, self.stride)
        self.kernel = CoinKernelConfig(config, strict=strict, frozen=not learning)

    def set_scalars(self) -> None:
        super().set_scalars()
        self.set(norm_sum=0.0, norm_weight=0.0)  # whatever --initial_t is

    def set_weights(self) -> None:
        """All weights follow from the sums, and begin at 0."""

    @property
    def columns(self) -> tuple[str, ...]:
        return NAMES if self.stride > 1 else NAMES[:1]

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return {"weights": Table(self.weights, self.columns[:1] if predict_only else self.columns)}

    @classmethod
    def config_from(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> CoinConfig:
        return restored_config(CoinConfig, stored, changes)
