"""Options of batch optimisation (``--bfgs``, ``--conjugate_gradient``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import OF_RATES, OF_UPDATES, GdConfig


@dataclass(frozen=True, slots=True)
class BfgsConfig(GdConfig):
    """As ``GdConfig``, of which the loss, ``l2``, start values and the bounds of predictions matter."""

    bfgs: bool = True
    conjugate_gradient: bool = False
    hessian_on: bool = False  # a pass for the curvature before every step, not only the first
    mem: int = 15  # pairs of steps and gradients remembered
    termination: float = 0.001  # relative decrease of the loss below which the passes end

    learner: ClassVar[str] = "bfgs"

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if not 0 <= self.mem <= 1000:
            raise UsageError(f"--mem takes 0 to 1000, not {self.mem}")
        if not 0 <= self.termination < 1:
            raise UsageError(f"--termination takes a number from 0 to 1, not {self.termination:g}")
        for name in ("binary", "ftrl"):
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --bfgs")

    @property
    def idle(self) -> tuple[str, tuple[str, ...]]:
        names = (*OF_RATES, *OF_UPDATES, "l1", "sparse_l2", "shuffle", "shuffle_first")
        return ("conjugate_gradient", (*names, "mem", "hessian_on")) if self.conjugate_gradient else ("bfgs", names)

    @property
    def modes(self) -> tuple[bool, bool, bool]:
        return True, True, True  # a table with the same columns, whatever of the update was typed

    @property
    def memory(self) -> int:
        return 0 if self.conjugate_gradient else self.mem

    @property
    def curved(self) -> bool:
        return self.hessian_on or self.memory == 0
