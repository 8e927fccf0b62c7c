"""A curriculum: the easiest examples first, more every pass, in the end all (Bengio et al., 2009, section 3).

The share of a pass grows evenly from ``start`` in the first to 1 in the one numbered ``passes``; ``curriculum_steps``
has it grow within one pass. An example's weight, from 0 to 1, never falls, and in the end all weights are 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.hashing import hash_name
from vwlite.interrupts import obey
from vwlite.training.config import CurriculumConfig

if TYPE_CHECKING:
    from vwlite.learners.base import Learner
    from vwlite.learners.row_results import Results

HASH_BITS = 20  # of the table that features are counted in
ROUNDING = 1e-9  # of a share's product: 0.3 of 10 rows are 3, however 0.3 was computed
WIDTH = 0.2  # of the ranks over which weights fall, unless --curriculum-width says it


class Admitted(NamedTuple):
    """The rows of a pass, int64 ascending, and what their importance is multiplied by: float32 of all rows, or None."""

    rows: np.ndarray
    weights: np.ndarray | None

    def weighed(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """``batches`` of these rows."""
        for batch in batches:
            if self.weights is not None:
                batch.importance *= self.weights[batch.numbers]
            yield batch


class Ranking:
    """Rows by difficulty: ``order`` int64[rows] has their numbers, the easiest first."""

    def __init__(
        self, config: CurriculumConfig, order: np.ndarray, seed: int, tell: Callable[[str], None]
    ) -> None:
        """``tell`` hears what the rows that are admitted weigh."""
        self.config, self.order, self.seed, self.tell = config, order, seed, tell

    def admit(self, share: float, number: int, always: np.ndarray | None) -> Admitted:
        """Of rows of which a share takes part, for the ``number``-th time; rows where ``always``, uint8[rows], is set
        do in any case, unweighted.
        """
        weights = self.weights(share)
        kept = np.zeros(len(weights), bool) if always is None else always != 0
        self.tell(amount(np.where(kept, 0, weights)))
        if self.config.sample:
            weights = (draws(len(weights), self.seed, number) < weights).astype(float)
        weights[kept] = 1
        rows = np.flatnonzero(weights.astype(np.float32))
        return Admitted(rows, None if (weights[rows] == 1).all() else weights.astype(np.float32))

    def weights(self, share: float) -> np.ndarray:
        """float64[rows], W of section 3: of rows of rank r, from 0 for the first to 1 for the last."""
        rows = len(self.order)
        ranked = np.ones(rows)
        if share < 1:
            above = (share - np.arange(rows) / max(rows - 1, 1)) / (self.config.width or WIDTH)
            if self.config.weights == "step":
                ranked[int(np.ceil(share * rows - ROUNDING)) :] = 0
            elif self.config.weights == "linear":
                ranked = np.clip(above + 0.5, 0, 1)
            else:
                ranked = 1 / (1 + np.exp(-above))
        found = np.empty(rows)
        found[self.order] = ranked
        return found


class Curriculum(Ranking):
    """The places of all rows, the easiest first; ties keep the order of the data."""

    def __init__(
        self,
        config: CurriculumConfig,
        batches: Sequence[Batch],
        seed: int,
        features: FeatureConfig,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """``features`` say how names are hashed; ``note`` hears remarks and what passes are made of.

        Raises InputMissing and ModelError for the model of ``margin:MODEL`` and ``loss:MODEL``, UsageError where no row
        has the namespace of ``value:NAMESPACE``.
        """
        from vwlite.data.shuffle import order_of

        if config.order == "random":
            order = order_of(sum(map(len, batches)), seed, -1)
        else:
            difficulty = np.concatenate([np.zeros(0), *difficulties(config.by, batches, features)])
            if config.by.startswith("value:"):
                complete(difficulty, config.by, note)
            order = hardest_last(config, difficulty)
        super().__init__(config, order, seed, lambda text: note(f"curriculum, pass {self.number}: {text}"))
        self.number = 0

    def admitted(self, number: int, passes: int, always: np.ndarray | None) -> Admitted:
        """What takes part in pass ``number``; ``always`` as in ``admit``."""
        self.number = number
        return self.admit(self.config.share(number, passes), number, always)


def hardest_last(config: CurriculumConfig, difficulty: np.ndarray) -> np.ndarray:
    """int64[rows]; the hardest first where the curriculum is ``anti``. Equal ones keep their order."""
    return np.argsort(-difficulty if config.order == "anti" else difficulty, kind="stable")


def amount(weights: np.ndarray) -> str:
    """What weights come to; the entropy is that of drawing an example by weight."""
    total, some = float(weights.sum()), weights[weights > 0]
    bits = float(-(some / total) @ np.log2(some / total)) if total else 0.0
    return f"weights add up to {total:.6g} of {len(weights)}, entropy {bits:.4f} bits"


def draws(rows: int, seed: int, number: int) -> np.ndarray:
    """float64[rows] in [0, 1), evenly spread and in random order: a pure function of the three arguments."""
    from vwlite.data.shuffle import order_of

    return (order_of(rows, seed, -1 - number) + 0.5) / max(rows, 1)


def complete(values: np.ndarray, by: str, note: Callable[[str], None]) -> None:
    """Make 0 of what rows without the namespace have, NaN, and note how many. Raises UsageError when all are."""
    missing = np.isnan(values)
    if missing.all() and len(values):
        raise UsageError(f"--curriculum-by {by}: no line has a namespace of this name, which is compared whole")
    values[missing] = 0
    if count := int(missing.sum()):
        note(f"--curriculum-by {by}: {count} of {len(values)} lines have no such namespace; 0 is taken")


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
    return predicted(of, batches, losses_of if kind == "loss" else margins)


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


def predicted(
    path: str, batches: Sequence[Batch], difficulty: Callable[[Learner, Batch, Results], np.ndarray]
) -> list[np.ndarray]:
    """What ``difficulty`` makes of a model's predictions, float64 of the rows of each batch."""
    from vwlite.learners.row_results import Results
    from vwlite.training.model_loader import restore

    model = restore(path, learning=False, vw_compat=False, learner_changes={}, feature_changes={})
    if not model.learner.simple_labels:
        raise UsageError("--curriculum-by margin and loss need a model of simple labels")
    results, found = Results(), []
    for batch in batches:
        results.reserve(len(batch))
        model.learner.run(model.plan.extend(batch), model.plan, results, 0, len(batch))
        obey()
        found.append(difficulty(model.learner, batch, results))
    return found


def margins(learner: Learner, batch: Batch, results: Results) -> np.ndarray:
    """How far a prediction is on the wrong side of a label -1 (or 0) and 1, or off another label."""
    raw, label = results.raw[: len(batch)].astype(float), np.nan_to_num(batch.label)
    return -raw * np.where(label > 0, 1, -1) if learner.config.loss.loss.two_classes else abs(raw - label)


def losses_of(learner: Learner, batch: Batch, results: Results) -> np.ndarray:
    """The model's loss, without the importance; of rows without a label 0."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(results.loss[: len(batch)] / batch.importance.astype(float))
