"""Gradient descent that predicts with the mean of its iterates; the kernel is ``cython_ext/learners/average.pyx``."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np

from vwlite._native import average as kernel
from vwlite._native import gd as gd_kernel
from vwlite.config_check import count_in
from vwlite.learners.base import Learner, table_of
from vwlite.learners.configs.gd import AverageConfig
from vwlite.learners.gd import SCALARS, Gd, KernelConfig
from vwlite.storage.weight_table import Table, written_chunks, zeros

SUMS = ("sum", "next_sum")  # columns of the table of sums that a model keeps; of others the weights are one
LAST, NUMBER = 2, 3  # columns
# scalars, after those of ``Gd``
OF_MEANS = ("learned", "mean_count", "mean_scales", "next_count", "next_scales", "settled_scale")


def number_of(learned: float, after: float) -> float:
    """The number of the mean after a number of examples; ``after`` below 0: it has begun anew at powers of 2."""
    return float(int(learned).bit_length()) if after < 0 else 0.0


def not_begun(learned: int, after: int | None) -> str:
    """The warning at the end of a run without a mean."""
    few = f"{learned} examples were learned, and --average_after is {after}"
    return f"{few}: the model has the last weights"


class AverageKernelConfig(KernelConfig):
    def __init__(self, config: AverageConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.average_after = -1 if config.average_after is None else config.average_after


class Average(Gd):
    """While it learns, ``weights`` has the last iterate and ``sums``, float32[2^bits, 4], what the mean is made of.

    A model has the mean as its weights; the last iterate, with what its steps need, and the sums are tables beside it.
    """

    name = "average"
    config_type = AverageConfig
    SCALARS = (*SCALARS, *OF_MEANS)
    native = kernel
    kernel_config = AverageKernelConfig

    def __init__(
        self, config: AverageConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        self.number = 0.0  # of the present mean
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.tests_on_copy = learning
        if learning:
            self.sums = zeros(1 << bits, 4)
            self.take_last(self.weights)
        else:
            self.native = gd_kernel

    def set_scalars(self) -> None:
        super().set_scalars()
        self.set(settled_scale=1.0)

    @classmethod
    def slot_bytes(cls, config: AverageConfig, learning: bool) -> float:
        return Gd.slot_bytes(config, learning) + 16.0 * learning

    def take_last(self, values: np.ndarray) -> None:
        """The first column of ``values`` is the last iterate."""
        for begin, end, _ in written_chunks(values):
            self.sums[begin:end, LAST] = values[begin:end, 0]

    def averaged(self, columns: int) -> np.ndarray:
        """float32[2^bits, columns]: the table, with the mean in place of the last iterate."""
        table = zeros(len(self.weights), columns)
        for begin, end, _ in written_chunks(self.weights):
            table[begin:end] = self.weights[begin:end, :columns]
            mean = np.empty(end - begin, np.float32)
            kernel.means(self, self.kernel, begin, mean)
            table[begin:end, 0] = mean
        return table

    def predicting(self) -> Learner:
        if not self.learning:
            return super().predicting()
        other = copy(self)
        other.weights = self.averaged(self.stride)
        return Gd.predicting(other)

    def tester(self, **changes: Any) -> Gd:
        other = super().tester(**changes)
        other.native = gd_kernel
        return other

    def prediction_weights(self) -> np.ndarray:
        return self.averaged(1) if self.learning else super().prediction_weights()

    def apply_shrinkage(self) -> None:
        if self.learning and self.owes_shrinkage:
            kernel.settle_all(self, self.kernel)
            super().apply_shrinkage()
            self.take_last(self.weights)
            self.set(settled_scale=1.0)
        else:
            super().apply_shrinkage()

    def warnings(self) -> list[str]:
        if not self.learning or self.get("mean_count") or not self.get("learned"):
            return super().warnings()
        return [*super().warnings(), not_begun(int(self.get("learned")), self.config.average_after)]

    def tables(self, predict_only: bool) -> dict[str, Table]:
        if not self.learning:
            return super().tables(predict_only)
        tables = {"weights": Table(self.averaged(1), self.columns[:1])}
        if predict_only:
            return tables
        for begin, end, _ in written_chunks(self.sums):
            kernel.bring_up_slots(self, self.kernel, begin, end)
        return {**tables, "last": Table(self.weights, self.columns), "sums": Table(self.sums, SUMS)}

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        resumes = whole and self.learning
        super().load({"weights": arrays["last"]} if resumes else arrays, scalars, whole)
        if resumes:
            self.load_sums(arrays, scalars)
        if self.learning:
            self.take_last(self.weights)

    def load_sums(self, arrays: Mapping[str, Any], scalars: Mapping[str, float]) -> None:
        """Raises ValueError for sums of another shape than the table."""
        self.set(**{name: float(scalars[name]) for name in OF_MEANS})
        self.number = number_of(count_in(scalars, "learned"), self.kernel.average_after)
        self.sums = table_of(arrays, "sums", 1 << self.bits, 4)
        for begin, end, _ in written_chunks(self.sums):
            self.sums[begin:end, NUMBER] = np.where(self.sums[begin:end].any(axis=1), np.float32(self.number), 0)
