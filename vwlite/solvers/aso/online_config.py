"""Options of ``vwlite aso learn`` for text that is learned as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vwlite.errors import UsageError
from vwlite.options import Config, config, option

if TYPE_CHECKING:
    from vwlite.solvers.aso.auxiliary import Aux

FEATURES = ("freq", "freq-k", "mask", "more")  # kinds whose problems are features


@config
class OnlineConfig(Config):
    """``online``: the first ``warmup`` examples choose problems and features, what follows is learned as it comes."""

    online: bool = option(False, "Hold the first examples in memory only; learn all others as they come.")
    initial: str | None = option(
        None, "Go on with a Theta that keeps its weights.", spelled=("-i", "--initial_theta"), key="initial",
        reads="Theta", shown="",
    )
    warmup: int = option(20_000, "Examples that choose problems and features.", low=1, needs=("online",))
    max_features: int = option(
        100_000, "Features at most; of later ones those of --min-count examples count.", spelled=("--max-features",),
        low=1, needs=("online", "initial"),
    )
    keep_weights: bool = option(
        False, "Keep the weights with Theta, so that -i can go on.", spelled=("--keep-weights",),
        needs=("online", "initial"),
    )


def check_kinds(kinds: tuple[Aux, ...]) -> None:
    """Raises UsageError for problems that cannot be made of examples one by one."""
    for aux in kinds:
        if aux.kind not in FEATURES or aux.joint:
            raise UsageError(f"--online has problems that predict features, {', '.join(FEATURES)}, not {aux.text}")
