"""Networks as vw has them (``vwlite vw --nn``); the kernel is ``cython_ext/learners/vw_nn.pyx``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite._native import vw_nn as kernel
from vwlite.errors import UsageError
from vwlite.learners.configs.vw_nn import VwNnConfig
from vwlite.learners.gd import Gd, KernelConfig
from vwlite.storage.array_check import matrix


class VwNnKernelConfig(KernelConfig):
    def __init__(self, config: VwNnConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.units, self.shift = config.vw_nn, config.vw_nn.bit_length()


class VwNn(Gd):
    """Gradient descent on every unit. Slot ``(hash * W + n) mod 2^bits`` is unit n's weight; W is a power of two.

    ``norms`` float64[units + 1, 3] has the scalars that each unit, and the output, has of its own.
    """

    name = "vw_nn"
    config_type = VwNnConfig
    native = kernel
    kernel_config = VwNnKernelConfig
    supports_audit = is_sum = False

    def __init__(
        self, config: VwNnConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        if self.kernel.shift > bits:
            raise UsageError(f"--nn {config.vw_nn} needs more than the {1 << bits} slots of -b {bits}")
        self.layout = self.kernel.shift, config.vw_nn
        self.norms = np.tile([0.0, 0.0, 1.0], (config.vw_nn + 1, 1))
        self.random_state = np.array([config.random_seed], np.uint64)

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        _, labels, predictions = super().described
        return ("gd", "nn", f"scorer-{self.config.link}"), labels, predictions

    def header(self) -> dict[str, Any]:
        return {**super().header(), "norms": self.norms.tolist(), "chance": int(self.random_state[0])}

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: VwNnConfig) -> None:
        if len(header["norms"]) != config.vw_nn + 1:
            raise ValueError(f"norms are of {len(header['norms'])} units and outputs, not {config.vw_nn + 1}")

    @classmethod
    def config_from(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Any:
        made, typed = stored["vw_nn"], changes.get("vw_nn", stored["vw_nn"])
        if typed != made:
            raise UsageError(f"--nn {typed} contradicts the model, which was made with --nn {made}")
        return super().config_from(stored, changes)

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        if whole:
            self.norms = matrix(header["norms"], "norms", self.norms.shape)
            self.random_state[0] = header["chance"]
