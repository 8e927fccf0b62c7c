"""Features whose values are far from 0 and differ little, such as years: to a learner they are nearly constants."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.escapes import escaped
from vwlite.evaluation.data_report import name_at, name_of

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
        self.examples += int((batch.flags & (BLANK | SAVE) == 0).sum())
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
        found, first = np.unique(batch.feature_hash[places], return_index=True)
        new = ~np.isin(found, self.hashes)
        found, first = found[new][: MOST - len(self.hashes)], places[first[new]][: MOST - len(self.hashes)]
        for hash, place in zip(found.tolist(), first.tolist(), strict=True):
            segment = int(np.searchsorted(batch.namespace_start, place, "right")) - 1
            space, name = name_of(batch, segment), name_at(batch, place).decode("utf-8", "backslashreplace")
            self.names[hash] = escaped(f"{space}^{name}" if space else name)
        sums = np.zeros((4, len(found)))
        sums[0] = batch.value[first]
        order = np.argsort(np.concatenate([self.hashes, found]), kind="stable")
        self.hashes = np.concatenate([self.hashes, found])[order]
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
        one = max(np.flatnonzero(far).tolist(), key=lambda place: abs(mean[place]) / deviation[place])
        more = f" (and {int(far.sum()) - 1} more such features)" if far.sum() > 1 else ""
        numbers = f"the mean {mean[one]:.4g} and the standard deviation {deviation[one]:.2g}"
        what = f"{self.names[int(self.hashes[one])]}{more} has {numbers}"
        space = self.names[int(self.hashes[one])].rpartition("^")[0] or "_"
        way = f"subtract the mean from its values, or train --centred {space}"
        return [f"{what}: so far from 0 it is nearly a constant to the learner: {way}"]
