"""Options of updates without a learning rate (``--coin``, ``--pistol``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import OF_RATES, OF_UPDATES, GdConfig


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
