"""A training set in memory with random access to its rows: the whole cache, or a sample of a pipe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.shuffle import Rows
from vwlite.errors import DataError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, new_namespaces
from vwlite.features.gamma import find_gamma
from vwlite.features.name_index import NameIndex
from vwlite.features.query_ids import Queries
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.labels import GradedLabels
from vwlite.solvers.crr.pair_sampling import PairIndex, RowColumns, drawn_whole, pair_index
from vwlite.solvers.crr.reservoir import PairBuffer
from vwlite.training.counters import Counters
from vwlite.training.curriculum import difficulties
from vwlite.training.namespace_report import Sightings

COLUMNS = ("label", "importance", "query", "batch", "row")


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
        self.labels, self.by, self.plan, self.input, self.names = labels, queries, plan, input, names
        self.sightings = Sightings(features, plan)
        self.counters = Counters()
        self.batches: list[Batch] = []
        self.columns: dict[str, list[np.ndarray]] = {name: [] for name in COLUMNS}
        self.seen: set[int] = plan.seen
        self.queries = 0
        self.rows_of_index: RowColumns | None = None

    def read(self, inputs: Inputs, policy: BadLines) -> None:
        """Write the cache, unless there is one, and read all rows from it."""
        if inputs.cache is None:
            for part in inputs.texts():
                batch = policy.examine(part)
                if self.names is not None:
                    self.learn_names(batch)
                if batch.release:
                    batch.release()
        else:
            policy.recall(inputs.cache.lines, inputs.cache.bad)
        policy.finish()
        for batch in inputs.kept():
            policy.relabel(batch)
            self.add(batch, self.by.of(batch), batch.importance)

    def read_sample(self, inputs: Inputs, policy: BadLines, size: int, seed: int) -> None:
        """Keep ``size`` rows of each label of each query, and give them the importance of all that were read."""
        self.sample(map(policy.examine, inputs.texts()), PairBuffer(size, seed))
        policy.finish()

    def take(self, batches: Iterable[Batch], policy: BadLines, config: CrrConfig) -> None:
        """Batches from memory, or a sample of their rows; they stay as they are. Raises DataError for a label."""
        own = (policy.relabel(replace(batch)) for batch in batches)
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
        for batch in batches:
            self.sightings.add(batch, 0, len(batch))
            if self.names is not None:
                self.learn_names(batch)
            kept.add(batch, self.by.of(batch), usable(batch))
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
        rows = np.flatnonzero(usable(batch))
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

    def difficulty(self, by: str, features: FeatureConfig) -> np.ndarray:
        """float64[rows], of a curriculum; before ``pair_index``."""
        found = zip(difficulties(by, self.batches, features), self.columns["row"], strict=True)
        return np.concatenate([np.zeros(0), *(values[rows] for values, rows in found)])

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
        pairs = pair_index(query, label, importance, location, config.sampling)
        self.rows_of_index = RowColumns(query, label, importance, location) if keep else None
        if wants_pairs and not len(pairs.query_start):
            raise DataError(
                f"no query has two different labels ({self.queries} queries, {len(label)} examples): "
                "--qid says what the queries are, --qid none makes all examples one query, --alpha 1 needs no pairs"
            )
        return drawn_whole(pairs, config.pairing) if config.takes_queries and wants_pairs else pairs


def usable(batch: Batch) -> np.ndarray:
    """bool[n]: rows with a label, of some importance."""
    return ~np.isnan(batch.label) & (batch.importance > 0) & (batch.flags & (BLANK | SAVE) == 0)


