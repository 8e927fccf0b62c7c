"""Batch optimisation of several numbers for each example, whose weights stand side by side and are one vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.learners.bfgs import Bfgs


class BatchVectors(Bfgs):
    """``vectors`` float64[2^bits, 3] has contiguous columns. ``layout`` is known before ``begin_passes``."""

    standstill = 1e-14  # losses that match a transfer are of double precision
    tests_on_copy = False

    def begin_passes(self) -> None:
        super().begin_passes()
        self.pass_scratch = np.zeros((4, 1 << self.kernel.shift))  # in use by the kernel for one example

    def no_sums(self) -> np.ndarray:
        return np.zeros((3, 1 << self.bits)).T

    def tester(self, **changes: Any) -> Any:
        other = super().tester(**changes)
        other.native = self.predictor
        return other
