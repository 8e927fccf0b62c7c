"""The tables of networks of tanh units; the kernel's part is ``cython_ext/learners/network.pxd``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vwlite.errors import UsageError
from vwlite.features.random_features import mix64
from vwlite.learners.configs.nn import dense_shapes, row_shift, row_units
from vwlite.storage.weight_table import Table, values_of, zeros

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


class NetworkKernelConfig:
    """The network in the words of the kernel."""

    def __init__(self, config: Any) -> None:
        self.hidden, self.outputs, self.shift = config.hidden, config.outputs, row_shift(config)
        self.inpass, self.dropout = config.inpass, config.dropout
        self.seed = (config.random_seed + 1) * GOLDEN & MASK


def drawn(seed: int, count: int) -> np.ndarray:
    """float64[count] in (-1, 1), as in the kernel a function of seed and place."""
    places = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(seed)
    return 2 * ((mix64(places) >> np.uint64(12)) + 0.5) / 2.0**52 - 1


def start_values(config: Any, seed: int) -> Iterator[np.ndarray]:
    """float32[inputs, width] of every dense layer, of the variance 2 / (inputs + units) of Glorot and Bengio (2010)."""
    for number, (inputs, width) in enumerate(dense_shapes(config), 1):
        units = [*config.hidden[1:], config.outputs][number - 1]
        values = drawn(seed + number * 0xD6E8FEB86659FD93 & MASK, inputs * width).reshape(inputs, width)
        values[-1] = 0  # the constant's
        values[:, units:] = 0
        yield (math.sqrt(6 / (inputs - 1 + units)) * values).astype(np.float32)


class NetworkTables:
    """Of a learner: ``weights`` and ``squares`` float32[2^bits, 1], of every feature W weights of the first layer.

    W is 8 or a larger power of two. ``scale`` float32[2^bits / W, 1] has the largest size of every feature, ``dense``
    and ``dense_squares`` float32[n, 1] the rows of the layers above, one after the other.
    """

    config: Any
    weights: np.ndarray
    squares: np.ndarray
    scale: np.ndarray
    dense: np.ndarray
    dense_squares: np.ndarray

    def make_tables(self, bits: int, learning: bool, start: bool) -> tuple[int, int]:
        """Tables before the first example, the dense ones with their start values where ``start``; answers the layout.

        Raises UsageError where ``bits`` are too few.
        """
        config = self.config
        shift, dense = row_shift(config), sum(inputs * width for inputs, width in dense_shapes(config))
        if shift > bits:
            raise UsageError(f"--nn {config.nn} needs more than the {1 << bits} slots of -b {bits}")
        self.weights, self.dense = zeros(1 << bits, 1), zeros(dense, 1)
        self.squares, self.scale, self.dense_squares = (np.zeros((1, 1), np.float32) for _ in range(3))
        if learning:
            self.squares, self.dense_squares = zeros(1 << bits, 1), zeros(dense, 1)
            self.scale = zeros(1 << (bits - shift), 1)
        if start:
            parts = start_values(config, NetworkKernelConfig(config).seed)
            self.dense[:, 0] = np.concatenate([values.ravel() for values in parts])
        return shift, row_units(config)

    @staticmethod
    def bytes_of(config: Any, learning: bool) -> float:
        """Bytes for each of the 2^bits slots."""
        return 4.0 * (2 + 0.5 ** row_shift(config)) if learning else 4.0

    def network_tables(self, predict_only: bool) -> dict[str, Table]:
        tables = {"weights": Table(self.weights, ("w",)), "dense": Table(self.dense, ("w",))}
        if not predict_only:
            tables |= {"squares": Table(self.squares, ("g",)), "scale": Table(self.scale, ("x",))}
            tables["dense_squares"] = Table(self.dense_squares, ("g",))
        return tables

    def load_tables(self, arrays: Mapping[str, Any], whole: bool) -> None:
        """Raises ValueError for tables of other shapes."""
        names = ("weights", "dense", *(("squares", "scale", "dense_squares") if whole else ()))
        for name in names:
            values, old = values_of(arrays, name), getattr(self, name)
            if values.shape != old.shape:
                raise ValueError(f"a table {name} of shape {values.shape}, not {old.shape}")
            setattr(self, name, values)
