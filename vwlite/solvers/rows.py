"""Examples as sparse rows over the slots that occur, from files, caches or memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from vwlite.data.batch import BLANK, Batch, Csr
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.features.gamma import settle_gamma
from vwlite.features.name_index import NameIndex
from vwlite.features.term_weights import TermWeights, meet, terms_of
from vwlite.training.namespace_report import Sightings


class Part(NamedTuple):
    """The rows of a batch; of weight 0 where a line is blank."""

    batch: Batch
    terms: Csr  # by slots
    weight: np.ndarray  # float32[rows], importance


class Rows:
    """The rows of ``batches``, pass by pass."""

    names: NameIndex | None = None

    def __init__(self, features: FeatureConfig, seen: list[int]) -> None:
        """``seen``: namespaces that wildcards stand for at first."""
        self.plan = Plan(features, seen)
        self.weights = TermWeights(features, self.plan)
        if features.weighs_terms:
            self.plan.weights = self.weights

    def batches(self) -> Iterator[Batch]:
        """Of one pass. Raises DataError, Interrupted."""
        raise NotImplementedError

    def count_terms(self) -> None:
        """What ``--weight`` needs to know of all examples, where it is not known already."""
        if self.weights.waiting:
            for batch in self.batches():
                self.weights.count(batch)
            self.weights.settle()

    def parts(self) -> Iterator[Part]:
        """The rows of one pass. Raises DataError, Interrupted."""
        for batch in settle_gamma(self.plan, self.batches()):
            yield self.part(batch)

    def part(self, batch: Batch) -> Part:
        meet(batch, self.plan)
        terms, degree = self.weights.terms(batch)
        if self.plan.random and self.plan.weights:
            terms = terms_of(*self.weights.apply(batch))
        weight = np.where(batch.flags & BLANK, 0, batch.importance)
        return Part(batch, terms, (weight if degree is None else weight * degree).astype(np.float32))


class RowSource(Rows):
    """The rows of ``inputs``; the first pass that reads text makes the cache that later ones read."""

    def __init__(
        self, features: FeatureConfig, inputs: Inputs, policy: BadLines, seen: list[int], names: NameIndex | None = None
    ) -> None:
        """``names`` of features are collected in there."""
        super().__init__(features, seen)
        self.inputs, self.policy, self.names = inputs, policy, names
        self.finished = False
        self.sightings = Sightings(features, self.plan, inputs.config.columns)

    def batches(self) -> Iterator[Batch]:
        for batch in self.again() if self.finished or self.inputs.state == "using" else self.texts():
            self.sightings.add(batch, 0, len(batch))
            yield batch
            if batch.release:
                batch.release()

    def again(self) -> Iterator[Batch]:
        if not self.finished and self.inputs.cache is not None:
            self.policy.recall(self.inputs.cache.lines, self.inputs.cache.bad)
            self.policy.finish()
            self.finished = True
        return map(self.policy.relabel, self.inputs.cached())

    def texts(self) -> Iterator[Batch]:
        for part in self.inputs.texts():
            batch = self.policy.examine(part)
            meet(batch, self.plan)
            if self.names is not None:
                self.names.add(batch, self.plan)
            yield batch
        self.policy.finish()
        self.finished = True


class MemoryRows(Rows):
    """The rows of batches in memory."""

    def __init__(self, features: FeatureConfig, given: list[Batch], seen: list[int]) -> None:
        super().__init__(features, seen)
        self.given = given

    def batches(self) -> Iterator[Batch]:
        return iter(self.given)


def check_slots(slots: np.ndarray, bits: int, ascending: bool = True) -> None:
    """Raises ValueError for what are not different slots of a table of 2^bits, in order where ``ascending``."""
    ordered = slots if ascending else np.sort(slots)
    if (ordered[1:] <= ordered[:-1]).any() or (len(ordered) and ordered[-1] >= 2**bits):
        raise ValueError("its slots")


class SlotRows:
    """Numbers the slots of a table of 2^bits that occur."""

    def __init__(self, bits: int, slots: np.ndarray) -> None:
        """``slots`` uint32[n], different ones, have the first numbers."""
        self.number = np.zeros(2**bits, np.int32)  # plus 1; memory is taken where slots occur
        self.renumber(slots)

    def __len__(self) -> int:
        return len(self.slots)

    def renumber(self, slots: np.ndarray) -> None:
        """Give numbers to the slots, all that there are, in another order."""
        self.slots = slots
        self.number[slots] = np.arange(1, len(slots) + 1)

    def find(self, slots: np.ndarray) -> np.ndarray:
        """int64[n]: the numbers of slots, -1 of unknown ones."""
        return self.number[slots].astype(np.int64) - 1

    def admit(self, slots: np.ndarray, check: Callable[[int], None]) -> np.ndarray:
        """uint32: those new ones, ascending, that have the next numbers from now on; ``check`` gets their number."""
        new = np.unique(slots[self.number[slots] == 0])
        if len(new):
            check(len(self) + len(new))
            self.number[new] = np.arange(len(self) + 1, len(self) + len(new) + 1)
            self.slots = np.concatenate((self.slots, new))
        return new
