"""Trees of classes: a few two-class contests between sets of weights decide on an example's class.

``--log_multi`` grows its tree with the examples, ``--ect`` holds error-correcting tournaments, ``--filter_tree`` one
tournament, with ``--scoring`` between the scores of latent vectors. The kernels have their names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite._native import ect as ect_kernel
from vwlite._native import log_multi as log_multi_kernel
from vwlite._native import scoring_tree as scoring_tree_kernel
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners.active import QUERIES
from vwlite.learners.class_costs import ClassCosts
from vwlite.learners.configs.trees import EctConfig, FilterTreeConfig, LogMultiConfig, ScoringTreeConfig
from vwlite.learners.ensemble import Ensemble
from vwlite.learners.label_vectors import LabelKernelConfig, LabelVectors
from vwlite.learners.per_class import PerClass, PerClassKernelConfig
from vwlite.learners.row_results import Results, WeightedSum
from vwlite.storage.model_file import numbers
from vwlite.storage.weight_table import Table


class Tree(PerClass):
    """``models`` sets of weights. ``trace_calls`` uint32[n] and ``trace_scores`` float32[n] are for audits."""

    shows_raw = False

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.trace_calls, self.trace_scores = np.empty(0, np.uint32), np.empty(0, np.float32)
        self.trace_size = 0

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        stack = super(PerClass, self).description[0]
        return (*stack, self.config.option), "MULTICLASS", "MULTICLASS"

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        return self.config.classes.display_name(int(results.prediction[row]))

    def want_sums(self) -> None:
        if not len(self.trace_calls):
            # Each set predicts at most once before it learns the example and once after.
            size = 4 * self.config.models + 64
            self.trace_calls, self.trace_scores = np.empty(size, np.uint32), np.empty(size, np.float32)

    def weighted_sums(self, batch: Batch, results: Results, row: int, classes: int | None = None) -> list[WeightedSum]:
        """The sums of the contests on the way to the answer, in their order; each is decided by the sign of its sum."""
        calls = self.trace_calls[: self.trace_size].tolist()
        return [WeightedSum(call // 2, f"contest {call // 2}", float(self.raw[0, call // 2])) for call in calls]

    @property
    def class_names(self) -> Sequence[str]:
        return ()  # weights are of contests

    def audited_classes(self, batch: Batch, row: int) -> Iterable[int]:
        self.want_sums()
        return range(self.config.models)

    def reported_predictions(
        self, results: Results, row: int, classes: Iterable[int]
    ) -> Iterator[tuple[int, bool, float]]:
        """``(set, whether it had learned the row, score)`` in the order of the predictions."""
        calls = self.trace_calls[: self.trace_size].tolist()
        scores = self.trace_scores[: self.trace_size].tolist()
        return ((call // 2, bool(call % 2), score) for call, score in zip(calls, scores, strict=True))


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
    """A tree that grows with the examples.

    ``nodes`` uint32[2 classes - 1, 10] begin with the root, ``entries`` uint32[room, 4] are their labels.

    ``margins`` and ``entry_margins``, float64, go with them; ``used`` int64[3] says how many there are.
    """

    name = "log_multi"
    config_type = LogMultiConfig
    native = log_multi_kernel
    kernel_config = LogMultiKernelConfig

    def __init__(
        self, config: LogMultiConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        count = 2 * self.kernel.predictors + 1
        self.nodes, self.margins = np.zeros((count, len(NODE)), np.uint32), np.zeros(count)
        self.nodes[0, ANSWER] = 1
        self.used = np.zeros(3, np.int64)
        # That a label reached last: where its next example will probably go, which changes no result.
        self.leaves = np.zeros(1 << self.kernel.predictors.bit_length(), np.uint32)
        self.set_entries(np.zeros((0, len(ENTRY)), np.uint32), np.zeros(0))

    def set_entries(self, entries: np.ndarray, margins: np.ndarray) -> None:
        """Keep these, with room for others."""
        count = len(entries)
        room = count + (max(count, MIN_CAPACITY, 2 * self.needed()) if self.learning else 1)
        self.entries, self.entry_margins = np.zeros((room, len(ENTRY)), np.uint32), np.zeros(room)
        self.entries[:count], self.entry_margins[:count] = entries, margins
        self.next, self.buckets = np.zeros(room, np.uint32), np.zeros(1 << room.bit_length(), np.uint32)
        self.used[ENTRIES] = count
        log_multi_kernel.file_entries(self, self.kernel)

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

    def tables(self, predict_only: bool) -> dict[str, np.ndarray | Table]:
        count = 2 * int(self.used[PREDICTORS]) + 1
        tree = (self.nodes[:count], self.margins[:count], *self.live_entries())
        return {**super().tables(predict_only), **dict(zip(ARRAYS, tree, strict=True))}

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        weights = super().needed_arrays(header, learning)
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


WINNER, LOSER, FIRST, SECOND, LAST = range(5)  # columns of contests, as in the kernel


class EctKernelConfig(PerClassKernelConfig):
    def __init__(self, config: EctConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.contests, self.finals = draw(config.ect, config.error + 1)
        self.height = config.error.bit_length()


def draw(count: int, tournaments: int) -> tuple[np.ndarray, np.ndarray]:
    """The contests of ``count`` classes, and the last contest of each tournament.

    Contests are uint32[n, 5] with the columns WINNER, LOSER (the next contest of either, 0 for none), FIRST, SECOND
    (both sides) and LAST. The first ``count`` rows are the classes. The loser of a contest moves on to the next
    tournament, and so do both sides of the last contest of a tournament. The finals are uint32[m].
    """
    most = max((count - 1) * tournaments + tournaments - 1, 1) + count  # contests between winners are not among them
    rows, home = np.zeros((most, 5), np.uint32), np.zeros(most, np.uint32)  # and the tournament of each
    begun, finals = count, []
    none = np.zeros(0, int)
    waiting = [np.arange(count), *[none] * (tournaments - 1)]
    while count > 1 and any(map(len, waiting)):
        later: list[list[np.ndarray]] = [[] for _ in waiting]
        for number, entrants in enumerate(waiting):
            if not len(entrants):
                continue
            last = len(entrants) == 2 and (number == 0 or not len(waiting[number - 1]))
            half = len(entrants) // 2
            contests, sides = np.arange(begun, begun + half), entrants[: 2 * half]
            begun += half
            rows[contests, FIRST], rows[contests, SECOND], rows[contests, LAST] = sides[::2], sides[1::2], last
            home[contests] = number
            rows[sides, np.where(home[sides] == number, WINNER, LOSER)] = np.repeat(contests, 2)
            again = rows[sides[::2], LAST] == 1
            rows[sides[::2][again], WINNER] = contests[again]
            if last:
                finals.append(int(contests[0]))
            else:
                later[number].append(contests)
            if number + 1 < tournaments:
                later[number + 1].append(np.repeat(contests, 1 + last))
            later[number].append(entrants[2 * half :])
        waiting = [np.concatenate(parts) if parts else none for parts in later]
    return rows[:begun], np.array(finals or [0], np.uint32)


class Ect(Tree):
    """Error-correcting tournaments. ``counted_weights`` float32[rows]: the weights with which vw counts examples."""

    name = "ect"
    config_type = EctConfig
    native = ect_kernel
    kernel_config = EctKernelConfig

    def __init__(
        self, config: EctConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.won = np.zeros(config.error + 2, np.uint8)
        self.counted_weights = np.zeros(0, np.float32)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if len(self.counted_weights) < len(results):
            self.counted_weights = np.zeros(len(results), np.float32)
        end = super().run(batch, plan, results, begin, end)
        if self.vw_compat:
            if begin == 0:
                batch.importance = batch.importance.copy()
            batch.importance[begin:end] = self.counted_weights[begin:end]
        return end


class ScoringKernelConfig(LabelKernelConfig):
    """``ScoringTreeConfig`` in the words of the kernel."""

    def show(self, config: ScoringTreeConfig) -> None:  # type: ignore[override]
        self.probabilities = config.probabilities

    flow_decays_weights = False


class ScoringTree(ClassCosts, LabelVectors):
    """A filter tree whose contests are between the scores of latent vectors.

    ``costs`` float32[rows, classes] and ``first`` int32[rows] are of the rows at work, which begin at ``begin``.
    """

    name = "scoring_tree"
    config_type = ScoringTreeConfig
    native = scoring_tree_kernel
    kernel_config = ScoringKernelConfig
    lowest_first = False

    def __init__(self, config: ScoringTreeConfig, bits: int, **options: Any) -> None:
        super().__init__(config, bits, **options)
        self.costs, self.first, self.begin = np.zeros((0, config.count), np.float32), np.zeros(0, np.int32), 0

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        before = self.counts[QUERIES]
        end = self.run_pieces(batch, plan, results, begin, end)
        self.queried = int(self.counts[QUERIES] - before)
        return end

    def run_piece(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> None:
        self.costs, self.first = self.costs_of(batch, results, begin, end)
        self.begin = begin
        super().run(batch, plan, results, begin, end)

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        predictions = "SCALARS" if self.shows_scores else "MULTICLASS"
        labels = "CS" if self.config.costs else "MULTICLASS"
        return ("filter_tree", "scoring", self.config.loss.name), labels, predictions

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        if not self.kernel.probabilities:
            return []
        loss, weight = self.log_loss[:, int(held)].tolist()
        return [("average multiclass log loss", loss / weight)] if weight else []


class FilterTree(Ensemble):
    """A class, or the cheapest of classes with costs, by a tournament of two-class learners of any kind.

    Beygelzimer, Langford and Ravikumar (2009), algorithm 1. Every inner node of a binary tree over the classes learns
    which of the winners below it costs less, and how much that matters is the importance it learns with. What a node
    learns depends on what the nodes below predicted, not on the other examples: so the nodes of a batch are run one
    after the other, from the bottom up, with the very results of running its examples one by one.

    Nodes are numbered like a heap's: n has the children 2n and 2n + 1, class c is the leaf ``classes + c``.
    """

    name = "filter_tree"
    config_type = FilterTreeConfig
    shows_raw = False
    one_less = 1

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        stack = self.nodes[0].description[0]
        return (*stack, "filter_tree"), "CS" if self.config.costs else "MULTICLASS", "MULTICLASS"

    def run_piece(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> None:
        rows, count = slice(begin, end), self.config.count
        if len(self.inner) < len(results):
            self.inner.reserve(len(results))
        self.inner.holdout_mask = results.holdout_mask
        costs, first = self.costs_of(batch, results, begin, end)
        winner = np.tile(np.arange(-count, count, dtype=np.int32), (end - begin, 1))
        known, place = ~np.isnan(batch.label[rows]), np.arange(end - begin)
        label, importance = batch.label.copy(), batch.importance.copy()
        for number in range(count - 1, 0, -1):
            left, right = winner[:, 2 * number], winner[:, 2 * number + 1]
            with np.errstate(invalid="ignore"):
                apart = costs[place, left] - costs[place, right]
            apart[~np.isfinite(apart)] = 0
            label[rows] = np.where(known, np.where(apart < 0, 1, -1), np.nan)
            importance[rows] = np.abs(apart) * batch.importance[rows]
            contest = replace(batch, label=label, importance=importance)
            self.nodes[number - 1].run(contest, plan, self.inner, begin, end)
            winner[:, number] = np.where(self.inner.raw[rows] > 0, left, right)
        answer = winner[:, 1]
        with np.errstate(invalid="ignore"):
            above = costs[place, answer] - costs.min(axis=1)
        predicted = batch.is_example[rows]
        results.prediction[rows] = np.where(predicted, answer + first, 0)
        results.raw[rows] = first
        results.loss[rows] = np.where(predicted & known & np.isfinite(above), above * batch.importance[rows], 0)
        results.features[rows] = self.inner.features[rows]
