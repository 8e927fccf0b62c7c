"""Batch optimisation of classes: the kernel is ``cython_ext/learners/bfgs_multiclass.pyx``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite._native import bfgs_multiclass as kernel
from vwlite._native import softmax as predictor
from vwlite.learners.batch_vectors import BatchVectors
from vwlite.learners.bfgs import Bfgs
from vwlite.learners.configs.bfgs_multiclass import BfgsMulticlassConfig
from vwlite.learners.softmax import Multiclass
from vwlite.storage.weight_table import Table


class BfgsMulticlass(Multiclass, BatchVectors):
    """Minimises the loss of all classes together, in the slots that ``Multiclass`` has."""

    name = "bfgs_multiclass"
    adapts = False
    config_type = BfgsMulticlassConfig
    of_passes, predictor = kernel, predictor

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.begin_passes()

    @classmethod
    def slot_bytes(cls, config: BfgsMulticlassConfig, learning: bool) -> float:
        return Bfgs.slot_bytes(config, learning)

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return Bfgs.tables(self, predict_only)

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        super().load(arrays, scalars, whole)
        if self.learning and not self.weights.flags.writeable:
            self.weights = np.array(self.weights)
