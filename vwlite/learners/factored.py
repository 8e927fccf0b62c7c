"""Several outputs, or classes, by a matrix of low rank: state arrays, calls to ``cython_ext/learners/factored.pyx``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np

from vwlite._native import factored as kernel
from vwlite.config_check import JsonObject
from vwlite.errors import UsageError
from vwlite.learners.abilities import FactoredWeights
from vwlite.learners.base import table_of
from vwlite.learners.configs.outputs import FactoredClassesConfig, FactoredConfig
from vwlite.learners.gd import Gd
from vwlite.learners.outputs import Outputs, OutputsKernelConfig
from vwlite.learners.softmax import SCALARS, Multiclass
from vwlite.learners.vw_random import uniform
from vwlite.storage.weight_table import Table, values_of, written_chunks, zeros

RATES = ("adaptive", "normalized", "reached", "reached_low")  # columns of the rates of features


def shift_of(config: FactoredConfig | FactoredClassesConfig) -> int:
    """The binary logarithm of the number of slots that the latent weights of a feature take."""
    return max((config.rank - 1).bit_length(), 3)


class FactoredTables(FactoredWeights):
    """Tables of weights that are a product of matrices, and what is the same whatever the loss; beside a learner.

    ``weights`` float32[2^bits, 1]: of every feature W latent weights; ``output_weights`` float32[outputs * W, 1], of
    outputs that may be classes. W is 8 or a larger power of two. ``rates`` float32[2^bits / W, 4] is of features, its
    columns are RATES; ``output_squares`` float32[outputs, 1] are sums of squared gradients, ``penalty`` float64[1] the
    sum of prices times step sizes, which rows of features have been shrunk by as far as their ``reached`` says.
    """

    config: Any
    bits: int
    learning: bool
    weights: np.ndarray
    layout: tuple[int, int]
    columns_are: ClassVar[str] = "outputs"  # of the matrix
    is_sum = owes_shrinkage = False
    class_names = ()

    def make_tables(self, config: FactoredConfig | FactoredClassesConfig, bits: int, learning: bool) -> None:
        """Create all tables but ``weights``. Raises UsageError if ``bits`` are too few."""
        shift = shift_of(config)
        if shift > bits:
            raise UsageError(f"latent weights of rank {config.rank} need more than the {1 << bits} slots of -b {bits}")
        self.layout = shift, config.rank
        self.rates = zeros(1 << (bits - shift), len(RATES)) if learning else None
        self.output_weights = np.zeros((config.outputs << shift, 1), np.float32)
        self.output_squares, self.penalty = np.zeros((config.outputs, 1), np.float32), np.zeros(1)
        self.latent_scratch = np.zeros((2, 1 << shift), np.float32)

    @classmethod
    def slot_bytes(cls, config: Any, learning: bool) -> float:
        return 4.0 + learning * 4.0 * len(RATES) / (1 << shift_of(config))

    def set_weights(self) -> None:
        """Rows of outputs begin at random numbers whose columns have about the length 1, those of features at 0."""
        outputs, rank = self.config.outputs, self.config.rank
        drawn = uniform(self.config.random_seed, outputs * rank).reshape(outputs, rank) - np.float32(0.5)
        self.factor_of_outputs[:, :rank] = drawn * np.float32(np.sqrt(12 / outputs))

    @property
    def factor_of_outputs(self) -> np.ndarray:
        """float32[outputs, W], a view."""
        return self.output_weights.reshape(self.config.outputs, -1)

    @property
    def own_settings(self) -> list[str]:
        most = f", the number of {self.columns_are}" if self.config.rank == self.config.outputs else ""
        return [f"rank = {self.config.rank}{most}"]

    def tester(self, **changes: Any) -> Any:
        return super().tester(**changes).predicting()  # type: ignore[misc]

    def predicting(self) -> Any:
        if self.rates is None:
            return self
        other = copy(self)
        other.learning, other.rates = False, None
        other.weights, other.output_weights = self.shrunk_weights(), self.output_weights.copy()
        return other

    def own_norms(self) -> JsonObject:
        table = self.weights.reshape(-1, 1 << self.layout[0])
        rows, outputs = table[table.any(axis=1)].astype(np.float64), self.factor_of_outputs.astype(np.float64)
        values = np.full(self.config.rank, np.nan)
        if not len(rows):
            values[:] = 0
        elif np.isfinite(rows).all() and np.isfinite(outputs).all():
            both = np.linalg.qr(rows, mode="r") @ np.linalg.qr(outputs, mode="r").T
            values = np.linalg.svd(both, compute_uv=False)[: self.config.rank]
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.maximum(((rows @ (outputs.T @ outputs)) * rows).sum(axis=1), 0))
        norms = {"2,1": lengths.sum(), "trace": values.sum(), "frobenius": np.sqrt((values**2).sum())}
        return {
            "norms": {name: float(value) for name, value in norms.items()}, "singular_values": values.tolist(),
        }

    def shrunk_weights(self) -> np.ndarray:
        """float32[2^bits, 1], a copy of the features' factor after what the penalty leaves of it."""
        if self.rates is None:
            return np.array(self.weights)
        weights, width = zeros(len(self.weights), 1), 1 << self.layout[0]
        for begin, end, _ in written_chunks(self.weights, width * max(1, (1 << 16) // width)):
            squares, scale, *reached = self.rates[begin // width : end // width].T.astype(np.float64)
            known = (squares > 0) & (scale > 0)
            rate = np.divide(1, np.sqrt(squares) * scale, out=np.zeros_like(scale), where=known)
            with np.errstate(over="ignore", invalid="ignore"):  # of rates and weights that are not finite
                left = np.exp(-(self.penalty[0] - sum(reached)) * rate).astype(np.float32)
                weights[begin:end] = (self.weights[begin:end].reshape(-1, width) * left[:, None]).reshape(-1, 1)
        return weights

    def tables(self, predict_only: bool) -> dict[str, Table]:
        weights = self.shrunk_weights() if predict_only else self.weights
        tables = {"weights": Table(weights, ("w",)), "output_weights": Table(self.output_weights, ("w",))}
        if not predict_only and self.rates is not None:
            tables |= {"rates": Table(self.rates, RATES), "output_rates": Table(self.output_squares, ("adaptive",))}
        return tables

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    def header(self) -> JsonObject:
        return {**super().header(), "penalty": float(self.penalty[0])}  # type: ignore[misc]

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)  # type: ignore[misc]
        total = float(header["penalty"])
        if not 0 <= total < np.inf:
            raise ValueError(f"a penalty of {total}")
        if whole:
            self.penalty[0] = total
        if whole and not self.learning:
            self.weights, self.rates = self.shrunk_weights(), None

    def load_tables(self, arrays: Mapping[str, Any], whole: bool) -> None:
        """Load tables, those of training only if ``whole``. Raises ValueError for tables of other shapes, KeyError."""
        self.weights = table_of(arrays, "weights", 1 << self.bits, 1)
        self.output_weights = like(arrays, "output_weights", self.output_weights)
        if whole:
            rows = len(self.weights) >> self.layout[0]
            self.rates = like(arrays, "rates", np.empty((rows, len(RATES)), np.float32))
            self.output_squares = like(arrays, "output_rates", self.output_squares)


def like(arrays: Mapping[str, Any], name: str, other: np.ndarray) -> np.ndarray:
    """The values of a table that has the shape of another. Raises ValueError, KeyError."""
    values = values_of(arrays, name)
    if values.shape != other.shape:
        raise ValueError(f"a table {name} of shape {values.shape}, not {other.shape}")
    return np.array(values) if not values.flags.writeable else values


class FactoredKernelConfig(OutputsKernelConfig):
    def __init__(self, config: FactoredConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.latent_shift, self.trace = shift_of(config), config.trace


class Factored(FactoredTables, Outputs):
    """Several numbers."""

    name = "factored"
    config_type = FactoredConfig
    native = kernel
    kernel_config = FactoredKernelConfig

    def __init__(
        self, config: FactoredConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        self.make_tables(config, bits, learning)
        Gd.__init__(self, config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.raw, self.score = np.zeros((2, 1, config.outputs), np.float32)
        self.scratch = np.zeros((4, config.outputs), np.float32)
        self.losses = np.zeros((2, config.outputs, 2))  # as in Outputs

    @staticmethod
    def column_count(config: FactoredConfig, learning: bool) -> int:
        return 1

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        return ("factored",), *super().description[1:]

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        self.load_tables(arrays, whole)
        if whole:
            self.set(rate=float(scalars["rate"]))


class FactoredClasses(FactoredTables, Multiclass):
    """Classes, by a loss of all scores together."""

    name = "factored_classes"
    config_type = FactoredClassesConfig
    native = kernel.OfClasses
    adapts = False  # single weights have no rates
    columns_are = "classes"

    def __init__(
        self,
        config: FactoredClassesConfig,
        bits: int,
        *,
        learning: bool = True,
        vw_compat: bool = False,
        start: bool = True,
    ) -> None:
        Multiclass.__init__(self, config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.make_tables(config, bits, learning)
        self.kernel.latent_shift, self.kernel.trace = shift_of(config), config.trace
        if start:
            self.set_weights()

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        return ("factored", self.config.class_loss), *super().description[1:]

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        self.load_tables(arrays, whole)
        if whole:
            self.set(**{name: float(scalars[name]) for name in SCALARS})
