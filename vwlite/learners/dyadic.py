"""Dyadic models (``--dotproduct``): configuration, state arrays, calls into ``cython_ext/learners/dyadic.pyx``."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from vwlite._native import dyadic as kernel
from vwlite.config_check import JsonObject, count_in
from vwlite.data.batch import Batch
from vwlite.features.config import sides_of_pair
from vwlite.features.feature_names import GroupTerms, group_terms
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import Confident, Explainable, PairFactors, PassByPass, Reporting
from vwlite.learners.base import CommonConfig, Learner, table_of
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.negatives import PREFIX, Negatives
from vwlite.learners.row_results import CrossedTerms, Results, all_pairs, alone, has_length, one_term
from vwlite.storage.model_file import matrix
from vwlite.storage.weight_table import Arrays, Table, any_set, set_slots, zeros

SCALARS = (
    "time",  # sum of importance of the examples learned
    "min_label",
    "max_label",
    "rate",  # learning rate, decayed by the passes so far
    "unbounded",  # updates that hit an iteration limit
    "mismatched",  # rows whose sides cannot be paired by position (rank 0)
    "later",  # 0 in the first pass, then 1; models without it were learned at one rate within the first pass
)
OWN_SCALARS = (  # of adaptive rates
    "passes",  # learned in this run
    "label_weight",  # of the labels of the first pass: importance, mean, weighted squares of what they differ from it
    "label_mean",
    "label_squares",
    "linear_squares",  # of all linear terms, as ``side_squares``
)
COUNTS = ("unbounded", "mismatched")
SLOPE_POWERS = {
    "squared": 1,
    "classic": 1,
    "expectile": 1,
}  # of the size of labels, that the slope of a loss grows with
MASK = 2**64 - 1


class KernelConfig(CommonConfig):
    """``DyadicConfig`` in the words of the kernel."""

    asks = False  # labels are asked for; others are not learned
    confidence_rate = 0.0  # the learning rate at which importances to flip predictions are found

    def __init__(self, config: DyadicConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.rank, self.offset = config.rank, config.dot_offset
        self.offset_square = config.dot_offset**2 * max(config.rank, 1) if config.revision else 0.0
        self.decay, self.by_name, self.decay_power = config.decay, config.decays, config.dot_l2_power
        self.linear_decay, self.decays_weights = config.linear_l2, config.dot_l2_of == "weights"
        self.power_t, self.initial_t, self.first_pass_t = config.power_t, config.initial_t, config.first_pass_t
        self.scale, self.normal = config.dot_init, config.dot_init_kind == "normal"
        self.fewest, self.adaptive = config.fewest_updates, config.own_rates
        self.pass_decay, name = config.dot_pass_l2, config.loss.name
        self.slope_power = config.loss.lp_power - 1 if name == "lp" else SLOPE_POWERS.get(name, 0)
        self.has_unit = config.takes_any_unit
        base = config.random_seed * 0x9E3779B97F4A7C15
        self.seeds = [
            [(base + (2 * pair + side + 1) * 0xD6E8FEB86659FD93) & MASK for side in range(2)]
            for pair in range(config.pairs)
        ]

    def decays(self, plan: Plan) -> list[list[float]]:
        """L2 decay of both sides of every pair."""
        sides = map(sides_of_pair, plan.config.dotproduct)
        return [[self.by_name.get(side, self.decay) for side in pair] for pair in sides]

    def is_separate(self, plan: Plan, learning: bool) -> bool:
        """Whether decay differs between parameters, so that it is a step of its own."""
        decays = {decay for pair in self.decays(plan) for decay in pair}
        other = self.decay_power or self.decays_weights or (learning and plan.frozen.fixes_side)
        return len(decays) > 1 or self.linear_decay > 0 or (max(decays) > 0 and bool(other))


def latent_stride(config: DyadicConfig) -> int:
    """Columns of a table of latent vectors: the vector, the number of its updates, padding to 16 bytes.

    Where rates are adaptive, the greatest value and the sum of squared gradients come before padding.
    """
    return (max(config.rank, 1) + 2 * config.own_rates + 4) // 4 * 4


def unbounded_updates(learner: Learner) -> list[str]:
    """A warning where updates have hit an iteration limit."""
    unbounded = int(learner.get("unbounded"))
    warning = f"{unbounded} updates so far stopped short of their end; try a smaller learning rate (-l)"
    return [warning] if unbounded else []


def mismatched_rows(learner: Learner) -> list[str]:
    """A warning where the sides of rows could not be paired by position."""
    mismatched = int(learner.get("mismatched"))
    why = "a feature twice on one side of --dotproduct, or sides of different length"
    warning = f"{mismatched} examples so far have {why}: --rank 0 learns nothing from them"
    return [warning] if mismatched else []


class RatesOfPasses(Learner, PassByPass):
    """For a learner whose ``config`` has ``own_rates``, and whose scalars have ``passes`` and ``later``."""

    total_passes = 1

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        self.total_passes = passes
        if self.get("passes") >= passes:  # of a longer run
            self.set(passes=0)
        self.set_rate_of_pass()

    def set_rate_of_pass(self) -> None:
        """Where rates are adaptive: the share sqrt(1 - j / P) of the rate in pass j of P, from 0."""
        if self.config.own_rates and self.config.decay_learning_rate is None:
            share = math.sqrt(1 - self.get("passes") / self.total_passes)
            self.set(rate=self.config.initial_learning_rate * share)

    def end_pass(self) -> None:
        if self.config.decay_learning_rate is None:
            learned = self.get("passes") + 1
            self.set(passes=learned if learned < self.total_passes else 0)  # what comes after is a run of its own
            self.set_rate_of_pass()
            return
        super().end_pass()
        if self.config.decay_learning_rate != 1:  # otherwise a run goes on as if the pass had not ended
            self.set(later=1)


class Dyadic(RatesOfPasses, Reporting, Explainable, PairFactors, Confident):
    """A linear part, ``weights`` float32[2^bits, 1], and for both sides of every pair a table of latent vectors.

    ``latent[pair][side]`` is float32[2^bits, stride]: the vector, then the number of its updates, then padding. Where
    rates are adaptive, the greatest value and the sum of squared gradients follow the updates, those of linear weights
    are in ``rates`` float32[2^bits, 2], and ``side_squares`` float64[pairs, 2] sums up (x / N)^2 of the sides.
    """

    name = "dyadic"
    config_type = DyadicConfig
    SCALARS = (*SCALARS, *OWN_SCALARS)
    native = kernel
    rates: np.ndarray | None = None
    kernel_config = KernelConfig

    def __init__(
        self, config: DyadicConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat)
        self.rank, self.stride = max(config.rank, 1), latent_stride(config)
        self.weights = zeros(1 << bits, 1)
        self.latent = [[self.table() if start else None for _ in range(2)] for _ in range(config.pairs)]
        self.side_squares = np.zeros((config.pairs, 2))
        if config.own_rates:
            self.rates = zeros(1 << bits, 2)
        self.kernel = self.kernel_config(config, vw_compat=vw_compat, frozen=not learning)
        self.kernel.confidence_rate, self.tells_confidence = config.flip_rate, True
        self.negatives = Negatives(config) if config.negatives and learning else None
        low, high = config.prediction_bounds or config.loss.start_range(not vw_compat)
        self.set(min_label=low, max_label=high, rate=config.initial_learning_rate)

    @classmethod
    def slot_bytes(cls, config: DyadicConfig, learning: bool) -> float:
        return 4.0 * (1 + 2 * config.own_rates + 2 * config.pairs * latent_stride(config))

    def table(self) -> np.ndarray:
        return zeros(1 << self.bits, self.stride)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if self.negatives and self.learning:
            return self.negatives.run(super().run, batch, plan, results, begin, end)
        return super().run(batch, plan, results, begin, end)

    def header(self) -> JsonObject:
        header = {**super().header(), **({"drawn_for": self.negatives.drawn_for} if self.negatives else {})}
        if self.config.own_rates:
            return {**header, "side_squares": self.side_squares.tolist()}
        header["scalars"] = {name: value for name, value in header["scalars"].items() if name not in OWN_SCALARS}
        return header

    def tables(self, predict_only: bool) -> Arrays:
        columns = (
            *(f"v{number}" for number in range(self.rank)),
            "updates",
            *(("x", "g") if self.config.own_rates else ()),
        )
        latent = {
            f"latent{pair}{'ab'[side]}": Table(table, columns)
            for pair, sides in enumerate(self.latent)
            for side, table in enumerate(sides)
        }
        items = self.negatives.arrays() if self.negatives and not predict_only else {}
        rates = {} if predict_only or self.rates is None else {"rates": Table(self.rates, ("g", "x"))}
        return {"weights": Table(self.weights, ("w",)), **latent, **rates, **items}

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        scalars = {"later": 1, **({} if self.config.own_rates else dict.fromkeys(OWN_SCALARS, 0)), **scalars}
        for name in COUNTS:
            count_in(scalars, name)
        for name in self.SCALARS:
            if whole or name.startswith(("min_label", "max_label", "label_")):
                self.set(**{name: float(scalars[name])})
        self.weights = table_of(arrays, "weights", 1 << self.bits, 1)
        if self.config.own_rates:
            self.rates = table_of(arrays, "rates", 1 << self.bits, 2) if "rates" in arrays else None
            self.tells_confidence = self.rates is not None
        for pair in range(self.config.pairs):
            for side in range(2):
                self.latent[pair][side] = table_of(arrays, f"latent{pair}{'ab'[side]}", 1 << self.bits, self.stride)
        if self.negatives and any(name.startswith(PREFIX) for name in arrays):
            self.negatives.load(arrays)

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        if self.negatives and "drawn_for" in header:
            self.negatives.drawn_for = int(count_in(header, "drawn_for"))
        if self.config.own_rates:
            squares = matrix(header["side_squares"], "sums of adaptive rates", self.side_squares.shape)
            if squares.min() < 0:
                raise ValueError("sums of adaptive rates are damaged")
            self.side_squares[:] = squares

    def end_pass(self) -> None:
        super().end_pass()
        if self.config.decay_learning_rate is None and self.total_passes > 1:  # else a run goes on with the first pass
            self.set(later=1)
        elif self.config.decay_learning_rate is not None and self.config.own_rates:
            self.set(passes=self.get("passes") + 1)

    def warnings(self) -> list[str]:
        lines = mismatched_rows(self)
        if self.negatives:
            lines += self.negatives.warnings()
        return lines + unbounded_updates(self)

    def has_learned_pair(self, number: int) -> bool:
        return all(any_set(table, self.rank) for table in self.latent[number])

    def crossed_terms(self, batch: Batch, plan: Plan, row: int) -> list[CrossedTerms] | None:
        """For each dot product: every feature of a side with every one of the other; ``--rank 0``: with its partner."""
        terms = []
        for pair, sides in enumerate(plan.pairs):
            left, right = (group_terms(batch, plan, row, number) for number in sides)
            if not self.config.rank and len(left.slots) != len(right.slots):
                return None
            if self.config.rank:
                terms += self.dot_terms(pair, left, right)
            else:
                for i in range(len(left.slots)):
                    terms += self.dot_terms(pair, one_term(left, i), one_term(right, i))
        return terms

    def dot_terms(self, pair: int, left: GroupTerms, right: GroupTerms) -> list[CrossedTerms]:
        """The terms of one dot product; as in the kernel it is left out where the values of a side add up to 0."""
        if not (has_length(left) and has_length(right)):
            return []
        a, b = (self.vectors(pair, side, part.slots) for side, part in enumerate((left, right)))
        terms, offset = [all_pairs(left, right, a @ b.T)], self.config.dot_offset
        if offset:
            terms += [alone(left, offset * a.sum(axis=1)), alone(right, offset * b.sum(axis=1))]
        if offset and not self.config.revision:
            terms.append(CrossedTerms(lambda _: "Offset*Offset", np.ones(1), np.full(1, offset * offset * self.rank)))
        return terms

    def vectors(self, pair: int, side: int, slots: np.ndarray) -> np.ndarray:
        """float64[n, rank] of these slots, as predictions use them."""
        vectors = np.empty((len(slots), self.rank), np.float32)
        kernel.read_vectors(self, self.kernel, (pair, side), slots, vectors)
        return vectors.astype(float)

    def factors(self, pair: int, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Slots uint32[n] that were ever updated and their vectors float32[n, rank]."""
        table = self.latent[pair][side]
        slots = set_slots(table, self.rank)
        return slots.astype(np.uint32), table[slots, : self.rank]
