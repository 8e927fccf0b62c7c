"""Neural networks of tanh units: with one output (``--nn``), with an output per class, and vw's (``vwlite vw --nn``).

The kernels are ``cython_ext/learners/{nn,vw_nn}.pyx``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from vwlite._native import nn as nn_kernel
from vwlite._native import vw_nn as vw_nn_kernel
from vwlite.config_check import JsonObject, count_in
from vwlite.errors import UsageError
from vwlite.features.hashing import mix64
from vwlite.learners.abilities import SizedByHeader
from vwlite.learners.base import Learner
from vwlite.learners.configs.nn import NnClassesConfig, NnConfig, VwNnConfig, dense_shapes, row_shift, row_units
from vwlite.learners.gd import SCALARS, Gd, KernelConfig
from vwlite.learners.softmax import SCALARS as MULTICLASS_SCALARS
from vwlite.learners.softmax import Multiclass, MulticlassKernelConfig
from vwlite.storage.model_file import matrix
from vwlite.storage.weight_table import Table, values_of, zeros

MASK = 2**64 - 1
GOLDEN_GAMMA = 0x9E3779B97F4A7C15  # increment of the SplitMix64 generator, as in the kernel
LAYER_GAMMA = 0xD6E8FEB86659FD93  # makes the seeds of layers differ


class NetworkKernelConfig:
    """The shape and options of a network, as its kernels read them."""

    def __init__(self, config: Any) -> None:
        self.hidden, self.outputs, self.shift = config.hidden, config.outputs, row_shift(config)
        self.inpass, self.dropout = config.inpass, config.dropout
        self.seed = (config.random_seed + 1) * GOLDEN_GAMMA & MASK


def uniform_values(seed: int, count: int) -> np.ndarray:
    """float64[count], uniform in (-1, 1): a hash of seed and position, the same as in the kernel."""
    positions = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN_GAMMA) + np.uint64(seed)
    return 2 * ((mix64(positions) >> np.uint64(12)) + 0.5) / 2.0**52 - 1


def initial_weights(config: Any, seed: int) -> Iterator[np.ndarray]:
    """float32[inputs, width] for every dense layer, with variance 2 / (inputs + units) (Glorot and Bengio, 2010)."""
    for number, (inputs, width) in enumerate(dense_shapes(config), 1):
        units = [*config.hidden[1:], config.outputs][number - 1]
        values = uniform_values(seed + number * LAYER_GAMMA & MASK, inputs * width).reshape(inputs, width)
        values[-1] = 0  # weights of the constant
        values[:, units:] = 0
        yield (math.sqrt(6 / (inputs - 1 + units)) * values).astype(np.float32)


class NetworkTables:
    """The weight tables of a network learner.

    ``weights`` and ``squares`` (sums of squared gradients) float32[2^bits, 1]: W slots per feature for the weights of
    the first layer, W being a power of two from 8 on. ``scale`` float32[2^bits / W, 1]: the largest absolute value of
    each feature. ``dense`` and ``dense_squares`` float32[n, 1]: the rows of all further layers, one after another.
    """

    config: Any
    weights: np.ndarray
    squares: np.ndarray
    scale: np.ndarray
    dense: np.ndarray
    dense_squares: np.ndarray

    def make_tables(self, bits: int, learning: bool, start: bool) -> tuple[int, int]:
        """Create the tables; the dense ones have initial weights if ``start``. Returns the layout of the weights.

        The layout is log2(W) and the number of weights in use per feature. Raises UsageError if ``bits`` are too few.
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
            parts = initial_weights(config, NetworkKernelConfig(config).seed)
            self.dense[:, 0] = np.concatenate([values.ravel() for values in parts])
        return shift, row_units(config)

    @staticmethod
    def bytes_per_slot(config: Any, learning: bool) -> float:
        """Memory for each of the 2^bits slots, in bytes."""
        return 4.0 * (2 + 0.5 ** row_shift(config)) if learning else 4.0

    def network_tables(self, predict_only: bool) -> dict[str, Table]:
        tables = {"weights": Table(self.weights, ("w",)), "dense": Table(self.dense, ("w",))}
        if not predict_only:
            tables |= {"squares": Table(self.squares, ("g",)), "scale": Table(self.scale, ("x",))}
            tables["dense_squares"] = Table(self.dense_squares, ("g",))
        return tables

    def load_tables(self, arrays: Mapping[str, Any], whole: bool) -> None:
        """Load the tables, those of training only if ``whole``. Raises ValueError for tables of other shapes."""
        names = ("weights", "dense", *(("squares", "scale", "dense_squares") if whole else ()))
        for name in names:
            values, old = values_of(arrays, name), getattr(self, name)
            if values.shape != old.shape:
                raise ValueError(f"a table {name} of shape {values.shape}, not {old.shape}")
            setattr(self, name, values)


class NnKernelConfig(KernelConfig):
    def __init__(self, config: NnConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.network = NetworkKernelConfig(config)


class Nn(NetworkTables, Gd):
    """A network with one output."""

    name = bottom = "nn"
    config_type = NnConfig
    SCALARS = (*SCALARS, "learned")  # number of examples learned, which seeds dropout
    native = nn_kernel
    is_sum = owes_shrinkage = False

    def __init__(
        self, config: NnConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        Learner.__init__(self, config, bits, learning=learning, vw_compat=vw_compat)
        self.kernel = NnKernelConfig(config, vw_compat=vw_compat, frozen=not learning)
        self.layout = self.make_tables(bits, learning, start)
        self.stride = 1
        self.mask: np.ndarray | None = None
        self.start_labels()
        self.set_scalars()

    @classmethod
    def slot_bytes(cls, config: NnConfig, learning: bool) -> float:
        return cls.bytes_per_slot(config, learning)

    def predicting(self) -> Learner:
        return self

    def apply_shrinkage(self) -> None:
        """Networks have no regularisation to apply."""

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return self.network_tables(predict_only)

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        for name in self.SCALARS:
            if whole or name in ("min_label", "max_label"):
                self.set(**{name: float(scalars[name])})
        self.load_labels(scalars)
        self.set(learned=count_in(scalars, "learned") if whole else 0.0)
        self.load_tables(arrays, whole and self.learning)


class NnClassesKernelConfig(MulticlassKernelConfig):
    def __init__(self, config: NnClassesConfig, *, vw_compat: bool) -> None:
        super().__init__(config, vw_compat=vw_compat)
        self.network = NetworkKernelConfig(config)


class NnClasses(NetworkTables, Multiclass):
    """A network with an output per class and the multinomial loss."""

    name = "nn_classes"
    config_type = NnClassesConfig
    SCALARS = (*MULTICLASS_SCALARS, "learned")  # as in ``Nn``
    native = nn_kernel.OfClasses
    is_sum = False
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
        return cls.bytes_per_slot(config, learning)

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        _, labels, predictions = super().description
        return ("nn", self.config.class_loss), labels, predictions

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return self.network_tables(predict_only)

    def header(self) -> JsonObject:
        header = Learner.header(self)
        del header["config"]["group_l1"]  # not an option of networks
        return header

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        if whole:
            self.set(**{name: float(scalars[name]) for name in self.SCALARS})
        self.set(learned=count_in(scalars, "learned") if whole else 0.0)
        self.load_tables(arrays, whole and self.learning)


class VwNnKernelConfig(KernelConfig):
    def __init__(self, config: VwNnConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.units, self.shift = config.vw_nn, config.vw_nn.bit_length()


class VwNn(Gd, SizedByHeader):
    """vw's network of one hidden layer, in which every unit has a gradient descent learner.

    The weight of unit n is in slot ``(hash * W + n) mod 2^bits``, W being a power of two. ``norms`` float64[units + 1,
    3]: the normalisation scalars of each hidden unit and of the output.
    """

    name = "vw_nn"
    config_type = VwNnConfig
    native = vw_nn_kernel
    kernel_config = VwNnKernelConfig
    is_sum = False

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
    def description(self) -> tuple[tuple[str, ...], str, str]:
        (_, *others), labels, predictions = super().description
        return ("gd", "nn", *others), labels, predictions

    def header(self) -> JsonObject:
        return {**super().header(), "norms": self.norms.tolist(), "chance": int(self.random_state[0])}

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: VwNnConfig) -> None:
        if len(header["norms"]) != config.vw_nn + 1:
            raise ValueError(f"norms are of {len(header['norms'])} units and outputs, not {config.vw_nn + 1}")

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        if whole:
            self.norms = matrix(header["norms"], "norms", self.norms.shape)
            self.random_state[0] = header["chance"]
