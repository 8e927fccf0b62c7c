"""Batch optimisation of several outputs: the kernel is ``cython_ext/learners/bfgs_outputs.pyx``."""

from __future__ import annotations

from vwlite._native import bfgs_outputs as kernel
from vwlite._native import outputs as predictor
from vwlite.learners.batch_vectors import BatchVectors
from vwlite.learners.configs.bfgs_outputs import BfgsOutputsConfig
from vwlite.learners.outputs import Outputs


class BfgsOutputs(BatchVectors, Outputs):
    """Minimises the sum of the losses of all outputs, in the slots that ``Outputs`` has."""

    name = "bfgs_outputs"
    config_type = BfgsOutputsConfig
    of_passes, predictor = kernel, predictor

    @staticmethod
    def shares_sums(config: BfgsOutputsConfig, learning: bool) -> bool:
        return False
