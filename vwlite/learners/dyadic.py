"""Dyadic models (``--dotproduct``): configuration, state arrays, calls into ``cython_ext/learners/dyadic.pyx``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import copy
from typing import Any

import numpy as np

from vwlite._native import dyadic as kernel
from vwlite.config_check import count_in
from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.features.config import sides_of_pair
from vwlite.features.feature_names import GroupTerms, group_terms
from vwlite.features.feature_plan import Plan
from vwlite.features.group_columns import segments_in, space_of, sums
from vwlite.features.hashing import mix64, unit_interval
from vwlite.features.row_blocks import COLUMNS as BLOCKS
from vwlite.features.row_blocks import RowBlocks, blocks_of, joined, no_blocks, rows_with
from vwlite.interrupts import STOP
from vwlite.learners.base import CommonConfig, Learner
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.row_results import CrossedTerms, Results, all_pairs, alone, has_length, one_term
from vwlite.storage.model_file import numbers
from vwlite.storage.weight_table import Table, any_set, set_slots, zeros

ROWS_AT_ONCE = 1 << 13  # of what is learned; between two parts a signal may stop the run
PREFIX = "item_"  # of arrays in models
RESULTS = ("prediction", "raw", "loss", "features")
Learn = Callable[[Batch, Plan, Results, int, int], int]


class Negatives:
    """Draws items from those met so far, each as likely as any other, and has them learned behind the example.

    An item is what a row has in some namespaces. Row n of those that are wanted draws by a hash of the seed and n, so
    that nothing depends on where batches end or a run was stopped.
    """

    def __init__(self, config: DyadicConfig) -> None:
        self.config = config
        self.items, self.known = no_blocks(), dict[int, int]()  # all that were met, and their places by ``keys``
        self.drawn_for = 0  # rows so far

    def run(self, learn: Learn, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        """As ``Learner.run``, which ``learn`` is; the results are those of the rows of the batch alone."""
        plan, at_once = copy(plan), max(1, ROWS_AT_ONCE // (1 + self.config.negatives))
        plan.stop = bytearray(1)  # an example is never learned without what was drawn for it
        blocks, inside = blocks_of(batch), self.in_items(batch, plan)
        while begin < end and not STOP[0]:
            until = min(begin + at_once, end)
            rows, places = self.extended(batch, np.arange(begin, until), blocks, inside)
            own = Results()
            own.reserve(len(rows))
            own.holdout_mask = rows.holdout_mask
            learn(rows, plan, own, 0, len(rows))
            for name in RESULTS:
                getattr(results, name)[begin:until] = getattr(own, name)[places]
            begin = until
        return begin

    def extended(
        self, batch: Batch, rows: np.ndarray, blocks: RowBlocks, inside: np.ndarray
    ) -> tuple[Batch, np.ndarray]:
        """These rows of the batch with what is drawn for them, and the places of the rows themselves, int64[rows].

        ``blocks`` are the batch's; ``inside``, bool[blocks]: those that items are made of.
        """
        own, others = blocks.take(rows, inside), blocks.take(rows, ~inside)
        of, items = self.draw(*self.meet(batch, rows, own))
        places = np.arange(len(rows)) + np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(rows)))[:-1]])
        source = np.sort(np.concatenate([np.arange(len(rows)), of]), kind="stable")
        drawn = np.ones(len(source), bool)
        drawn[places] = False
        starts = sums(1 + drawn)
        cells = np.empty(starts[-1], np.int64)  # a row, or a row without its item and an item
        cells[starts[:-1]] = source + len(rows) * drawn
        cells[starts[:-1][drawn] + 1] = 2 * len(rows) + np.arange(len(items))
        cut = joined(blocks.take(rows), others, self.items.take(items)).take(cells).merged(starts)
        return self.rows_of(batch, rows[source], drawn, cut), places

    def in_items(self, batch: Batch, plan: Plan) -> np.ndarray:
        """bool[blocks] of the batch: those that items are made of."""
        spaces = [space_of(name, plan.config) for name in self.spaces(plan)]
        return np.any([segments_in(batch, plan.redefine, space) for space in spaces], axis=0)

    def spaces(self, plan: Plan) -> list[str]:
        """The namespaces that an item is in."""
        named = self.config.negatives_of
        return named.split(",") if named else [sides_of_pair(plan.config.dotproduct[0])[1]]

    def meet(self, batch: Batch, rows: np.ndarray, own: RowBlocks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the wanted rows: place among ``rows``, place of their item, number of items met, all int64[n].

        New items of all rows that are learned are known from then on.
        """
        label = batch.label[rows]
        learned = ~np.isnan(label) & (batch.importance[rows] > 0) & (batch.flags[rows] & (BLANK | SAVE) == 0)
        if batch.holdout_mask is not None:
            learned &= batch.holdout_mask[rows] == 0
        learned &= np.diff(own.namespace_start[own.row_namespace]) > 0
        chosen = np.flatnonzero(learned)
        keys, first, inverse = np.unique(own.keys()[chosen], return_index=True, return_inverse=True)
        before, order = len(self.known), np.argsort(first)
        places = np.empty(len(keys), np.int64)
        for one in order.tolist():
            places[one] = self.known.setdefault(int(keys[one]), len(self.known))
        new = chosen[first[order[places[order] >= before]]]
        if len(new):
            self.items = joined(self.items, own.take(new))
        item = places[inverse.reshape(-1)]
        met = np.maximum.accumulate(np.maximum(item + 1, before))
        wanted = label[chosen] > np.float32(self.config.unwanted_label)
        return chosen[wanted], item[wanted], met[wanted]

    def draw(self, rows: np.ndarray, item: np.ndarray, met: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each row ``negatives`` of the items met, none of which is its own: row and place of the item."""
        count = self.config.negatives
        number = np.arange(self.drawn_for, self.drawn_for + len(rows)).astype(np.uint64)
        self.drawn_for += len(rows)
        seed = mix64(np.array([self.config.random_seed % 2**64], np.uint64) + np.uint64(0x9E3779B97F4A7C15))
        state = mix64(seed ^ mix64(number + np.uint64(1)))[:, None] ^ mix64(np.arange(1, count + 1).astype(np.uint64))
        places = (unit_interval(mix64(state)) * (met - 1)[:, None]).astype(np.int64)
        places += places >= item[:, None]
        there = met > 1
        return np.repeat(rows[there], count), places[there].ravel()

    def rows_of(self, batch: Batch, source: np.ndarray, drawn: np.ndarray, blocks: RowBlocks) -> Batch:
        """The rows ``source`` of the batch with other features; those that were ``drawn`` are not wanted."""
        found = rows_with(blocks, batch, source)
        found.label[drawn] = self.config.unwanted_label
        found.importance[drawn] *= np.float32(self.config.negative_weight)
        return found

    def warnings(self) -> list[str]:
        if len(self.known) > 1 or not self.drawn_for + len(self.known):
            return []
        return ["--negatives: nothing was drawn, since all examples have the same item; see --negatives-of"]

    def arrays(self) -> dict[str, np.ndarray]:
        """What a model keeps."""
        return {PREFIX + name: getattr(self.items, name) for name in BLOCKS}

    def load(self, arrays: Mapping[str, Any]) -> None:
        """Take over a model's. Raises ValueError, KeyError for what is damaged."""
        items = RowBlocks(*(numbers(dict(arrays), PREFIX + name, kind, (-1,)) for name, kind in BLOCKS.items()))
        check_ends(items.row_namespace, len(items.namespace_char), len(items.namespace_hash))
        check_ends(items.namespace_start, len(items.feature_hash), len(items.value))
        if len(items.namespace_start) != len(items.namespace_char) + 1:
            raise ValueError("the namespaces of items")
        known = {key: place for place, key in enumerate(items.keys().tolist())}
        if len(known) != items.rows:
            raise ValueError("an item twice")
        self.items, self.known = items, known


def check_ends(starts: np.ndarray, *sizes: int) -> None:
    """Raises ValueError where ``starts`` do not ascend from 0 to all of ``sizes``."""
    if not len(starts) or starts[0] or (np.diff(starts) <= 0).any() or {int(starts[-1])} != {*sizes}:
        raise ValueError("the items")


SCALARS = (
    "time",  # sum of importance of the examples learned
    "min_label",
    "max_label",
    "rate",  # learning rate, decayed by the passes so far
    "unbounded",  # updates that hit an iteration limit
    "mismatched",  # rows whose sides cannot be paired by position (rank 0)
    "later",  # 0 in the first pass, then 1; models without it were learned at one rate within the first pass
)
COUNTS = ("unbounded", "mismatched")
MASK = 2**64 - 1


class KernelConfig(CommonConfig):
    """``DyadicConfig`` in the words of the kernel."""

    asks = False  # labels are asked for; others are not learned
    confidence_rate = 0.0  # the learning rate that importances to flip predictions are told for

    def __init__(self, config: DyadicConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.rank, self.offset = config.rank, config.dot_offset
        self.offset_square = config.dot_offset**2 * max(config.rank, 1) if config.revision else 0.0
        self.decay, self.by_name, self.decay_power = config.decay, config.decays, config.dot_l2_power
        self.linear_decay, self.decays_weights = config.linear_l2, config.dot_l2_of == "weights"
        self.power_t, self.initial_t, self.first_pass_t = config.power_t, config.initial_t, config.first_pass_t
        self.scale, self.normal = config.dot_init, config.dot_init_kind == "normal"
        self.fewest = config.fewest_updates
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
    """Columns of a table of latent vectors: the vector, the number of its updates, padding to 16 bytes."""
    return (max(config.rank, 1) + 4) // 4 * 4


def unbounded_updates(learner: Learner) -> list[str]:
    """A warning where updates have hit an iteration limit."""
    unbounded = int(learner.get("unbounded"))
    said = f"{unbounded} updates so far stopped short of their end; try a smaller learning rate (-l)"
    return [said] if unbounded else []


def mismatched_rows(learner: Learner) -> list[str]:
    """A warning where the sides of rows could not be paired by position."""
    mismatched = int(learner.get("mismatched"))
    why = "a feature twice on one side of --dotproduct, or sides of different length"
    said = f"{mismatched} examples so far have {why}: --rank 0 learns nothing from them"
    return [said] if mismatched else []


class Dyadic(Learner):
    """A linear part, ``weights`` float32[2^bits, 1], and for both sides of every pair a table of latent vectors.

    ``latent[pair][side]`` is float32[2^bits, stride]: the vector, then the number of its updates, then padding.
    """

    name = "dyadic"
    config_type = DyadicConfig
    is_sum = has_latent_vectors = True
    SCALARS = SCALARS
    native = kernel
    supports_confidence = True
    kernel_config = KernelConfig

    def __init__(
        self, config: DyadicConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat)
        self.rank, self.stride = max(config.rank, 1), latent_stride(config)
        self.weights = zeros(1 << bits, 1)
        self.latent = [[self.table() if start else None for _ in range(2)] for _ in range(config.pairs)]
        self.kernel = self.kernel_config(config, vw_compat=vw_compat, frozen=not learning)
        self.kernel.confidence_rate = config.told_rate
        self.negatives = Negatives(config) if config.negatives and learning else None
        low, high = config.prediction_bounds or config.loss.start_range(not vw_compat)
        self.set(min_label=low, max_label=high, rate=config.initial_learning_rate)

    @classmethod
    def slot_bytes(cls, config: DyadicConfig, learning: bool) -> float:
        return 4.0 * (1 + 2 * config.pairs * latent_stride(config))

    def table(self) -> np.ndarray:
        return zeros(1 << self.bits, self.stride)

    @property
    def drops_pairs(self) -> bool:  # type: ignore[override]
        return self.config.no_dot_linear

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if self.negatives and self.learning:
            return self.negatives.run(super().run, batch, plan, results, begin, end)
        return super().run(batch, plan, results, begin, end)

    def header(self) -> dict[str, Any]:
        return {**super().header(), **({"drawn_for": self.negatives.drawn_for} if self.negatives else {})}

    def tables(self, predict_only: bool) -> dict[str, Any]:
        columns = (*(f"v{number}" for number in range(self.rank)), "updates")
        latent = {
            f"latent{pair}{'ab'[side]}": Table(table, columns)
            for pair, sides in enumerate(self.latent)
            for side, table in enumerate(sides)
        }
        items = self.negatives.arrays() if self.negatives and not predict_only else {}
        return {"weights": Table(self.weights, ("w",)), **latent, **items}

    @classmethod
    def config_from(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Any:
        """Models of before ``revision`` predict as they did."""
        before = {} if "revision" in stored else {"revision": 0, "dot_unseen": "start"}
        return super().config_from({**before, **stored}, changes)

    @classmethod
    def wanted(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        for name in COUNTS:
            count_in(scalars, name)
        for name in SCALARS:
            if whole or name in ("min_label", "max_label"):
                self.set(**{name: float(scalars.get(name, 1) if name == "later" else scalars[name])})
        self.weights = self.checked(arrays, "weights", 1)
        for pair in range(self.config.pairs):
            for side in range(2):
                self.latent[pair][side] = self.checked(arrays, f"latent{pair}{'ab'[side]}", self.stride)
        if self.negatives and any(name.startswith(PREFIX) for name in arrays):
            self.negatives.load(arrays)

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        if self.negatives and "drawn_for" in header:
            self.negatives.drawn_for = int(count_in(header, "drawn_for"))

    def end_pass(self) -> None:
        super().end_pass()
        if self.config.decay_learning_rate != 1:  # otherwise a run goes on as if the pass had not ended
            self.set(later=1)

    def warnings(self) -> list[str]:
        lines = mismatched_rows(self)
        if self.negatives:
            lines += self.negatives.warnings()
        return lines + unbounded_updates(self)

    def has_learned_pair(self, number: int) -> bool:
        return all(any_set(table, self.rank) for table in self.latent[number])

    def crossed_terms(self, batch: Batch, plan: Plan, row: int) -> list[CrossedTerms] | None:
        """Of each dot product: every feature of a side with every one of the other; ``--rank 0``: with its partner."""
        made = []
        for pair, sides in enumerate(plan.pairs):
            left, right = (group_terms(batch, plan, row, number) for number in sides)
            if not self.config.rank and len(left.slots) != len(right.slots):
                return None
            if self.config.rank:
                made += self.dot_terms(pair, left, right)
            else:
                for i in range(len(left.slots)):
                    made += self.dot_terms(pair, one_term(left, i), one_term(right, i))
        return made

    def dot_terms(self, pair: int, left: GroupTerms, right: GroupTerms) -> list[CrossedTerms]:
        """Of one dot product; as in the kernel it is left out where the values of a side add up to nothing."""
        if not (has_length(left) and has_length(right)):
            return []
        a, b = (self.vectors(pair, side, part.slots) for side, part in enumerate((left, right)))
        made, offset = [all_pairs(left, right, a @ b.T)], self.config.dot_offset
        if offset:
            made += [alone(left, offset * a.sum(axis=1)), alone(right, offset * b.sum(axis=1))]
        if offset and not self.config.revision:
            made.append(CrossedTerms(lambda _: "Offset*Offset", np.ones(1), np.full(1, offset * offset * self.rank)))
        return made

    def vectors(self, pair: int, side: int, slots: np.ndarray) -> np.ndarray:
        """float64[n, rank] of these slots, as predictions use them."""
        found = np.empty((len(slots), self.rank), np.float32)
        kernel.read_vectors(self, self.kernel, (pair, side), slots, found)
        return found.astype(float)

    def factors(self, pair: int, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Slots uint32[n] that were ever updated and their vectors float32[n, rank]."""
        table = self.latent[pair][side]
        slots = set_slots(table, self.rank)
        return slots.astype(np.uint32), table[slots, : self.rank]
