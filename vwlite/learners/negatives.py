"""Examples that are not wanted (``--negatives``): items drawn for those that are, and learned behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vwlite.data.batch import COLUMNS as BATCH_COLUMNS
from vwlite.data.batch import ROWS, STARTS, Batch, ranges
from vwlite.features.config import sides_of_pair
from vwlite.features.feature_plan import Plan
from vwlite.features.group_columns import segments_in, space_of, sums
from vwlite.features.hashing import mix64, unit_interval
from vwlite.interrupts import STOP
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.row_results import Results
from vwlite.storage.model_file import numbers

COLUMNS = {  # name in models -> type of numbers
    "row_namespace": np.int64,
    "namespace_char": np.uint8,
    "namespace_hash": np.uint32,
    "namespace_start": np.int64,
    "feature_hash": np.uint32,
    "value": np.float32,
}


class RowBlocks(NamedTuple):
    """The columns of a ``Batch`` that hold its features, of ``len(row_namespace) - 1`` rows."""

    row_namespace: np.ndarray  # int64[rows + 1]
    namespace_char: np.ndarray  # uint8[blocks]
    namespace_hash: np.ndarray  # uint32[blocks]
    namespace_start: np.ndarray  # int64[blocks + 1]
    feature_hash: np.ndarray  # uint32[features]
    value: np.ndarray  # float32[features]

    @property
    def rows(self) -> int:
        return len(self.row_namespace) - 1

    def take(self, rows: np.ndarray, kept: np.ndarray | None = None) -> RowBlocks:
        """These rows, in this order, each as often as it is named; ``kept``, bool[blocks]: only these blocks."""
        blocks = ranges(self.row_namespace, rows)
        sizes = np.diff(self.row_namespace)[rows]
        if kept is not None:
            sizes = np.diff(sums(kept[blocks])[sums(sizes)])
            blocks = blocks[kept[blocks]]
        features = ranges(self.namespace_start, blocks)
        return RowBlocks(
            sums(sizes),
            self.namespace_char[blocks],
            self.namespace_hash[blocks],
            sums(np.diff(self.namespace_start)[blocks]),
            self.feature_hash[features],
            self.value[features],
        )

    def merged(self, rows: np.ndarray) -> RowBlocks:
        """One row of all from ``rows[i]`` to ``rows[i + 1]``."""
        return self._replace(row_namespace=self.row_namespace[rows])

    def keys(self) -> np.ndarray:
        """uint64[rows]: a hash of namespaces, features and values, in whatever order."""
        parts = mix64(pair_bits(self.feature_hash, self.value.view(np.uint32)))
        spaces = mix64(pair_bits(self.namespace_hash, self.namespace_char))
        sizes = np.diff(self.namespace_start)
        parts = mix64(parts + mix64(np.repeat(spaces, sizes)))
        reached = np.concatenate([np.zeros(1, np.uint64), np.cumsum(parts, dtype=np.uint64)])
        return np.diff(reached[self.namespace_start[self.row_namespace]])


def pair_bits(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """uint64[n] of two arrays of 32 bits."""
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def blocks_of(batch: Batch) -> RowBlocks:
    """The blocks of all rows of a batch."""
    blocks = int(batch.row_namespace[-1])
    features = int(batch.namespace_start[blocks])
    columns = (
        batch.row_namespace,
        batch.namespace_char[:blocks],
        batch.namespace_hash[:blocks],
        batch.namespace_start[: blocks + 1],
        batch.feature_hash[:features],
        batch.value[:features],
    )
    return RowBlocks._make(np.asarray(one, kind) for one, kind in zip(columns, COLUMNS.values(), strict=True))


def rows_with(blocks: RowBlocks, batch: Batch, source: np.ndarray) -> Batch:
    """Rows with these blocks, which are the rows ``source``, int64[rows], of the batch in all else; without names."""
    single = [name for name, one in BATCH_COLUMNS.items() if one.per == ROWS and one.entries is not STARTS]
    held = batch.holdout_mask
    return replace(
        batch,
        **{name: getattr(batch, name)[source] for name in single},
        **{name: getattr(blocks, name).astype(BATCH_COLUMNS[name].dtype) for name in COLUMNS},
        names=None,
        lists=None,
        gaps=(),
        numbers=batch.first_line + source if batch.numbers is None else batch.numbers[source],
        holdout_mask=None if held is None else held[source],
    )


def join_blocks(*parts: RowBlocks) -> RowBlocks:
    """The rows of all, one after the other."""
    ends = ("row_namespace", "namespace_start")
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS if name not in ends}
    for name in ends:
        columns[name] = sums(np.concatenate([np.diff(getattr(part, name)) for part in parts]))
    return RowBlocks(**columns)


def no_blocks() -> RowBlocks:
    """The blocks of no row."""
    ends = ("row_namespace", "namespace_start")
    return RowBlocks(**{name: np.zeros(int(name in ends), kind) for name, kind in COLUMNS.items()})


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
        cut = join_blocks(blocks.take(rows), others, self.items.take(items)).take(cells).merged(starts)
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
        """For each positive row: place among ``rows``, place of its item, number of items seen, all int64[n].

        New items of all rows that are learned are known from then on.
        """
        label = batch.label[rows]
        learned = ~np.isnan(label) & (batch.importance[rows] > 0) & batch.is_example[rows]
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
            self.items = join_blocks(self.items, own.take(new))
        item = places[inverse.reshape(-1)]
        met = np.maximum.accumulate(np.maximum(item + 1, before))
        positive = label[chosen] > np.float32(self.config.unwanted_label)
        return chosen[positive], item[positive], met[positive]

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
        negatives = rows_with(blocks, batch, source)
        negatives.label[drawn] = self.config.unwanted_label
        negatives.importance[drawn] *= np.float32(self.config.negative_weight)
        return negatives

    def warnings(self) -> list[str]:
        if len(self.known) > 1 or not self.drawn_for + len(self.known):
            return []
        return ["--negatives: nothing was drawn, since all examples have the same item; see --negatives-of"]

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that a model contains."""
        return {PREFIX + name: getattr(self.items, name) for name in COLUMNS}

    def load(self, arrays: Mapping[str, Any]) -> None:
        """Take over a model's. Raises ValueError, KeyError for what is damaged."""
        items = RowBlocks._make(numbers(arrays, PREFIX + name, kind, (-1,)) for name, kind in COLUMNS.items())
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
