"""The features of one group, as ``--dotproduct`` names it, in all rows of a batch; batches without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vwlite.data.batch import Batch
from vwlite.features.feature_names import NAMELESS
from vwlite.features.feature_plan import Plan
from vwlite.features.interactions import LETTERS
from vwlite.features.name_index import ranges


def segments_of(batch: Batch, plan: Plan, group: int) -> np.ndarray:
    """bool[segments], the namespaces of the batch's rows that belong to the group."""
    size = int(batch.row_namespace[-1])
    characters = batch.namespace_char[:size]
    if group < LETTERS:
        return plan.redefine[characters] == group
    named = batch.namespace_hash[:size] == plan.name_hash[group - LETTERS]
    return named & ~np.isin(characters, np.array(NAMELESS, np.uint8))


def features_of(batch: Batch, plan: Plan, group: int) -> tuple[np.ndarray, np.ndarray]:
    """Row, int64[n] ascending, and slot, uint32[n], of every feature of the group; n-grams are not among them."""
    segments = np.flatnonzero(segments_of(batch, plan, group))
    sizes = batch.namespace_start[segments + 1].astype(np.int64) - batch.namespace_start[segments]
    rows = np.searchsorted(batch.row_namespace, segments, "right") - 1
    hashes = batch.feature_hash[ranges(batch.namespace_start, segments)]
    return np.repeat(rows, sizes), hashes & np.uint32((1 << plan.bits) - 1)


def without(batch: Batch, plan: Plan, group: int) -> Batch:
    """The same rows without the features of the group, and without names."""
    left_out = segments_of(batch, plan, group)
    kept = np.flatnonzero(~left_out)
    features = ranges(batch.namespace_start, kept)
    sizes = batch.namespace_start[kept + 1].astype(np.int64) - batch.namespace_start[kept]
    return replace(
        batch,
        row_namespace=sums(~left_out)[batch.row_namespace].astype(np.uint32),
        namespace_char=batch.namespace_char[kept],
        namespace_hash=batch.namespace_hash[kept],
        namespace_start=sums(sizes).astype(np.uint32),
        feature_hash=batch.feature_hash[features],
        value=batch.value[features],
        names=None,
    )


def sums(sizes: np.ndarray) -> np.ndarray:
    """int64[n + 1]: of the first i ``sizes``."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
