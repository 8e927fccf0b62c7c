"""A curriculum: the easiest examples first, more every pass, in the end all (Bengio et al., 2009, section 3).

The share of a pass grows evenly from ``start`` in the first to 1 in the one numbered ``passes``; what is admitted stays
so: weights, 0 or 1, never fall, and end uniform.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.hashing import hash_name
from vwlite.interrupts import obey
from vwlite.training.config import CurriculumConfig

HASH_BITS = 20  # of the table that features are counted in


class Curriculum:
    """The places of all rows, the easiest first; ties keep the order of the data."""

    def __init__(
        self, config: CurriculumConfig, batches: Sequence[Batch], seed: int, features: FeatureConfig
    ) -> None:
        """``features`` say how names are hashed.

        Raises InputMissing and ModelError for the model of ``margin:MODEL``, UsageError where no row has the namespace
        of ``value:NAMESPACE``.
        """
        from vwlite.data.shuffle import order_of

        self.config, self.remark = config, ""
        rows = sum(map(len, batches))
        if config.order == "random":
            self.order = order_of(rows, seed, -1)
        else:
            difficulty = np.concatenate([np.zeros(0), *difficulties(config.by, batches, features)])
            if config.by.startswith("value:"):
                self.remark = complete(difficulty, config.by)
            self.order = np.argsort(-difficulty if config.order == "anti" else difficulty, kind="stable")

    def admitted(self, number: int, passes: int, always: np.ndarray | None) -> np.ndarray:
        """The rows of pass ``number``, int64 ascending; those where ``always``, uint8[rows], is set are among them."""
        count = int(np.ceil(self.config.share(number, passes) * len(self.order)))
        chosen = np.zeros(len(self.order), bool) if always is None else always != 0
        chosen[self.order[:count]] = True
        return np.flatnonzero(chosen)


def complete(values: np.ndarray, by: str) -> str:
    """Make 0 of what rows without the namespace have, NaN; a remark on them. Raises UsageError when all are."""
    missing = np.isnan(values)
    if missing.all() and len(values):
        raise UsageError(f"--curriculum-by {by}: no line has a namespace of this name, which is compared whole")
    values[missing] = 0
    count = int(missing.sum())
    return f"--curriculum-by {by}: {count} of {len(values)} lines have no such namespace; 0 is taken" if count else ""


def difficulties(by: str, batches: Sequence[Batch], features: FeatureConfig) -> list[np.ndarray]:
    """Per batch float64[rows], larger is harder; NaN for rows without the namespace."""
    kind, _, of = by.partition(":")
    if kind == "length":
        return [np.diff(ends(batch)).astype(float) for batch in batches]
    if kind == "rarest":
        counts = sum(np.bincount(hashes(batch), minlength=1 << HASH_BITS) for batch in batches)
        return [-reduced(np.minimum, counts[hashes(batch)].astype(float), batch, np.inf) for batch in batches]
    if kind == "value":
        raw = of.encode("utf-8", "surrogateescape")
        wanted = hash_name(raw, features.hash_seed, features.hash == "all")
        return [values_of(raw[0], wanted, batch) for batch in batches]
    return margins(of, batches)


def ends(batch: Batch) -> np.ndarray:
    """int64[rows + 1]: where each row's features begin, and where the last one's end."""
    return batch.namespace_start[batch.row_namespace].astype(np.int64)


def hashes(batch: Batch) -> np.ndarray:
    return batch.feature_hash & np.uint32((1 << HASH_BITS) - 1)


def reduced(function: np.ufunc, values: np.ndarray, batch: Batch, empty: float) -> np.ndarray:
    """``function`` over the features of each row; ``empty`` for rows without any."""
    edges = ends(batch)
    found = np.full(len(batch), empty)
    full = np.flatnonzero(np.diff(edges))
    if len(full):
        found[full] = function.reduceat(values[: edges[-1]], edges[full])
    return found


def values_of(letter: int, name: int, batch: Batch) -> np.ndarray:
    """The sum of the values that a row's features have in the namespace whose name begins so and has this hash."""
    sizes = np.diff(batch.namespace_start[: batch.row_namespace[-1] + 1].astype(np.int64))
    ours = (batch.namespace_char[: len(sizes)] == letter) & (batch.namespace_hash[: len(sizes)] == name)
    wanted = np.repeat(ours, sizes)
    values = reduced(np.add, np.where(wanted, batch.value[: len(wanted)], 0).astype(float), batch, 0.0)
    present = reduced(np.logical_or, wanted, batch, 0.0)
    return np.where(present != 0, values, np.nan)


def margins(path: str, batches: Sequence[Batch]) -> list[np.ndarray]:
    """How far a model's prediction is on the wrong side of a label -1 (or 0) and 1, or off another label."""
    from vwlite.learners.row_results import Results
    from vwlite.training.model_loader import restore

    model = restore(path, learning=False, vw_compat=False, learner_changes={}, feature_changes={})
    if not model.learner.simple_labels:
        raise UsageError("--curriculum-by margin needs a model of simple labels")
    results, found = Results(), []
    for batch in batches:
        results.reserve(len(batch))
        model.learner.run(batch, model.plan, results, 0, len(batch))
        obey()
        raw, label = results.raw[: len(batch)].astype(float), np.nan_to_num(batch.label)
        two = model.learner.config.loss.loss.two_classes
        found.append(-raw * np.where(label > 0, 1, -1) if two else abs(raw - label))
    return found
