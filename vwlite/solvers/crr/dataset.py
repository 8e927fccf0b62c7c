"""A training set in memory with random access to its rows, the whole cache or a sample of a pipe, and its labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.shuffle import PASS_SEED, Rows
from vwlite.errors import DataError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, new_namespaces
from vwlite.features.gamma import find_gamma
from vwlite.features.group_columns import Queries
from vwlite.features.hashing import mix64
from vwlite.features.landmarks import LandmarkMap
from vwlite.features.name_index import NameIndex
from vwlite.learners.losses import LossConfig
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.pair_sampling import PairIndex, RowColumns, drawn_whole, pair_index
from vwlite.training.counters import Counters
from vwlite.training.curriculum import difficulties
from vwlite.training.namespace_report import Sightings

COLUMNS = ("label", "importance", "query", "batch", "row")
MIN_NEW_ROWS = 1 << 16  # rows collected before the sample is reduced again


class GradedLabels:
    """Takes any number, but for logistic -1/1, or 0 to 1, or what lies between limits that were given. Hinge, modified
    Huber: labels above 0 are the upper class, pairs go by order.
    """

    hints: ClassVar[dict[int, str]] = {}

    def __init__(self, loss: LossConfig) -> None:
        self.loss = loss
        self.limited = loss.soft
        self.low, self.zero, self.between = False, False, False
        self.negative: float | None = None

    def check(self, batch: Batch) -> np.ndarray:
        """The labels as they are, float32[n]. Raises DataError at the first that does not fit."""
        labels = batch.label
        if self.loss.name != "logistic":
            self.low, self.zero = self.low or bool((labels < 0).any()), self.zero or bool((labels == 0).any())
            return labels
        if self.limited:
            wrong = ~self.loss.accepts(labels)
        else:
            self.low = self.low or bool((labels == -1).any())
            self.zero = self.zero or bool((labels == 0).any())
            self.between = self.between or bool(((labels > 0) & (labels < 1)).any())
            wrong = (labels < 0) & (labels != -1) | (labels > 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            rule = self.loss.label_rule if self.limited else "-1 and 1, or from 0 to 1"
            raise DataError(
                f"{batch.location(row)}: label {labels[row]:g} does not fit --loss_function logistic: "
                f"labels must be {rule} (--logistic_min and --logistic_max give other limits)"
            )
        return labels

    def settle(self) -> None:
        """Settle the kind of labels, after the last one. Raises DataError when labels -1 are mixed with labels from
        0."""
        if self.loss.name != "logistic" or self.limited:
            if self.loss.name in ("hinge", "modified_huber"):
                self.negative = -1.0 if self.low else 0.0 if self.zero else None
            return
        if self.low and (self.zero or self.between):
            raise DataError("labels mix -1 with labels from 0 to 1: use either -1 and 1, or 0 to 1")
        if self.between:
            self.loss = replace(self.loss, logistic_min=0.0, logistic_max=1.0)
        else:
            self.negative = -1.0 if self.low else 0.0 if self.zero else None

    @property
    def ends(self) -> tuple[float, float]:
        """The labels that mean probability 0 and 1."""
        if self.loss.name == "logistic" and self.negative is not None:
            return self.negative, 1.0
        return self.loss.logistic_min, self.loss.logistic_max


class TrainingSet:
    """Labelled rows of some importance, with their queries.

    ``rows`` gives access to the batches; columns per row: ``label`` float32, ``importance`` float64, ``query`` uint64,
    ``batch`` and ``row`` uint32 (number of its batch, and of the row in it).
    """

    def __init__(
        self, labels: GradedLabels, queries: Queries, features: FeatureConfig, plan: Plan, input: InputConfig,
        names: NameIndex | None = None,
    ) -> None:
        """``input`` as it was read; ``names`` of features are collected in there."""
        self.labels, self.by, self.features, self.plan, self.input = labels, queries, features, plan, input
        self.names = names
        if isinstance(plan.random, LandmarkMap) and not (plan.weights or plan.random.count):
            find_gamma(plan, ())
        self.sightings = Sightings(features, plan)
        self.counters = Counters()
        self.batches: list[Batch] = []
        self.columns: dict[str, list[np.ndarray]] = {name: [] for name in COLUMNS}
        self.queries = 0
        self.rows_of_index: RowColumns | None = None

    def read(self, inputs: Inputs, policy: BadLines) -> None:
        """Write the cache, unless there is one, and read all rows from it."""
        if inputs.cache is None:
            for part in inputs.texts():
                batch = policy.examine(part)
                if self.names is not None:
                    self.learn_names(self.plan.extend(batch))
                if batch.release:
                    batch.release()
        else:
            policy.recall(inputs.cache.lines, inputs.cache.bad)
        policy.finish()
        for batch in inputs.kept():
            extended = self.plan.extend(policy.relabel(batch), learning=True)
            self.add(extended, self.by.of(extended), extended.importance)

    def read_sample(self, inputs: Inputs, policy: BadLines, size: int, seed: int) -> None:
        """Keep ``size`` rows of each label of each query, and give them the importance of all that were read."""
        self.sample(map(policy.examine, inputs.texts()), PairBuffer(size, seed))
        policy.finish()

    def take(self, batches: Iterable[Batch], policy: BadLines, config: CrrConfig) -> None:
        """Batches from memory, or a sample of their rows; they stay as they are. Raises DataError for a label."""
        own = (policy.relabel(replace(batch)) for batch in batches)  # models of memory have no Theta
        if config.pair_buffer:
            self.sample(own, PairBuffer(config.pair_buffer, config.seed))
            return
        for batch in own:
            if self.names is not None:
                self.learn_names(batch)
            query = self.by.of(batch)
            self.add(batch.copy(), query, batch.importance)
            if batch.release:
                batch.release()

    def sample(self, batches: Iterable[Batch], kept: PairBuffer) -> None:
        for one in batches:
            batch = self.plan.extend(one, learning=True)
            self.sightings.add(batch, 0, len(batch))
            if self.names is not None:
                self.learn_names(batch)
            kept.add(batch, self.by.of(batch), batch.is_learnable)
            if batch.release:
                batch.release()
        self.add(*kept.finish())

    def learn_names(self, batch: Batch) -> None:
        self.meet(batch)
        self.names.add(batch, self.plan, 0, len(batch))

    def meet(self, batch: Batch) -> None:
        """Wildcards stand for all namespaces, from the first step on."""
        self.sightings.add(batch, 0, len(batch))
        if self.plan.wild:
            for characters in new_namespaces(batch, self.plan).values():
                self.plan.see(characters)

    def add(self, batch: Batch, query: np.ndarray, importance: np.ndarray) -> None:
        self.meet(batch)
        rows = np.flatnonzero(batch.is_learnable)
        columns = {
            "label": batch.label[rows],
            "importance": importance[rows].astype(np.float64),
            "query": query[rows],
            "batch": np.full(len(rows), len(self.batches), np.uint32),
            "row": rows.astype(np.uint32),
        }
        for name, values in columns.items():
            self.columns[name].append(values)
        self.batches.append(batch)

    def weigh_terms(self) -> None:
        """Let examples have the terms that steps are to learn from."""
        weights = self.plan.weights
        if weights and weights.waiting:
            for batch in self.batches:
                weights.count(batch)
            weights.settle()
        find_gamma(self.plan, self.batches)
        if weights:
            for number, batch in enumerate(self.batches):
                self.batches[number] = weights.apply(batch)[0]
                if weights.degree is not None:
                    self.columns["importance"][number] *= weights.degree[self.columns["row"][number]]

    def difficulty(self, by: str) -> np.ndarray:
        """float64[rows], of a curriculum; before ``pair_index``."""
        pairs = zip(difficulties(by, self.batches, self.features), self.columns["row"], strict=True)
        return np.concatenate([np.zeros(0), *(values[rows] for values, rows in pairs)])

    def column(self, name: str) -> np.ndarray:
        parts = self.columns.pop(name)
        return np.concatenate(parts) if parts else np.zeros(0)

    def pair_index(self, config: CrrConfig, wants_pairs: bool, keep: bool = False) -> PairIndex:
        """Call it once; ``keep``: ``rows_of_index`` has the columns, for other indices.

        Raises DataError when there is no example, or no pair although pairs are wanted.
        """
        self.weigh_terms()
        label, importance, query = self.column("label"), self.column("importance"), self.column("query")
        if not len(label):
            raise DataError("there is no labelled example to learn from")
        self.labels.settle()
        self.by.check()
        self.queries = len(np.unique(query))
        self.counters.example_number = len(label)
        self.rows = Rows(self.batches)
        location = (self.column("batch"), self.column("row"))
        pairs = pair_index(query, label, importance, location, config.draws)
        self.rows_of_index = RowColumns(query, label, importance, location) if keep else None
        if wants_pairs and not len(pairs.query_start):
            raise DataError(
                f"no query has two different labels ({self.queries} queries, {len(label)} examples): "
                "--qid says what the queries are, --qid none makes all examples one query, --alpha 1 needs no pairs"
            )
        return drawn_whole(pairs, config.pairing) if config.takes_queries and wants_pairs else pairs


class PairBuffer:
    """Keeps ``size`` rows of each (query, label), every row with the same probability.

    Every row gets a random key; the rows with the smallest keys are kept. In the end their importance is scaled so that
    it adds up to that of all rows that were read.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed, self.taken = size, seed, 0
        self.batches: list[Batch] = []
        self.columns: list[tuple[np.ndarray, ...]] = []  # query, label, random key, importance, rest
        self.rows = self.kept = 0
        self.totals: dict[tuple[int, float], float] = {}  # importance of all rows by query and label

    def add(self, batch: Batch, query: np.ndarray, usable: np.ndarray) -> None:
        """Take in the usable rows of a batch, whose arrays may change afterwards."""
        rows = np.flatnonzero(usable)
        keys = keys_of(self.taken, len(rows), self.seed)
        self.taken += len(rows)
        copied = Rows([batch]).take(rows.astype(np.int64)).copy()
        self.count(query[rows], copied.label, copied.importance.astype(np.float64))
        self.batches.append(copied)
        self.columns.append((query[rows], copied.label, keys))
        self.rows += len(rows)
        if self.rows >= 2 * self.kept + MIN_NEW_ROWS:
            self.compact()

    def count(self, query: np.ndarray, label: np.ndarray, importance: np.ndarray) -> None:
        order = np.lexsort((label, query))
        query, label, importance = query[order], label[order], importance[order]
        new = np.flatnonzero(np.concatenate(([True], (query[1:] != query[:-1]) | (label[1:] != label[:-1]))))
        if len(query):
            sums = np.add.reduceat(importance, new)
            for group in zip(query[new].tolist(), label[new].tolist(), sums.tolist(), strict=True):
                self.totals[group[:2]] = self.totals.get(group[:2], 0.0) + group[2]

    def compact(self) -> None:
        """Leave the rows of the smallest keys, in the order they came in."""
        query, label, key = (np.concatenate(column) for column in zip(*self.columns, strict=True))
        order = np.lexsort((key, label, query))
        new = np.concatenate(([True], (np.diff(query[order]) != 0) | (np.diff(label[order]) != 0)))
        rank = np.arange(len(order)) - np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
        keep = np.sort(order[rank < self.size]).astype(np.int64)
        self.batches = [Rows(self.batches).take(keep).copy()]
        self.columns = [(query[keep], label[keep], key[keep])]
        self.rows = self.kept = len(keep)

    def finish(self) -> tuple[Batch, np.ndarray, np.ndarray]:
        """The batch of the rows kept, their queries and the importance they stand for."""
        if not self.batches:
            return Rows([]).take(np.zeros(0, np.int64)), np.zeros(0, np.uint64), np.zeros(0)
        self.compact()
        batch, (query, label, _) = self.batches[0], self.columns[0]
        importance = batch.importance.astype(np.float64)
        groups = list(zip(query.tolist(), label.tolist(), strict=True))
        kept: dict[tuple[int, float], float] = {}
        for group, weight in zip(groups, importance.tolist(), strict=True):
            kept[group] = kept.get(group, 0.0) + weight
        share = np.array([self.totals[group] / kept[group] for group in groups])
        return batch, query, importance * np.where(np.isclose(share, 1), 1, share)


def keys_of(first: int, count: int, seed: int) -> np.ndarray:
    """uint64[count]: SplitMix64 of the rows' numbers from ``first`` on."""
    with np.errstate(over="ignore"):
        rows = np.arange(first + 1, first + count + 1, dtype=np.uint64)
        return mix64((rows + np.uint64(seed)) * np.uint64(PASS_SEED | 1))
