"""Namespaces that are left out of some of the examples that a learner learns (``--mask-ids``)."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import Batch
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import read_redefine
from vwlite.features.group_columns import segments_in, space_of, without_segments
from vwlite.features.random_features import mix64, unit_interval
from vwlite.features.side_names import read_numbers


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
