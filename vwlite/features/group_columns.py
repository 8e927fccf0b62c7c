"""The features of one group, as ``--dotproduct`` names it, in all rows of a batch; batches without them, or with their
distances from their means.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite._native.hash_names import namespace_numbers, tag_numbers
from vwlite.data.batch import (
    BLANK,
    COLUMNS,
    FEATURES,
    NAME_COLUMNS,
    NAMESPACES,
    STARTS,
    TAGGED,
    Batch,
    Column,
    Names,
    ranges,
)
from vwlite.data.columns import quote_name, read_columns
from vwlite.errors import DataError
from vwlite.features.config import FeatureConfig, QueryConfig, read_numbers
from vwlite.features.feature_plan import ANONYMOUS, NAMELESS, Plan, read_redefine
from vwlite.features.hashing import hash_name, mix64, unit_interval
from vwlite.features.interactions import LETTERS, decode_letters
from vwlite.storage.model_file import numbers

CENTRED = ("centred_key", "centred_char", "centred_sum", "centred_weight")
MOST_CENTRED = 1 << 12  # features, each of which every row gets


def segments_of(batch: Batch, plan: Plan, group: int) -> np.ndarray:
    """bool[segments], the namespaces of the batch's rows that belong to the group; those that are ignored do not."""
    size = int(batch.row_namespace[-1])
    characters = batch.namespace_char[:size]
    kept = plan.ignore[plan.redefine[characters]] == 0
    if group < LETTERS:
        return kept & (plan.redefine[characters] == group)
    named = batch.namespace_hash[:size] == plan.name_hash[group - LETTERS]
    return kept & named & ~np.isin(characters, np.array(NAMELESS, np.uint8))


def space_of(name: str, config: FeatureConfig) -> tuple[int, int | None]:
    """The first byte of a namespace's name, and the hash of the whole name; None for a letter, which is all of them."""
    raw = decode_letters(name)
    return raw[0], None if len(raw) == 1 else hash_name(raw, config.hash_seed, config.hash == "all")


def segments_in(batch: Batch, redefine: np.ndarray, space: tuple[int, int | None]) -> np.ndarray:
    """bool[segments], the namespaces of the batch's rows that are the one of ``space_of``."""
    letter, wanted = space
    size = int(batch.row_namespace[-1])
    characters = batch.namespace_char[:size]
    if wanted is None:
        return redefine[characters] == letter
    return (batch.namespace_hash[:size] == wanted) & ~np.isin(characters, np.array(NAMELESS, np.uint8))


def features_of(batch: Batch, plan: Plan, group: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, int64[n] ascending, slot, uint32[n], and value of every feature of the group; n-grams are not among them."""
    segments = np.flatnonzero(segments_of(batch, plan, group))
    sizes = batch.namespace_start[segments + 1].astype(np.int64) - batch.namespace_start[segments]
    rows = np.searchsorted(batch.row_namespace, segments, "right") - 1
    places = ranges(batch.namespace_start, segments)
    return np.repeat(rows, sizes), batch.feature_hash[places] & np.uint32((1 << plan.bits) - 1), batch.value[places]


def without_group(batch: Batch, plan: Plan, group: int) -> Batch:
    """The same rows without the features of the group, and without names."""
    return without_segments(replace(batch, names=None), segments_of(batch, plan, group))


def without_segments(batch: Batch, left_out: np.ndarray) -> Batch:
    """The same rows without some namespaces, bool[segments]."""
    remaining = np.flatnonzero(~left_out)
    features = ranges(batch.namespace_start, remaining)
    sizes = batch.namespace_start[remaining + 1].astype(np.int64) - batch.namespace_start[remaining]
    chosen = {NAMESPACES: remaining, FEATURES: features}

    def taken(owner: Any, columns: Mapping[str, Column]) -> dict[str, np.ndarray]:
        inner = [one for one in columns.values() if one.per in chosen and one.entries is not STARTS]
        return {one.name: getattr(owner, one.name)[chosen[one.per]] for one in inner}

    return replace(
        batch,
        row_namespace=sums(~left_out)[batch.row_namespace].astype(np.uint32),
        namespace_start=sums(sizes).astype(np.uint32),
        names=batch.names and Names(**taken(batch.names, NAME_COLUMNS)),
        **taken(batch, COLUMNS),
    )


def sums(sizes: np.ndarray) -> np.ndarray:
    """int64[n + 1]: of the first i ``sizes``."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


class Queries:
    """Numbers the queries of batches: equal numbers, equal queries."""

    def __init__(self, config: QueryConfig, features: FeatureConfig, columns: str = "") -> None:
        """``columns`` of a table, as it is read."""
        self.by, self.columns = config.by, columns
        self.tagged = self.named = False  # whether any row had a tag; whether the namespace
        if self.by not in (None, "tag", "none"):
            name = self.by.encode("utf-8", "surrogateescape")
            self.namespace = hash_name(name, features.hash_seed, features.hash == "all"), name[0]

    def of(self, batch: Batch) -> np.ndarray:
        """uint64[n]: a number per row."""
        numbers = np.zeros(len(batch), np.uint64)
        if self.by in (None, "tag"):
            self.tagged = self.tagged or bool(batch.any_flags & TAGGED)
            if self.tagged:
                tag_numbers(batch, numbers)
                numbers[batch.tag_start == batch.tag_end] = 0
        elif self.by != "none":
            namespace_numbers(batch, *self.namespace, numbers)
            self.named = self.named or bool(numbers.any())
        return numbers

    def check(self) -> None:
        """Call after the last batch. Raises DataError when no row had the tag or namespace that names its query."""
        if self.by == "tag" and not self.tagged:
            raise DataError("no example has a tag, which --qid tag needs (--qid none makes all examples one query)")
        if self.by not in (None, "tag", "none") and not self.named:
            raise DataError(f"no example has a namespace {self.by}, which --qid names{self.hint()}")

    def hint(self) -> str:
        """A hint if a column of a table was taken for a namespace."""
        columns = read_columns(self.columns)
        if self.by not in {*(one.name for one in columns.named), *columns.ignored}:
            return ""
        name = quote_name(str(self.by))
        return f"; {name} is a column, no namespace: tag={name} in --columns, with --qid tag, makes queries of it"


class Centring:
    """Takes from the features of some namespaces their running means, as ``--centred`` asks for.

    A namespace has the same features in every row, and one that a row leaves out, as text leaves out zeros, is 0 there.
    The mean is that of all rows learned so far, this one included, by importance; what has not been met in learning is
    left out. Sums go on from row to row, so that batches mean nothing.
    """

    def __init__(self, config: FeatureConfig, redefine: np.ndarray) -> None:
        named = ((ANONYMOUS, None) if name == "_" else space_of(name, config) for name in config.centred)
        self.spaces, self.redefine = list(named), redefine
        self.keys = np.zeros(0, np.uint64)  # of the features in the order in which they were met: namespace, feature
        self.characters = np.zeros(0, np.uint8)  # of the namespaces
        self.sums, self.weight = np.zeros(0), 0.0
        self.ahead: tuple[int, Centring, np.ndarray, np.ndarray, np.ndarray] | None = None

    def apply(self, batch: Batch, begin: int, end: int, held: np.ndarray | None, learning: bool) -> Batch:
        """The rows ``[begin, end)`` with centred features, and others without any; ``commit`` says which were learned.

        Rows of ``held``, uint8[rows], are measured, not learned. Raises DataError for too many features.
        """
        counted = np.full(end - begin, learning) & (batch.importance[begin:end] > 0)
        counted &= batch.flags[begin:end] & BLANK == 0
        if held is not None:
            counted &= held[begin:end] == 0
        weight = np.where(counted, batch.importance[begin:end], 0).astype(float)
        if (dense := self.dense(batch, begin, end)) is not None:
            values, place = dense
            sums, weights, centred = self.centred(values, weight)
            if centred.all():
                self.ahead = begin, self, sums, weights, np.full(len(self.keys), -1)
                changed = batch.value.copy()
                changed[place : place + centred.size] = centred.reshape(-1)
                return replace(batch, value=changed, names=None, release=None)
        edges = batch.row_namespace[begin : end + 1].astype(np.int64)
        row = np.repeat(np.arange(end - begin), np.diff(edges))
        owned = np.zeros(len(row), bool)
        for space in self.spaces:
            owned |= segments_in(batch, self.redefine, space)[edges[0] : edges[-1]]
        segments = np.arange(edges[0], edges[-1])
        own, others = segments[owned], segments[~owned]
        sizes = batch.namespace_start[1:].astype(np.int64) - batch.namespace_start[:-1]
        places, owner = ranges(batch.namespace_start, own), np.repeat(own, sizes[own])
        rows = row[owner - edges[0]]
        keys = batch.namespace_hash[owner].astype(np.uint64) << np.uint64(32) | batch.feature_hash[places]
        known = self.with_new(keys, batch.namespace_char[owner], counted[rows])
        column = known.places(keys)
        there = column >= 0
        values = np.zeros((end - begin, len(known.keys)))
        np.add.at(values, (rows[there], column[there]), batch.value[places][there].astype(float))
        sums, weights, centred = known.centred(values, weight)
        first = np.full(len(known.keys), end - begin)
        np.minimum.at(first, column[there & counted[rows]], rows[there & counted[rows]])
        first[: len(self.keys)] = -1
        self.ahead = begin, known, sums, weights, first
        centred[np.arange(end - begin)[:, None] < first] = 0  # of a feature that was met in a later row
        return self.rebuilt(batch, begin, end, (others, row[~owned]), known, centred)

    def dense(self, batch: Batch, begin: int, end: int) -> tuple[np.ndarray, int] | None:
        """float64[rows, features] where each row has the features met, in their order, and no others, and the place of
        the first value in the batch; None where one has not.
        """
        first, last, size = int(batch.row_namespace[begin]), int(batch.row_namespace[end]), len(self.keys)
        if not size or last - first != end - begin or (np.diff(batch.row_namespace[begin : end + 1]) != 1).any():
            return None
        spaces, starts = self.keys >> np.uint64(32), batch.namespace_start[first : last + 1].astype(np.int64)
        alone = (spaces == spaces[0]).all() and (batch.namespace_hash[first:last] == spaces[0]).all()
        alone = alone and (batch.namespace_char[first:last] == self.characters[0]).all()
        if not alone or (np.diff(starts) != size).any():
            return None
        hashes = batch.feature_hash[starts[0] : starts[-1]].reshape(-1, size)
        if (hashes != self.keys.astype(np.uint32)).any():
            return None
        return batch.value[starts[0] : starts[-1]].reshape(-1, size).astype(float), int(starts[0])

    def centred(self, values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For float64[rows, features]: the sums and the weight after each row, and the distances from the means."""
        weighted = values if (weight == 1).all() else weight[:, None] * values
        sums = np.add.accumulate(np.vstack((self.sums, weighted)), axis=0)[1:]
        weights = np.add.accumulate(np.concatenate(([self.weight], weight)))[1:]
        means = np.divide(sums, weights[:, None], out=np.zeros_like(sums), where=weights[:, None] > 0)
        return sums, weights, (values - means).astype(np.float32)

    def commit(self, row: int) -> None:
        """The rows before ``row`` were learned, of those that ``apply`` was called with last."""
        if self.ahead is None:
            return
        begin, known, sums, weights, first = self.ahead
        self.ahead = None
        if row > begin:
            met = int((first < row - begin).sum())
            self.keys, self.characters = known.keys[:met], known.characters[:met]
            self.sums, self.weight = sums[row - begin - 1, :met].copy(), float(weights[row - begin - 1])

    def with_new(self, keys: np.ndarray, characters: np.ndarray, counted: np.ndarray) -> Centring:
        """The same with the features among ``keys`` that were not met before in rows that are learned."""
        fresh = np.flatnonzero(counted & (self.places(keys) < 0))
        fresh = fresh[np.sort(np.unique(keys[fresh], return_index=True)[1])]
        other = copy(self)
        other.keys = np.concatenate((self.keys, keys[fresh]))
        other.characters = np.concatenate((self.characters, characters[fresh]))
        other.sums = np.concatenate((self.sums, np.zeros(len(fresh))))
        if len(other.keys) > MOST_CENTRED:
            more = f"its namespaces have more than {MOST_CENTRED} features"
            way = "give words and names a namespace of their own, as --columns text=NAME does"
            raise DataError(f"--centred is for columns of numbers: {more}: {way}")
        return other

    def places(self, keys: np.ndarray) -> np.ndarray:
        """int64[n]: their places among those met, -1 of others."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        order = np.argsort(self.keys, kind="stable")
        place = order[np.minimum(np.searchsorted(self.keys[order], keys), len(order) - 1)]
        return np.where(self.keys[place] == keys, place, -1)

    def rebuilt(
        self, batch: Batch, begin: int, end: int, others: tuple[np.ndarray, np.ndarray], known: Centring,
        centred: np.ndarray,
    ) -> Batch:
        """``others``: segments that stay, and their rows. Behind them each row has a segment for each namespace."""
        spaces = known.keys >> np.uint64(32)
        heads, first = np.unique(spaces, return_index=True)
        by_head = np.argsort(spaces, kind="stable")
        count, stay, row = end - begin, others[0], others[1]
        sizes = batch.namespace_start[stay + 1].astype(np.int64) - batch.namespace_start[stay]
        filled = centred[:, by_head] != 0
        inner = np.array([filled[:, spaces[by_head] == head].sum(axis=1) for head in heads], np.int64).T.reshape(-1)
        rows = np.concatenate((row, np.repeat(np.arange(count), len(heads))))
        order = np.argsort(rows, kind="stable")
        every = np.concatenate((sizes, inner))[order]
        of_row, at = np.nonzero(filled)
        features = np.argsort(np.concatenate((np.repeat(row, sizes), of_row)), kind="stable")
        remaining = ranges(batch.namespace_start, stay)
        hashes = (known.keys & np.uint64(0xFFFFFFFF)).astype(np.uint32)[by_head]
        per_row = np.zeros(len(batch), np.int64)
        per_row[begin:end] = np.bincount(rows, minlength=count)

        def merged(own: np.ndarray, made: np.ndarray, order: np.ndarray) -> np.ndarray:
            return np.concatenate((own, made.astype(own.dtype)))[order]

        return replace(
            batch,
            row_namespace=sums(per_row).astype(np.uint32),
            namespace_char=merged(batch.namespace_char[stay], np.tile(known.characters[first], count), order),
            namespace_hash=merged(batch.namespace_hash[stay], np.tile(heads, count), order),
            namespace_start=sums(every).astype(np.uint32),
            feature_hash=merged(batch.feature_hash[remaining], hashes[at], features),
            value=merged(batch.value[remaining], centred[:, by_head][of_row, at], features),
            names=None,
            release=None,
        )

    def means(self, hashes: np.ndarray) -> np.ndarray:
        """float64[n]: those of features of these hashes, 0 of others."""
        low = (self.keys & np.uint64(0xFFFFFFFF)).tolist()
        known = dict(zip(low, self.sums.tolist(), strict=True))
        return np.array([known.get(one, 0.0) for one in hashes.tolist()]) / (self.weight or 1.0)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that a model contains."""
        return dict(zip(CENTRED, (self.keys, self.characters, self.sums, np.array([self.weight])), strict=True))

    def load(self, arrays: Mapping[str, Any]) -> None:
        """Take over a model's. Raises ValueError, KeyError for arrays that are none of these."""
        keys = numbers(arrays, CENTRED[0], np.uint64, (-1,))
        characters = numbers(arrays, CENTRED[1], np.uint8, (len(keys),))
        sums, weight = (numbers(arrays, CENTRED[2 + at], np.float64, (size,)) for at, size in enumerate((len(keys), 1)))
        if len(np.unique(keys)) < len(keys) or not (np.isfinite(sums).all() and 0 <= weight[0] < np.inf):
            raise ValueError("the means of its features")
        self.keys, self.characters, self.sums, self.weight = keys, characters, sums, float(weight[0])


class Masks:
    """Leaves namespaces out by chance: by a hash of seed, pass, namespace and the number of the example."""

    def __init__(self, config: FeatureConfig, seed: int) -> None:
        self.seed, self.redefine, self.spaces = seed, read_redefine(config.redefine), []
        for text in config.mask_ids:
            for name, share in read_numbers(text, "--mask-ids").items():
                self.spaces.append((space_of(name, config), share))

    def apply(self, batch: Batch, number: int, first: int) -> Batch:
        """The batch of pass ``number``, whose first example is number ``first`` of the pass, as it is to be learned."""
        rows = np.arange(first, first + len(batch)) if batch.numbers is None else batch.numbers
        row = np.repeat(np.arange(len(batch)), np.diff(batch.row_namespace.astype(np.int64)))
        left_out = np.zeros(len(row), bool)
        for place, (space, share) in enumerate(self.spaces):
            masked = self.drawn(rows, number, place) < share
            if batch.holdout_mask is not None:
                masked &= batch.holdout_mask == 0
            left_out |= masked[row] & segments_in(batch, self.redefine, space)
        return without_segments(batch, left_out) if left_out.any() else batch

    def drawn(self, rows: np.ndarray, number: int, place: int) -> np.ndarray:
        """float64[rows], uniform in (0, 1)."""
        state = np.zeros(1, np.uint64)
        for part in (self.seed, number, place):
            state = mix64(state ^ mix64(np.array([part + 1], np.uint64)))
        return unit_interval(mix64(state ^ mix64(rows.astype(np.uint64) + np.uint64(1))))
