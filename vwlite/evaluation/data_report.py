"""The report of ``vwlite check``: examples, labels, namespaces, features, slots that are shared, near constants."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TypedDict

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import TAGGED, Batch
from vwlite.data.logged_decisions import offset_advice
from vwlite.errors import escaped
from vwlite.evaluation.label_report import Numbers
from vwlite.features.hashing import HashSet

MAX_COUNTED_LABELS = 20  # different labels, up to which each is counted
MAX_COUNTED_NAMESPACES = 1000
MAX_COLLISION_SHARE = 0.1  # of features that share a slot, at the number of bits advised
MAX_ODD_NUMBERS = 1 << 20  # different ones that are remembered
MIN_BITS, MAX_BITS = 18, 30  # numbers of bits that are compared


class SpaceCounts(TypedDict):
    """Of a namespace: in how many lines it is, and its features there."""

    name: str
    lines: int
    features: int


class DataReport:
    """Counts batch after batch; ``report`` is JSON data. Examples are lines that hold anything.

    ``reader`` has read the labels of the batches.
    """

    def __init__(self, reader: Numbers) -> None:
        self.reader = reader
        self.examples = self.blank = self.unlabelled = self.tagged = self.weighted = 0
        self.weight = self.label_sum = 0.0
        self.lowest, self.highest = math.inf, -math.inf
        self.labels: Counter[float] = Counter()
        self.features = RunningStats()
        self.values = RunningStats()
        self.ones = 0
        self.spaces: dict[int, SpaceCounts] = {}
        self.other_spaces = 0  # occurrences of namespaces beyond the first MAX_COUNTED_NAMESPACES
        self.distinct = HashSet()  # but for those of ``numbers``, until the report is made
        self.numbers = OddNumbers()
        self.logged = LoggedCosts()

    def add(self, batch: Batch) -> None:
        rows = batch.is_example
        self.blank += len(batch) - int(rows.sum()) - len(self.reader.wrong)
        self.examples += int(rows.sum())
        self.tagged += int((batch.flags[rows] & TAGGED != 0).sum())
        importance = batch.importance[rows].astype(np.float64)
        self.weighted += int((importance != 1).sum())
        self.weight += float(importance.sum())
        self.add_labels(batch.label[rows])
        edges = batch.namespace_start[batch.row_namespace].astype(np.int64)
        self.features.add(np.diff(edges)[rows])
        end = int(edges[-1]) if len(edges) else 0
        values = batch.value[:end]
        self.values.add(values)
        self.ones += int((values == 1).sum())
        self.distinct.add(batch.feature_hash[:end][~self.numbers.take(batch, end)])
        self.add_spaces(batch)
        self.logged.add(batch)

    def add_labels(self, labels: np.ndarray) -> None:
        known = labels[~np.isnan(labels)]
        self.unlabelled += len(labels) - len(known)
        if not len(known):
            return
        self.label_sum += float(known.sum(dtype=np.float64))
        self.lowest, self.highest = min(self.lowest, float(known.min())), max(self.highest, float(known.max()))
        if len(self.labels) <= MAX_COUNTED_LABELS:
            values, counts = np.unique(known, return_counts=True)
            for value, count in zip(values[: MAX_COUNTED_LABELS + 1].tolist(), counts.tolist(), strict=False):
                self.labels[value] += count

    def add_spaces(self, batch: Batch) -> None:
        last = int(batch.row_namespace[-1])
        hashes, first, inverse, counts = np.unique(
            batch.namespace_hash[:last], return_index=True, return_inverse=True, return_counts=True
        )
        sizes = np.diff(batch.namespace_start[: last + 1].astype(np.int64))
        features = np.bincount(inverse.ravel(), weights=sizes, minlength=len(hashes))
        for number in np.argsort(first).tolist():
            space = self.space(int(hashes[number]), batch, int(first[number]))
            if space is None:
                self.other_spaces += 1
                continue
            space["lines"] += int(counts[number])
            space["features"] += int(features[number])

    def space(self, hash: int, batch: Batch, segment: int) -> SpaceCounts | None:
        if hash not in self.spaces:
            if len(self.spaces) >= MAX_COUNTED_NAMESPACES:
                return None
            self.spaces[hash] = {"name": name_of(batch, segment), "lines": 0, "features": 0}
        return self.spaces[hash]

    def report(self) -> JsonObject:
        labelled = self.examples - self.unlabelled
        counts = self.reader.counts
        numbers = counts is None and labelled > 0
        few = len(self.labels if counts is None else counts) <= MAX_COUNTED_LABELS
        if counts is None:
            shown = {f"{label:g}": self.labels[label] for label in sorted(self.labels)}
        else:
            shown = self.reader.class_counts()
        warnings = [*self.numbers.warnings(self.distinct), *self.logged.sentences()]
        self.distinct.add(np.array([*self.numbers.names], np.uint32))
        shared = self.distinct.shared(range(MIN_BITS, MAX_BITS + 1))
        return {
            "examples": self.examples,
            "blank_lines": self.blank,
            "unlabelled": self.unlabelled,
            "tagged": self.tagged,
            "importance_not_1": self.weighted,
            "total_importance": self.weight,
            **self.reader.report(),
            "decisions": self.logged.report(),
            "label_min": self.lowest if numbers else None,
            "label_mean": self.label_sum / labelled if numbers else None,
            "label_max": self.highest if numbers else None,
            "labels": shown if few else None,
            "losses": self.losses(few) if numbers else [],
            "features_per_example": self.features.report(),
            "values": {**self.values.report(), "ones": self.ones},
            "namespaces": sorted(self.spaces.values(), key=lambda space: (-space["features"], space["name"])),
            "further_namespaces": self.other_spaces,
            "distinct_features": len(self.distinct),
            "distinct_features_is_a_lower_bound": self.distinct.full,
            "share_of_features_that_share_a_slot": {str(bits): share for bits, share in shared.items()},
            "warnings": warnings,
            "bits": next((bits for bits, share in shared.items() if share <= MAX_COLLISION_SHARE), MAX_BITS),
        }

    def losses(self, few: bool) -> list[str]:
        """Losses that take all of the labels."""
        losses = ["squared", "quantile"]
        if few and (set(self.labels) <= {0.0, 1.0} or set(self.labels) <= {-1.0, 1.0}):
            losses += ["logistic", "hinge"]
        return losses + ["poisson"] * (self.lowest >= 0)


class OddNumbers:
    """Features whose names are digits, but not the number below 2^32 of their hash as usually written: 007, 4294967297.
    """

    def __init__(self) -> None:
        self.names: dict[int, bytes] = {}  # by hash, the first one of it
        self.alike: dict[bytes, bytes] = {}  # further names, and the first of the same hash

    def take(self, batch: Batch, end: int) -> np.ndarray:
        """bool[end]: which of the batch's first ``end`` features are held here."""
        held = np.zeros(end, bool)
        for place in find_large_numbers(batch, end):
            number, name = int(batch.feature_hash[place]), name_at(batch, place)
            if number in self.names or len(self.names) < MAX_ODD_NUMBERS:
                held[place] = True
                if self.names.setdefault(number, name) != name:
                    self.alike.setdefault(name, self.names[number])
        return held

    def warnings(self, others: HashSet) -> list[str]:
        """A sentence where two names are one feature; ``others`` has the hashes of all other features."""
        met = np.isin([*self.names], others.hashes()).tolist() if self.names else []
        usual = {name: number_with_hash(name) for name, known in zip(self.names.values(), met, strict=True) if known}
        alike = {**usual, **self.alike}
        if not alike:
            return []
        name, other = (name.decode() for name in next(iter(alike.items())))
        more = f" (and {len(alike) - 1} more such names)" if len(alike) > 1 else ""
        rule = "of names of digits the number counts, modulo 2^32 (--hash all makes names of them)"
        return [f"{name} and {other}{more} are one feature at any -b: {rule}"]


def find_large_numbers(batch: Batch, end: int) -> Iterator[int]:
    """The places of such features among the first ``end``."""
    names, text = batch.names, np.frombuffer(batch.text, np.uint8)
    sizes = names.end[:end].astype(np.int64) - names.start[:end]
    places = np.flatnonzero((names.kind[:end] == 0) & (sizes > 1))
    first, last = text[names.start[places]] - ord("0"), text[names.end[places] - 1] - ord("0")
    likely = (first <= 9) & (last <= 9) & ((first == 0) | (sizes[places] >= len("4294967296")))
    for place in places[likely].tolist():
        name = name_at(batch, place)
        if name.isdigit() and name != number_with_hash(name):
            yield place


def name_at(batch: Batch, feature: int) -> bytes:
    return bytes(batch.text[batch.names.start[feature] : batch.names.end[feature]])


def number_with_hash(name: bytes) -> bytes:
    """The number below 2^32 that a name of digits has the hash of: its last 32 digits tell."""
    return b"%d" % (int(name[-32:]) % (1 << 32))


class LoggedCosts:
    """Costs of logged decisions, and the probabilities of the actions shown."""

    def __init__(self) -> None:
        self.costs, self.chances, self.inverses = RunningStats(), RunningStats(), RunningStats()
        self.at_highest = 0

    def add(self, batch: Batch) -> None:
        if batch.probability is None or batch.lists is None:
            return
        observed = batch.is_example & ~np.isnan(batch.probability)
        of_observed = np.repeat(observed, np.diff(batch.lists.indptr))
        costs = batch.lists.values[of_observed & np.isfinite(batch.lists.values)]
        chances = batch.probability[observed].astype(np.float64)
        before = self.costs.high
        for stats, numbers in ((self.costs, costs), (self.chances, chances), (self.inverses, 1 / chances)):
            stats.add(numbers)
        kept = self.at_highest if self.costs.high == before else 0
        self.at_highest = kept + int((costs == self.costs.high).sum())

    def report(self) -> dict[str, object] | None:
        if not self.costs.count:
            return None
        inverse = self.inverses.report()["mean"]
        chances = {"costs": self.costs.report(), "probabilities": self.chances.report()}
        return {**chances, "mean_inverse_probability": inverse}

    def sentences(self) -> list[str]:
        if not self.costs.count or self.costs.low == self.costs.high:
            return []
        return offset_advice(self.at_highest / self.costs.count, self.costs.high)


class RunningStats:
    """Smallest, mean and largest of many numbers."""

    def __init__(self) -> None:
        self.count, self.sum, self.low, self.high = 0, 0.0, math.inf, -math.inf

    def add(self, numbers: np.ndarray) -> None:
        if len(numbers):
            self.count += len(numbers)
            self.sum += float(numbers.sum(dtype=np.float64))
            self.low, self.high = min(self.low, float(numbers.min())), max(self.high, float(numbers.max()))

    def report(self) -> JsonObject:
        if not self.count:
            return {"count": 0, "min": None, "mean": None, "max": None}
        return {"count": int(self.count), "min": self.low, "mean": self.sum / self.count, "max": self.high}


def name_of(batch: Batch, segment: int) -> str:
    """A namespace's name as the text has it; empty for the anonymous one."""
    start, end = int(batch.names.namespace_start[segment]), int(batch.names.namespace_end[segment])
    return bytes(batch.text[start:end]).decode("utf-8", "backslashreplace")[:100]


MOST = 1000  # features that are followed, the first that have values other than 1
FEW = 20  # values, of which nothing is said
EVERY = 8  # batches, of which one is looked at, but for the first of them all
FAR = 5  # standard deviations from 0


class Offsets:
    """Looks at the first batches, and at some of the others."""

    def __init__(self) -> None:
        self.batches = self.examples = 0
        self.hashes = np.zeros(0, np.uint32)  # ascending
        self.names: dict[int, str] = {}  # by hash
        self.sums = np.zeros((4, 0))  # each: first value, count, sums of distances from the first, and squared

    def add(self, batch: Batch) -> None:
        self.batches += 1
        if self.batches > EVERY and self.batches % EVERY:
            return
        self.examples += int(batch.is_example.sum())
        end = int(batch.namespace_start[batch.row_namespace[-1]])
        hashes, values = batch.feature_hash[:end], batch.value[:end].astype(np.float64)
        if len(self.hashes) < MOST:
            self.meet(batch, np.flatnonzero((values != 1) & np.isfinite(values)))
        if not len(self.hashes):
            return
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        known = self.hashes[places] == hashes
        places, apart = places[known], values[known] - self.sums[0, places[known]]
        for row, what in enumerate((None, apart, np.square(apart)), 1):
            self.sums[row] += np.bincount(places, what, len(self.hashes))

    def meet(self, batch: Batch, places: np.ndarray) -> None:
        """Take in the features at these places that are new."""
        hashes, first = np.unique(batch.feature_hash[places], return_index=True)
        new = ~np.isin(hashes, self.hashes)
        hashes, first = hashes[new][: MOST - len(self.hashes)], places[first[new]][: MOST - len(self.hashes)]
        for hash, place in zip(hashes.tolist(), first.tolist(), strict=True):
            segment = int(np.searchsorted(batch.namespace_start, place, "right")) - 1
            space, name = name_of(batch, segment), name_at(batch, place).decode("utf-8", "backslashreplace")
            self.names[hash] = escaped(f"{space}^{name}" if space else name)
        sums = np.zeros((4, len(hashes)))
        sums[0] = batch.value[first]
        order = np.argsort(np.concatenate([self.hashes, hashes]), kind="stable")
        self.hashes = np.concatenate([self.hashes, hashes])[order]
        self.sums = np.concatenate([self.sums, sums], axis=1)[:, order]

    def sentences(self) -> list[str]:
        """A warning of the one that is farthest from 0, of those in half of the examples or more."""
        first, count, total, squares = self.sums
        with np.errstate(all="ignore"):
            mean = first + total / count
            deviation = np.sqrt(np.maximum(squares / count - np.square(total / count), 0))
            far = (deviation > 1e-6 * abs(mean)) & (abs(mean) > FAR * deviation)
            far &= count >= max(FEW, self.examples / 2)
        if not far.any():
            return []
        column = max(np.flatnonzero(far).tolist(), key=lambda place: abs(mean[place]) / deviation[place])
        more = f" (and {int(far.sum()) - 1} more such features)" if far.sum() > 1 else ""
        numbers = f"the mean {mean[column]:.4g} and the standard deviation {deviation[column]:.2g}"
        subject = f"{self.names[int(self.hashes[column])]}{more} has {numbers}"
        space = self.names[int(self.hashes[column])].rpartition("^")[0] or "_"
        way = f"subtract the mean from its values, or train --centred {space}"
        return [f"{subject}: so far from 0 it is nearly a constant to the learner: {way}"]
