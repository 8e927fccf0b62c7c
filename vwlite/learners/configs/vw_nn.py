"""Options of networks as vw has them (``vwlite vw --nn``)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.nn import MAX_UNITS, units_of
from vwlite.options import config

REFUSED = ("l1", "l2", "sparse_l2", "ftrl", "initial_weight", "random_weights", "initial_t", "binary")


@config
class VwNnConfig(GdConfig):
    """As ``GdConfig``; ``vw_nn`` is the number of units, which ``vwlite vw`` calls ``--nn``."""

    vw_nn: int = 0
    random_seed: int = 0

    learner: ClassVar[str] = "vw_nn"
    asked_by: ClassVar[tuple[str, ...]] = ("vw_nn",)
    in_vw: ClassVar[bool] = False  # it keeps all options
    plays_in_trees: ClassVar[bool] = False
    has_sensitivity: ClassVar[bool] = False
    written_as_text: ClassVar[bool] = False
    takes_levels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if not 1 <= self.vw_nn <= MAX_UNITS:
            raise UsageError(f"--nn takes 1 to {MAX_UNITS} units, not {self.vw_nn}")
        for name in REFUSED:
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --nn")

    @property
    def option(self) -> str:
        return "nn"


def as_vw_has_it(typed: dict[str, Any], of_others: Collection[str]) -> dict[str, Any]:
    """The options of ``vwlite vw`` with ``--nn`` under its own name. Raises UsageError for what does not go with it.

    ``of_others``: the options that ask for other learners.
    """
    if "nn" not in typed:
        return typed
    for name in ("inpass", "dropout", "noconstant", "raw_predictions", *of_others):
        if name in typed:
            raise UsageError(f"--{name} does not go with --nn here (use 'vwlite train')")
    units = units_of(typed["nn"])
    if len(units) > 1:
        raise UsageError(f"--nn takes one number of units, not {typed['nn']} (use 'vwlite train')")
    return {**{name: value for name, value in typed.items() if name != "nn"}, "vw_nn": units[0]}
