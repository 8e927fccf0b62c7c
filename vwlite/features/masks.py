"""Namespaces that are left out of some of the examples that a learner learns (``--mask-ids``)."""

from __future__ import annotations

import numpy as np

from vwlite.data.batch import Batch
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import read_redefine
from vwlite.features.group_columns import NAMELESS, without_segments
from vwlite.features.hashing import hash_name
from vwlite.features.interactions import decode_letters
from vwlite.features.random_features import mix64, unit_interval
from vwlite.features.side_names import read_numbers


class Masks:
    """Leaves namespaces out by chance: by a hash of seed, pass, namespace and the number of the example."""

    def __init__(self, config: FeatureConfig, seed: int) -> None:
        self.seed, self.redefine, self.spaces = seed, read_redefine(config.redefine), []
        for text in config.mask_ids:
            for name, share in read_numbers(text, "--mask-ids").items():
                raw = decode_letters(name)
                wanted = None if len(raw) == 1 else hash_name(raw, config.hash_seed, config.hash == "all")
                self.spaces.append((raw[0], wanted, share))

    def apply(self, batch: Batch, number: int, first: int) -> Batch:
        """The batch of pass ``number``, whose first example is number ``first`` of the pass, as it is to be learned."""
        rows = np.arange(first, first + len(batch)) if batch.numbers is None else batch.numbers
        size = int(batch.row_namespace[-1])
        row = np.repeat(np.arange(len(batch)), np.diff(batch.row_namespace.astype(np.int64)))
        left_out = np.zeros(size, bool)
        for place, (letter, wanted, share) in enumerate(self.spaces):
            masked = self.drawn(rows, number, place) < share
            if batch.holdout_mask is not None:
                masked &= batch.holdout_mask == 0
            left_out |= masked[row] & self.belongs(batch, size, letter, wanted)
        return without_segments(batch, left_out) if left_out.any() else batch

    def drawn(self, rows: np.ndarray, number: int, place: int) -> np.ndarray:
        """float64[rows], uniform in (0, 1)."""
        state = np.zeros(1, np.uint64)
        for part in (self.seed, number, place):
            state = mix64(state ^ mix64(np.array([part + 1], np.uint64)))
        return unit_interval(mix64(state ^ mix64(rows.astype(np.uint64) + np.uint64(1))))

    def belongs(self, batch: Batch, size: int, letter: int, wanted: int | None) -> np.ndarray:
        """bool[size], the segments of the namespace."""
        characters = batch.namespace_char[:size]
        if wanted is None:
            return self.redefine[characters] == letter
        return (batch.namespace_hash[:size] == wanted) & ~np.isin(characters, np.array(NAMELESS, np.uint8))
