"""Networks of tanh units with an output for each class; the kernel is ``cython_ext/learners/nn_classes.pyx``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite._native import nn_classes as kernel
from vwlite.config_check import count_in
from vwlite.learners.base import Learner
from vwlite.learners.configs.nn_classes import NnClassesConfig
from vwlite.learners.network import NetworkKernelConfig, NetworkTables
from vwlite.learners.softmax import SCALARS, Multiclass, MulticlassKernelConfig
from vwlite.storage.weight_table import Table


class NnClassesKernelConfig(MulticlassKernelConfig):
    def __init__(self, config: NnClassesConfig, *, vw_compat: bool) -> None:
        super().__init__(config, vw_compat=vw_compat)
        self.network = NetworkKernelConfig(config)


class NnClasses(NetworkTables, Multiclass):
    """A network whose loss is that of the softmax of its outputs."""

    name = "nn_classes"
    config_type = NnClassesConfig
    SCALARS = (*SCALARS, "learned")  # as in ``Nn``
    native = kernel
    supports_audit = is_sum = False
    class_names = ()

    def __init__(
        self, config: NnClassesConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        Learner.__init__(self, config, bits, learning=learning, vw_compat=vw_compat)
        self.kernel = NnClassesKernelConfig(config, vw_compat=vw_compat)
        self.layout = self.make_tables(bits, learning, start)
        self.stride, self.start_time, self.means = 1, 0.0, None
        self.mask: np.ndarray | None = None
        self.set(rate=config.initial_learning_rate, first=-1 if config.classes.first is None else config.classes.first)
        self.raw, self.score = np.zeros((2, 1, config.count), np.float32)
        self.wants_scores = config.probabilities or config.scores
        self.log_loss = np.zeros((2, 2))  # as in PerClass
        self.hidden_labels: np.ndarray | None = None

    @classmethod
    def slot_bytes(cls, config: NnClassesConfig, learning: bool) -> float:
        return cls.bytes_of(config, learning)

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        _, labels, predictions = super().described
        return ("nn", self.config.class_loss), labels, predictions

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return self.network_tables(predict_only)

    def header(self) -> dict[str, Any]:
        header = Learner.header(self)
        del header["config"]["group_l1"]  # which these models never have
        return header

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        if whole:
            self.set(**{name: float(scalars[name]) for name in self.SCALARS})
        self.set(learned=count_in(scalars, "learned") if whole else 0.0)
        self.load_tables(arrays, whole and self.learning)
