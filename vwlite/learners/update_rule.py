"""One weight a feature, learned in another way than gradient descent; see ``cython_ext/learners/update_rule.pxd``."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite._native import rule_learner as kernel
from vwlite.learners.gd import Gd
from vwlite.storage.weight_table import zeros


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
