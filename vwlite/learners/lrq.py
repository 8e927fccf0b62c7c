"""Low-rank quadratic interactions (``--lrq``, and ``vwlite vw --rank``).

The kernels are ``cython_ext/learners/{lrq,vw_rank}.pyx``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from vwlite._native import lrq as kernel
from vwlite._native import vw_rank as vw_rank_kernel
from vwlite.config_check import JsonObject, count_in
from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.features.feature_names import group_terms
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import table_of
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.lrq import LrqConfig, VwRankConfig, read_pairs
from vwlite.learners.gd import SCALARS, Gd, KernelConfig
from vwlite.learners.row_results import CrossedTerms, all_pairs
from vwlite.storage.weight_table import Table

SEED = 8675309  # of vw's dropout


class LrqKernelConfig(KernelConfig):
    def __init__(self, config: LrqConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.pairs = np.array(read_pairs(config.lrq), np.int32).reshape(-1, 3)
        self.dropout = config.lrqdropout
        self.shift = int(self.pairs[:, 2].max()).bit_length()


class Lrq(Gd):
    """Gradient descent on linear weights and factors. Slot ``(hash * W + n) mod 2^bits`` is factor n; 0 is linear."""

    name = "lrq"
    config_type = LrqConfig
    SCALARS = (*SCALARS, "seen")  # rows so far, which tells whose turn it is
    native = kernel
    kernel_config = LrqKernelConfig

    def __init__(
        self, config: LrqConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        if self.kernel.shift >= bits:
            raise UsageError(f"--lrq of this rank needs more than the {1 << bits} slots of -b {bits}")
        self.layout = self.kernel.shift, 1
        self.random_state = np.array([(config.random_seed | SEED) % 2**64], np.uint64)
        self.ends = 0  # of passes in this run, under ``vwlite vw``: to vw each is an example too

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        stack, labels, predictions = super().description
        return (stack[0], "lrq", *stack[1:]), labels, predictions

    def crossed_terms(self, batch: Batch, plan: Plan, row: int) -> list[CrossedTerms]:
        """Every feature of one namespace with every one of the other; the weight is the product of their factors."""
        return [self.pair_terms(batch, plan, row, *pair) for pair in self.kernel.pairs.tolist()]

    def pair_terms(self, batch: Batch, plan: Plan, row: int, left: int, right: int, rank: int) -> CrossedTerms:
        sides = [group_terms(batch, plan, row, number) for number in (left, right)]
        factors = [self.factors(side.slots, rank) for side in sides]
        share = 0.5 if self.config.lrqdropout else 1.0  # as in the kernel's predictions
        return all_pairs(*sides, share * (factors[0] @ factors[1].T))

    def factors(self, slots: np.ndarray, rank: int) -> np.ndarray:
        """float64[n, rank] of the features with these hashes, masked."""
        first = slots[:, None].astype(np.int64) << self.kernel.shift
        places = first + np.arange(1, rank + 1) & (1 << self.bits) - 1
        return self.weights[places, 0].astype(float)

    def end_pass(self) -> None:
        super().end_pass()
        self.ends += self.vw_compat

    def header(self) -> JsonObject:
        return {**super().header(), "chance": int(self.random_state[0])}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        if whole and not self.vw_compat:  # vw counts each run's rows anew
            self.set(seen=count_in(header["scalars"], "seen"))
            self.random_state[0] = header["chance"]


class VwRankKernelConfig(KernelConfig):
    def __init__(self, config: VwRankConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.pairs = np.array(config.letters, np.int32).reshape(-1, 2)
        self.rank, self.vw_stride = config.vw_rank, 1 << (2 * config.vw_rank + 1).bit_length()


class VwRank(Gd):
    """vw's matrix factorisation (``vwlite vw --rank``); the kernel is ``cython_ext/learners/vw_rank.pyx``.

    Columns of the table: the linear weight, the factors as the first namespace of a pair, and those as the second.
    A row that no example has had yet is of zeros.
    """

    name = "vw_rank"
    bottom = "rank"
    config_type = VwRankConfig
    native = vw_rank_kernel
    kernel_config = VwRankKernelConfig
    is_sum = owes_shrinkage = False

    @staticmethod
    def column_count(config: GdConfig, learning: bool) -> int:
        return 2 * config.vw_rank + 1  # type: ignore[attr-defined, no-any-return]

    @property
    def own_settings(self) -> list[str]:  # type: ignore[override]
        return [f"creating quadratic features for pairs: {' '.join(self.config.vw_pairs)}"]

    def pages(self) -> None:
        """Rows are of any length."""

    def set_weights(self) -> None:
        """Rows begin when they are met."""

    @property
    def columns(self) -> tuple[str, ...]:
        ranks = range(1, self.config.vw_rank + 1)
        return ("w", *(f"{side}{number}" for side in ("first", "second") for number in ranks))

    def apply_shrinkage(self) -> None:
        """The penalty is part of every step."""

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return {"weights": Table(self.weights, self.columns)}

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        for name in self.SCALARS:
            if whole or name in ("min_label", "max_label"):
                self.set(**{name: float(scalars[name])})
        if self.vw_compat:  # whose models do not have it
            self.set(time=self.config.start_time)
        self.weights = table_of(arrays, "weights", 1 << self.bits, self.stride)
