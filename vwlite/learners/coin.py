"""Updates without a learning rate: coin betting and PiSTOL; the kernel is ``cython_ext/learners/coin.pyx``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vwlite._native import coin as kernel
from vwlite.errors import UsageError
from vwlite.learners.base import restored_config
from vwlite.learners.gd import OF_RATES, OF_UPDATES, Gd, GdConfig, KernelConfig
from vwlite.storage.weight_table import Table, zeros

NAMES = ("w", "sum", "size", "largest", "won", "steepest")  # of the table's columns; two more make it eight


@dataclass(frozen=True, slots=True)
class CoinConfig(GdConfig):
    """As ``GdConfig``, of which loss, bounds, ``ftrl_alpha`` (4; PiSTOL: 1) and ``ftrl_beta`` (1; 0.5) matter."""

    coin: bool = False
    pistol: bool = False

    learner: ClassVar[str] = "coin"

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.coin == self.pistol:
            raise UsageError("--coin and --pistol do not go together")
        if self.ftrl or self.binary or self.l1 or self.l2 or self.sparse_l2:
            raise UsageError("--coin and --pistol do not go with --ftrl, --binary and regularisation")

    @property
    def idle(self) -> tuple[str, tuple[str, ...]]:
        names = (*OF_RATES, *OF_UPDATES, "initial_weight", "constant")
        return "coin" if self.coin else "pistol", names

    def check_ftrl(self) -> None:
        for name in ("ftrl_alpha", "ftrl_beta"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"--{name} takes a number above 0, not {value:g}")


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
