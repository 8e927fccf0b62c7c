"""Updates without a learning rate: coin betting and PiSTOL; the kernel is ``cython_ext/learners/coin.pyx``."""

from vwlite._native import coin as kernel
from vwlite.learners.configs.coin import CoinConfig
from vwlite.learners.gd import KernelConfig
from vwlite.learners.update_rule import UpdateRule

NAMES = ("w", "sum", "size", "largest", "won", "steepest")  # of the table's columns; two more make it eight


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
