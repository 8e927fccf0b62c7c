"""A tree of classes that grows with the examples (``--log_multi``); see ``cython_ext/learners/log_multi.pyx``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from vwlite._native import log_multi as kernel
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.log_multi import LogMultiConfig
from vwlite.learners.per_class import PerClassKernelConfig
from vwlite.learners.row_results import Results
from vwlite.learners.tree_base import Tree
from vwlite.storage.array_check import numbers

# columns of nodes and of entries, as in the kernel
NODE = ("parent", "left", "right", "predictor", "inner", "least", "most", "answer", "examples", "labels")
ENTRY = ("owner", "label", "count", "examples")
PARENT, LEFT, RIGHT, PREDICTOR, INNER, LEAST, MOST, ANSWER, EXAMPLES, LABELS = range(len(NODE))
OWNER, LABEL, COUNT, _ = range(len(ENTRY))
PREDICTORS, ENTRIES, DEEPEST = range(3)  # of ``used``
NONE = 2**32 - 1
MIN_CAPACITY = 1 << 12  # for new entries
ARRAYS = ("nodes", "node_margins", "entries", "entry_margins")


class LogMultiKernelConfig(PerClassKernelConfig):
    def __init__(self, config: LogMultiConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.predictors, self.resistance = config.log_multi - 1, config.swap_resistance


class LogMulti(Tree):
    """``nodes`` uint32[2 classes - 1, 10] begin with the root, ``entries`` uint32[room, 4] are their labels.

    ``margins`` and ``entry_margins``, float64, go with them; ``used`` int64[3] says how many there are.
    """

    name = "log_multi"
    config_type = LogMultiConfig
    native = kernel
    kernel_config = LogMultiKernelConfig

    def __init__(
        self, config: LogMultiConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        count = 2 * self.kernel.predictors + 1
        self.nodes, self.margins = np.zeros((count, len(NODE)), np.uint32), np.zeros(count)
        self.nodes[0, ANSWER] = 1
        self.used = np.zeros(3, np.int64)
        self.set_entries(np.zeros((0, len(ENTRY)), np.uint32), np.zeros(0))

    def set_entries(self, entries: np.ndarray, margins: np.ndarray) -> None:
        """Keep these, with room for others."""
        count = len(entries)
        room = count + (max(count, MIN_CAPACITY, 2 * self.needed()) if self.learning else 1)
        self.entries, self.entry_margins = np.zeros((room, len(ENTRY)), np.uint32), np.zeros(room)
        self.entries[:count], self.entry_margins[:count] = entries, margins
        self.next, self.buckets = np.zeros(room, np.uint32), np.zeros(1 << room.bit_length(), np.uint32)
        self.used[ENTRIES] = count
        kernel.file_entries(self, self.kernel)

    def needed(self) -> int:
        """New entries that an example may need, at most."""
        return int(self.used[DEEPEST]) + 2

    def make_room(self) -> int:
        """For how many examples there is room now: each makes the tree deeper by 1 at most."""
        if self.room() < self.needed() + 1:
            self.set_entries(*self.live_entries())
        needed = self.needed()
        return max(1, int(self.room() // (needed + np.sqrt(self.room()))))

    def room(self) -> int:
        return len(self.entries) - int(self.used[ENTRIES])

    def live_entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Entries and their margins, in order of node and label: those of nodes that have not begun anew."""
        entries, margins = self.entries[: self.used[ENTRIES]], self.entry_margins[: self.used[ENTRIES]]
        order = np.lexsort((entries[:, LABEL], entries[:, OWNER]))
        order = order[entries[order, OWNER] != NONE]
        return entries[order], margins[order]

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        while begin < end:
            last = min(begin + self.make_room(), end) if self.learning else end
            done = super().run(batch, plan, results, begin, last)
            if done < last:
                return done
            begin = last
        return end

    def tables(self, predict_only: bool) -> dict[str, Any]:
        count = 2 * int(self.used[PREDICTORS]) + 1
        tree = (self.nodes[:count], self.margins[:count], *self.live_entries())
        return {**super().tables(predict_only), **dict(zip(ARRAYS, tree, strict=True))}

    @classmethod
    def wanted(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        weights = super().wanted(header, learning)
        return None if weights is None else (*weights, *ARRAYS)

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        super().load(arrays, scalars, whole)
        nodes = numbers(arrays, "nodes", np.uint32, (-1, len(NODE)))
        margins = numbers(arrays, "node_margins", np.float64, (len(nodes),))
        entries = numbers(arrays, "entries", np.uint32, (-1, len(ENTRY)))
        entry_margins = numbers(arrays, "entry_margins", np.float64, (len(entries),))
        if len(nodes) % 2 == 0 or len(nodes) > len(self.nodes):
            raise ValueError("a tree of another number of classes")
        if len(entries) >= NONE or (entries[:, OWNER] >= len(nodes)).any():
            raise ValueError("labels of no node")
        self.used[PREDICTORS], self.used[DEEPEST] = len(nodes) // 2, depth_of(nodes)
        self.nodes[: len(nodes)], self.margins[: len(nodes)] = nodes, margins
        self.set_entries(entries, entry_margins)


def depth_of(nodes: np.ndarray) -> int:
    """How many inner nodes are on the longest way to a leaf. Raises ValueError where the nodes are no tree.

    Nodes that cannot be reached are not looked at.
    """
    seen, level, depth = np.zeros(len(nodes), bool), np.zeros(1, np.uint32), 0
    seen[0] = True
    while len(parents := level[nodes[level, INNER] != 0]):
        level = nodes[parents][:, [LEFT, RIGHT]].reshape(-1)
        if (nodes[parents, PREDICTOR] >= len(nodes) // 2).any() or (level >= len(nodes)).any():
            raise ValueError("an inner node without children")
        if seen[level].any() or len(np.unique(level)) < len(level) or (nodes[level, PARENT] != parents.repeat(2)).any():
            raise ValueError("the nodes are no tree")
        seen[level] = True
        depth += 1
    return depth
