"""Batch optimisation of classes: the kernel is ``cython_ext/learners/bfgs_multiclass.pyx``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite._native import bfgs_multiclass as kernel
from vwlite._native import softmax as predictor
from vwlite.learners.batch_vectors import BatchVectors
from vwlite.learners.configs.bfgs_multiclass import BfgsMulticlassConfig
from vwlite.learners.softmax import Multiclass


class BfgsMulticlass(BatchVectors, Multiclass):
    """Minimises the loss of all classes together, in the slots that ``Multiclass`` has."""

    name = "bfgs_multiclass"
    adapts = False
    config_type = BfgsMulticlassConfig
    of_passes, predictor = kernel, predictor

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        super().load(arrays, scalars, whole)
        if self.learning and not self.weights.flags.writeable:
            self.weights = np.array(self.weights)
