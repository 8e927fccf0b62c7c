"""A line of a group together with its shared line, for whoever needs it outside a kernel."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import BLANK, SAVE, SHARED, Batch, Names, first_of_group
from vwlite.data.csr import offsets

NAMES_OF_SEGMENTS = ("namespace_start", "namespace_end")
NAMES_OF_FEATURES = ("start", "end", "kind", "detail", "value_start", "value_end")


def with_shared(batch: Batch, row: int) -> tuple[Batch, int]:
    """A batch, and the row in it, that has the segments of ``row`` and those of its group's shared line, if any."""
    if batch.flags[row] & (BLANK | SAVE | SHARED):
        return batch, row
    first = first_of_group(batch, row)
    if first == row or not batch.flags[first] & SHARED:
        return batch, row
    edges = batch.row_namespace
    own, shared = (np.arange(edges[at], edges[at + 1], dtype=np.int64) for at in (row, first))
    segments = np.concatenate([own, shared])
    start = batch.namespace_start
    starts, ends = start[segments].astype(np.int64), start[segments + 1].astype(np.int64)
    features = np.concatenate([np.zeros(0, np.int64), *map(np.arange, starts, ends)])
    names = batch.names and Names(
        **{name: getattr(batch.names, name)[segments] for name in NAMES_OF_SEGMENTS},
        **{name: getattr(batch.names, name)[features] for name in NAMES_OF_FEATURES},
    )
    whole = Batch(
        **{
            name: getattr(batch, name)[row : row + 1]
            for name in ("label", "importance", "base", "flags", "line", "tag_start", "tag_end")
        },
        row_namespace=np.array([0, len(segments)], np.uint32),
        namespace_char=batch.namespace_char[segments],
        namespace_hash=batch.namespace_hash[segments],
        namespace_start=offsets(ends - starts).astype(np.uint32),
        feature_hash=batch.feature_hash[features],
        value=batch.value[features],
        text=batch.text,
        names=names,
    )
    return whole, 0
