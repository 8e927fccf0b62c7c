"""The features of one group, as ``--dotproduct`` names it, in all rows of a batch; batches without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite._native.query_ids import namespace_numbers, tag_numbers
from vwlite.data.batch import COLUMNS, FEATURES, NAME_COLUMNS, NAMESPACES, STARTS, TAGGED, Batch, Column, Names
from vwlite.data.csr import ranges
from vwlite.errors import DataError
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.features.feature_names import NAMELESS
from vwlite.features.feature_plan import Plan
from vwlite.features.hashing import hash_name
from vwlite.features.interactions import LETTERS, decode_letters


def segments_of(batch: Batch, plan: Plan, group: int) -> np.ndarray:
    """bool[segments], the namespaces of the batch's rows that belong to the group."""
    size = int(batch.row_namespace[-1])
    characters = batch.namespace_char[:size]
    if group < LETTERS:
        return plan.redefine[characters] == group
    named = batch.namespace_hash[:size] == plan.name_hash[group - LETTERS]
    return named & ~np.isin(characters, np.array(NAMELESS, np.uint8))


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


def without(batch: Batch, plan: Plan, group: int) -> Batch:
    """The same rows without the features of the group, and without names."""
    return without_segments(replace(batch, names=None), segments_of(batch, plan, group))


def without_segments(batch: Batch, left_out: np.ndarray) -> Batch:
    """The same rows without some namespaces, bool[segments]."""
    kept = np.flatnonzero(~left_out)
    features = ranges(batch.namespace_start, kept)
    sizes = batch.namespace_start[kept + 1].astype(np.int64) - batch.namespace_start[kept]
    chosen = {NAMESPACES: kept, FEATURES: features}

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

    def __init__(self, config: QueryConfig, features: FeatureConfig) -> None:
        self.by = config.by
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
            raise DataError(f"no example has a namespace {self.by}, which --qid names")
