"""A network of tanh units with one output (``--nn``); the kernel is ``cython_ext/learners/nn.pyx``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from vwlite._native import nn as kernel
from vwlite.config_check import count_in
from vwlite.learners.base import Learner
from vwlite.learners.configs.nn import NnConfig
from vwlite.learners.gd import SCALARS, Gd, KernelConfig
from vwlite.learners.network import NetworkKernelConfig, NetworkTables
from vwlite.storage.weight_table import Table


class NnKernelConfig(KernelConfig):
    def __init__(self, config: NnConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.network = NetworkKernelConfig(config)


class Nn(NetworkTables, Gd):
    """A network whose loss is one of its output."""

    name = bottom = "nn"
    config_type = NnConfig
    SCALARS = (*SCALARS, "learned")  # examples, which tells what dropout leaves out
    native = kernel
    supports_audit = is_sum = False
    owes_shrinkage = False

    def __init__(
        self, config: NnConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        Learner.__init__(self, config, bits, learning=learning, vw_compat=vw_compat)
        self.kernel = NnKernelConfig(config, vw_compat=vw_compat, frozen=not learning)
        self.layout = self.make_tables(bits, learning, start)
        self.stride = 1
        self.mask: np.ndarray | None = None
        self.set_scalars()

    @classmethod
    def slot_bytes(cls, config: NnConfig, learning: bool) -> float:
        return cls.bytes_of(config, learning)

    def apply_shrinkage(self) -> None:
        """There is none."""

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return self.network_tables(predict_only)

    @classmethod
    def wanted(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        for name in self.SCALARS:
            if whole or name in ("min_label", "max_label"):
                self.set(**{name: float(scalars[name])})
        self.set(learned=count_in(scalars, "learned") if whole else 0.0)
        self.load_tables(arrays, whole and self.learning)
