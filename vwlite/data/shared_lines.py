"""A line of a group with the features of the group's shared line, for code outside the kernels, which join them."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import (
    BLANK,
    COLUMNS,
    FEATURES,
    INNER,
    NAME_COLUMNS,
    NAMESPACES,
    ROWS,
    SAVE,
    SHARED,
    STARTS,
    Batch,
    Names,
    first_of_group,
)
from vwlite.data.csr import offsets


def with_shared(batch: Batch, row: int) -> tuple[Batch, int]:
    """A batch, and the row in it, that has the segments of ``row`` and those of its group's shared line, if any."""
    if row == 0 or batch.flags[row] & (BLANK | SAVE | SHARED) or not batch.flags[row - 1] & INNER:
        return batch, row  # it is no example, or the first of its group
    first = first_of_group(batch, row)
    if not batch.flags[first] & SHARED:
        return batch, row
    edges = batch.row_namespace
    own, shared = (np.arange(edges[at], edges[at + 1], dtype=np.int64) for at in (row, first))
    segments = np.concatenate([own, shared])
    start = batch.namespace_start
    starts, ends = start[segments].astype(np.int64), start[segments + 1].astype(np.int64)
    features = np.concatenate([np.zeros(0, np.int64), *map(np.arange, starts, ends)])
    taken = {ROWS: slice(row, row + 1), NAMESPACES: segments, FEATURES: features}
    columns = {name: getattr(batch, name)[taken[one.per]] for name, one in COLUMNS.items() if one.entries is not STARTS}
    columns["row_namespace"] = np.array([0, len(segments)], np.uint32)
    columns["namespace_start"] = offsets(ends - starts).astype(np.uint32)
    names = batch.names and Names(
        **{name: getattr(batch.names, name)[taken[one.per]] for name, one in NAME_COLUMNS.items()}
    )
    return Batch(**columns, text=batch.text, names=names), 0
