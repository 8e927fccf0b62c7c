"""Queries: which rows are to be ranked against each other."""

from __future__ import annotations

import numpy as np

from vwlite._native.query_ids import namespace_numbers, tag_numbers
from vwlite.data.batch import TAGGED, Batch
from vwlite.errors import DataError
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.features.hashing import hash_name


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
