"""Options of updates without a learning rate (``--coin``, ``--pistol``)."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import OF_RATES, OF_UPDATES, GdConfig
from vwlite.options import again, config, option


@config
class CoinConfig(GdConfig):
    """As ``GdConfig``, of which loss, bounds, ``ftrl_alpha`` (4; PiSTOL: 1) and ``ftrl_beta`` (1; 0.5) matter."""

    ftrl_alpha: float | None = again(GdConfig, "ftrl_alpha", None, shown="4 with --coin, 1 with --pistol")
    ftrl_beta: float | None = again(
        GdConfig, "ftrl_beta", None, low=None, above=0, shown="1 with --coin, 0.5 with --pistol"
    )
    coin: bool = option(False, "Coin betting, which needs no learning rate.", section="Update")
    pistol: bool = option(False, "PiSTOL, which needs none either.", section="Update")

    learner: ClassVar[str] = "coin"
    asked_by: ClassVar[tuple[str, ...]] = ("coin", "pistol")
    is_base: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.coin == self.pistol:
            raise UsageError("--coin and --pistol do not go together")
        if self.ftrl or self.l1 or self.l2 or self.sparse_l2:
            raise UsageError("--coin and --pistol do not go with --ftrl and regularisation")

    @property
    def idle(self) -> tuple[str, tuple[str, ...]]:
        names = (*OF_RATES, *OF_UPDATES, "initial_weight", "constant")
        return "coin" if self.coin else "pistol", names

    def check_ftrl(self) -> None:
        """These learners have the two parameters as well."""

    @property
    def differs_from_vw(self) -> str:
        if not self.binary:
            return super().differs_from_vw
        return "--binary over --coin and --pistol answers a few examples otherwise than vw"
