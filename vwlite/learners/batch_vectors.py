"""Batch optimisation of several numbers for each example, whose weights stand side by side and are one vector."""

from __future__ import annotations

import numpy as np

from vwlite.learners.bfgs import Bfgs


class BatchVectors(Bfgs):
    """Stands before the learner of gradient descent that says where weights are, what labels are, and what is reported.

    ``vectors`` float64[2^bits, 3] has contiguous columns.
    """

    standstill = 1e-14  # losses that match a transfer are of double precision
    tests_on_copy = False

    def begin_passes(self) -> None:
        super().begin_passes()
        self.pass_scratch = np.zeros((4, 1 << self.kernel.shift))  # in use by the kernel for one example

    def no_sums(self) -> np.ndarray:
        return np.zeros((3, 1 << self.bits)).T
