"""Other ways to latent vectors than ``--dotproduct`` alone: ``--lrq``, ``--dotproduct --als`` and ``vwlite vw --rank``.

The kernels are ``cython_ext/learners/{lrq,als,vw_rank}.pyx``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import als as als_kernel
from vwlite._native import dyadic as dyadic_kernel
from vwlite._native import lrq as kernel
from vwlite._native import vw_rank as vw_rank_kernel
from vwlite.config_check import JsonObject, count_in
from vwlite.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.features.feature_names import group_terms
from vwlite.features.feature_plan import Plan
from vwlite.features.group_columns import features_of
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.learners.abilities import SolvedInMemory
from vwlite.learners.base import number_slots, table_of
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.lrq import AlsConfig, LrqConfig, VwRankConfig, read_pairs
from vwlite.learners.dyadic import Dyadic
from vwlite.learners.gd import SCALARS, Gd, KernelConfig
from vwlite.learners.row_results import CrossedTerms, Results, all_pairs
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


STEPS = 3  # of conjugate gradients, for each vector and pass
WIDTH = 4  # the numbers of a vector are as many as a multiple of this


NO_PART = np.zeros((2, 0), np.uint32), np.zeros((2, 0))


class Entries(NamedTuple):
    """The examples by the id of one side: those of id i have the places ``[start[i], start[i + 1])``."""

    start: np.ndarray  # int64[ids + 1]
    column: np.ndarray  # uint32[examples], the id of the other side
    weight: np.ndarray  # float64[examples], the importance
    target: np.ndarray  # float64[examples], the label


def entries_by(own: np.ndarray, other: np.ndarray, ids: int, weight: np.ndarray, label: np.ndarray) -> Entries:
    """The examples by ``own`` ids, which are below ``ids``."""
    start, order = np.zeros(ids + 1, np.int64), np.zeros(len(own), np.uint32)
    als_kernel.order_by(own, start, order)
    return Entries(start, other[order], weight[order], label[order])


class Factors:
    """``vectors``, for both sides float64[ids, width], that ``AlsConfig`` says what is minimised by."""

    def __init__(
        self,
        numbers: Sequence[np.ndarray],
        weight: np.ndarray,
        label: np.ndarray,
        items: np.ndarray,
        config: AlsConfig,
        decays: Sequence[float],
    ) -> None:
        """``numbers``: the ids of every example, for both sides uint32[examples], all from 0 on.

        ``weight``, ``label`` float64[examples]; ``items`` float32[ids, rank] are vectors of the second side to begin
        with; ``decays`` are those of both sides.
        """
        sizes = [int(one.max()) + 1 for one in numbers]
        self.unobserved, width = config.unobserved, -(-config.rank // WIDTH) * WIDTH
        self.entries = [
            entries_by(numbers[side], numbers[1 - side], sizes[side], weight, label) for side in range(2)
        ]
        self.ridges = [
            decays[side] * (np.bincount(numbers[side], weight) + self.unobserved * sizes[1 - side]) for side in range(2)
        ]
        self.vectors = [np.zeros((ids, width)) for ids in sizes]
        self.vectors[1][:, : config.rank] = items
        self.grams = [np.zeros((width, width)) for _ in sizes]
        als_kernel.sum_products(self.vectors[1], self.unobserved, self.grams[1])

    def improve(self, side: int) -> None:
        """Move the vectors of one side, those of the other given. Raises Interrupted."""
        given = self.vectors[1 - side], self.grams[1 - side], self.ridges[side]
        als_kernel.solve(self.entries[side], *given, self.vectors[side], STEPS, STOP)
        raise_if_stopped()
        als_kernel.sum_products(self.vectors[side], self.unobserved, self.grams[side])

    def objective(self) -> float:
        error = als_kernel.squared_error(self.entries[1], self.vectors[0], self.grams[0], self.vectors[1])
        unobserved = float(np.einsum("ij,ij", *self.grams)) / self.unobserved
        lengths = (np.einsum("i,ij,ij", ridge, one, one) for ridge, one in zip(self.ridges, self.vectors, strict=True))
        return float(error + unobserved + sum(lengths))


class Als(SolvedInMemory, Dyadic):
    """Keeps the ids of all examples and solves by alternating least squares.

    The vectors are those of ids: on each side the first feature without a number. Others of the same line have none.
    The mean of the first side's is taken from them, and its products with those of the second are linear weights there:
    so one who is not known is predicted as the mean.
    """

    name = "als"
    config_type = AlsConfig
    bound = solver_passes = 10
    new_is_mean = True

    def __init__(
        self, config: AlsConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.tells_confidence = False
        self.parts: list[tuple[np.ndarray, np.ndarray]] = []  # uint32[2, n] slots; float64[2, n] importance and label
        self.skipped = 0  # examples without an id on both sides
        self.fitted: JsonObject = {}

    @classmethod
    def slot_bytes(cls, config: AlsConfig, learning: bool) -> float:
        return super().slot_bytes(config, learning) + 5.0 * learning  # slots that occur are numbered

    @property
    def own_rows(self) -> list[str]:  # type: ignore[override]
        return ["alternating least squares"]

    @property
    def native(self) -> Any:  # type: ignore[override]
        """The kernel of dot products, which only predicts."""
        return self

    def run_rows(
        self, state: Any, config: Any, plan: Plan, batch: Batch, results: Results, begin: int, mode: tuple[int, bool]
    ) -> tuple[int, int]:
        reader = self.tester()
        return dyadic_kernel.run_rows(reader, reader.kernel, plan, batch, results, begin, (mode[0], False))

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        stopped = super().run(batch, plan, results, begin, end)
        if not self.gathered:
            self.gather(batch, plan, results.holdout_mask, begin, stopped)
            self.decays = self.kernel.decays(plan)[0]
        return stopped

    def gather(self, batch: Batch, plan: Plan, held: np.ndarray | None, begin: int, end: int) -> None:
        """Keep what the rows ``[begin, end)`` say of ids, those not held out."""
        usable = batch.is_learnable
        if held is not None:
            usable &= held[: len(batch)] == 0
        usable[:begin] = usable[end:] = False
        slots, known = np.zeros((2, len(batch)), np.uint32), usable
        for side, group in enumerate(plan.pairs[0]):
            row, slot, value = features_of(batch, plan, group)
            row, first = np.unique(row[value == 1], return_index=True)
            slots[side, row] = slot[value == 1][first]
            there = np.zeros(len(batch), bool)
            there[row] = True
            known = known & there
        self.skipped += int((usable & ~known).sum())
        kept = np.flatnonzero(known)
        self.parts.append((slots[:, kept], np.stack((batch.importance, batch.label)).astype(np.float64)[:, kept]))

    def end_pass(self) -> None:
        """Raises DataError for examples without ids, Interrupted. Without examples all stays as it is."""
        self.measured = self.gathered
        if self.gathered:
            return
        self.gathered = True
        slots, numbers = (np.concatenate(parts, axis=1) for parts in zip(NO_PART, *self.parts, strict=True))
        self.parts = []
        if slots.shape[1]:
            self.fit(slots, *numbers)
        elif self.skipped:
            raise DataError("no example has an id on both sides of --dotproduct: a feature without a number")

    def fit(self, slots: np.ndarray, weight: np.ndarray, label: np.ndarray) -> None:
        """Raises Interrupted."""
        if self.config.prediction_bounds is None:
            self.set(min_label=min(0.0, label.min()), max_label=max(0.0, label.max()))
        ids, numbers = zip(*(number_slots(one, 1 << self.bits) for one in slots), strict=True)
        start = np.empty((len(ids[1]), self.rank), np.float32)
        dyadic_kernel.read_vectors(self, self.kernel, (0, 1), ids[1], start)
        factors = Factors(numbers, weight, label, start, self.config, self.decays)
        for number in range(1, self.bound + 1):
            for side in range(2):
                factors.improve(side)
            objective = factors.objective()
            self.tell(number, objective)
        people, items = (one[:, : self.rank] for one in factors.vectors)
        if not self.config.no_dot_linear:
            mean = np.add.accumulate(people, axis=0)[-1] / len(people)
            self.weights[ids[1], 0], people = np.einsum("ij,j->i", items, mean), people - mean
        for side, vectors in enumerate((people, items)):
            self.latent[0][side][ids[side], : self.rank] = vectors
            self.latent[0][side][ids[side], self.rank] = np.diff(factors.entries[side].start)
        counts = {"passes": self.bound, "examples": len(label), "skipped": self.skipped}
        self.fitted = {"objective": objective, **counts, "ids": [len(one) for one in ids]}

    def tell(self, number: int, objective: float) -> None:
        if number == 1:
            self.say(f"{'pass':>5} {'objective':>14}")
        self.say(f"{number:5d} {objective:14.8g}")

    def warnings(self) -> list[str]:
        skipped = f"{self.skipped} examples without an id on both sides of --dotproduct were skipped"
        return [skipped] if self.skipped else []

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        result = self.fitted
        if not result:
            return []
        return [("passes used", str(result["passes"])), ("objective", result["objective"])]

    def report(self) -> JsonObject:
        return {"als": self.fitted}

    def header(self) -> JsonObject:
        return {**super().header(), "als": self.fitted}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        self.fitted = header["als"]
