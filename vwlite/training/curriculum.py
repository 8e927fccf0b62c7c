"""A curriculum: the easiest examples first, more every pass, in the end all (Bengio et al., 2009, section 3).

The share of a pass grows evenly from ``start`` in the first to 1 in the one numbered ``passes``; ``curriculum_steps``
has it grow within one pass. An example's weight, from 0 to 1, never falls, and in the end all weights are 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.shuffle import Rows, order_of
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.hashing import hash_name
from vwlite.interrupts import raise_if_stopped
from vwlite.learners.base import has_simple_labels
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

    def reweighted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """``batches`` of these rows, their importance multiplied by ``weights``."""
        for batch in batches:
            if self.weights is not None:
                batch.importance *= self.weights[batch.numbers]
            yield batch


class Ranking:
    """Rows by difficulty: ``order`` int64[rows] has their numbers, the easiest first."""

    def __init__(
        self, config: CurriculumConfig, order: np.ndarray, seed: int, report: Callable[[str], None]
    ) -> None:
        """``report`` is called with a text on the weights of the admitted rows."""
        self.config, self.order, self.seed, self.report = config, order, seed, report

    def admit(self, share: float, number: int, always: np.ndarray | None) -> Admitted:
        """The rows that take part for the ``number``-th time, a share of all; rows where ``always``, uint8[rows], is
        set do in any case, unweighted.
        """
        weights = self.weights(share)
        kept = np.zeros(len(weights), bool) if always is None else always != 0
        self.report(describe_weights(np.where(kept, 0, weights)))
        if self.config.sample:
            weights = (draw_numbers(len(weights), self.seed, number) < weights).astype(float)
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
        weights = np.empty(rows)
        weights[self.order] = ranked
        return weights


class Curriculum(Ranking):
    """The places of all rows, the easiest first; ties keep the order of the data."""

    def __init__(self, config: CurriculumConfig, order: np.ndarray, seed: int, note: Callable[[str], None]) -> None:
        """``order`` as in ``Ranking``; ``note`` hears what passes are made of."""
        super().__init__(config, order, seed, lambda text: note(f"curriculum, pass {self.number}: {text}"))
        self.number = 0

    def admitted(self, number: int, passes: int, always: np.ndarray | None) -> Admitted:
        """The rows that take part in pass ``number``; ``always`` as in ``admit``."""
        self.number = number
        return self.admit(self.config.share(number, passes), number, always)


def of_batches(
    config: CurriculumConfig,
    batches: Sequence[Batch],
    seed: int,
    features: FeatureConfig,
    note: Callable[[str], None] = lambda text: None,
) -> Curriculum:
    """The rows of batches that are kept; ``features`` say how names are hashed, ``note`` hears remarks too.

    Raises InputMissing and ModelError for the model of ``margin:MODEL`` and ``loss:MODEL``, UsageError where no row has
    the namespace of ``value:NAMESPACE``.
    """
    if config.order == "random":
        difficulty = np.zeros(sum(map(len, batches)))
    else:
        difficulty = np.concatenate([np.zeros(0), *difficulties(config.by, batches, features)])
        fill_missing(difficulty, config.by, note)
    return Curriculum(config, easiest_first(config, difficulty, seed), seed, note)


def easiest_first(config: CurriculumConfig, difficulty: np.ndarray, seed: int) -> np.ndarray:
    """int64[rows]; the hardest first where the curriculum is ``anti``, any where it is ``random``. Equal ones keep
    their order.
    """
    if config.order == "random":
        return order_of(len(difficulty), seed, -1)
    return np.argsort(-difficulty if config.order == "anti" else difficulty, kind="stable")


def describe_weights(weights: np.ndarray) -> str:
    """The sum of weights, and the entropy of drawing an example by weight, as text."""
    total, present = float(weights.sum()), weights[weights > 0]
    bits = float(-(present / total) @ np.log2(present / total)) if total else 0.0
    return f"weights add up to {total:.6g} of {len(weights)}, entropy {bits:.4f} bits"


def draw_numbers(rows: int, seed: int, number: int) -> np.ndarray:
    """float64[rows] in [0, 1), evenly spread and in random order: a pure function of the three arguments."""
    return (order_of(rows, seed, -1 - number) + 0.5) / max(rows, 1)


def fill_missing(values: np.ndarray, by: str, note: Callable[[str], None], rows: str = "lines") -> None:
    """Replace NaN, the value of ``rows`` without the namespace, by 0; report how many. Raises UsageError if all are."""
    missing = np.isnan(values)
    if missing.all() and len(values):
        raise UsageError(f"--curriculum-by {by}: no line has a namespace of this name, which is compared whole")
    values[missing] = 0
    if count := int(missing.sum()):
        note(f"--curriculum-by {by}: {count} of {len(values)} {rows} have no such namespace; 0 is taken")


def difficulties(by: str, batches: Sequence[Batch], features: FeatureConfig) -> list[np.ndarray]:
    """Per batch float64[rows], larger is harder; NaN for rows without the namespace."""
    if by == "rarest":
        counts = sum(map(feature_counts, batches))
        return [rarity(counts, hashes_of(batch), row_edges(batch)) for batch in batches]
    return [*map(measure_of(by, features), batches)]


class Difficulties:
    """Difficulties of rows whose batches are not kept: ``add`` each batch, then call ``values``."""

    def __init__(self, by: str, features: FeatureConfig) -> None:
        """Raises as ``measure_of``."""
        self.measure = None if by == "rarest" else measure_of(by, features)
        self.found: list[np.ndarray] = []
        self.terms: list[tuple[np.ndarray, np.ndarray]] = []
        self.counts = np.zeros(1 << HASH_BITS, np.int64)

    def add(self, batch: Batch) -> None:
        if self.measure:
            self.found.append(self.measure(batch))
        else:
            self.counts += feature_counts(batch)
            self.terms.append((hashes_of(batch), row_edges(batch)))

    def values(self) -> np.ndarray:
        """float64[rows], as ``difficulties`` has them."""
        return np.concatenate([np.zeros(0), *self.found, *(rarity(self.counts, *terms) for terms in self.terms)])


def measure_of(by: str, features: FeatureConfig) -> Callable[[Batch], np.ndarray]:
    """Gives float64[rows] of a batch, which needs no other rows.

    Raises InputMissing and ModelError for the model of ``margin:MODEL`` and ``loss:MODEL``.
    """
    kind, _, of = by.partition(":")
    if kind == "length":
        return lambda batch: np.diff(row_edges(batch)).astype(float)
    if kind == "value":
        raw = of.encode("utf-8", "surrogateescape")
        wanted = hash_name(raw, features.hash_seed, features.hash == "all")
        return lambda batch: values_of(raw[0], wanted, batch)
    return difficulty_of_predictions(of, losses_of if kind == "loss" else margins)


def row_edges(batch: Batch) -> np.ndarray:
    """int64[rows + 1]: where each row's features begin, and where the last one's end."""
    return batch.namespace_start[batch.row_namespace].astype(np.int64)


def hashes_of(batch: Batch) -> np.ndarray:
    return batch.feature_hash & np.uint32((1 << HASH_BITS) - 1)


def feature_counts(batch: Batch) -> np.ndarray:
    """int64[2**HASH_BITS]: how often each feature is there."""
    return np.bincount(hashes_of(batch), minlength=1 << HASH_BITS)


def rarity(counts: np.ndarray, hashed: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """float64[rows], minus the count of each row's rarest feature; ``hashed`` and ``edges`` of a batch."""
    return -reduce_rows(np.minimum, counts[hashed].astype(float), edges, np.inf)


def reduce_rows(function: np.ufunc, values: np.ndarray, edges: np.ndarray, empty: float) -> np.ndarray:
    """``function`` over the values of each row, between ``edges``, int64[rows + 1]; ``empty`` for rows without any."""
    values_of_rows = np.full(len(edges) - 1, empty)
    full = np.flatnonzero(np.diff(edges))
    if len(full):
        values_of_rows[full] = function.reduceat(values[: edges[-1]], edges[full])
    return values_of_rows


def values_of(letter: int, name: int, batch: Batch) -> np.ndarray:
    """The sum of the values that a row's features have in the namespace whose name begins so and has this hash."""
    sizes = np.diff(batch.namespace_start[: batch.row_namespace[-1] + 1].astype(np.int64))
    ours = (batch.namespace_char[: len(sizes)] == letter) & (batch.namespace_hash[: len(sizes)] == name)
    wanted = np.repeat(ours, sizes)
    edges = row_edges(batch)
    values = reduce_rows(np.add, np.where(wanted, batch.value[: len(wanted)], 0).astype(float), edges, 0.0)
    present = reduce_rows(np.logical_or, wanted, edges, 0.0)
    return np.where(present != 0, values, np.nan)


def difficulty_of_predictions(
    path: str, difficulty: Callable[[Learner, Batch, Results], np.ndarray]
) -> Callable[[Batch], np.ndarray]:
    """Gives what ``difficulty`` makes of a model's predictions, float64 of the rows of a batch."""
    from vwlite.learners.row_results import Results
    from vwlite.training.model_loader import restore

    model = restore(path, learning=False, vw_compat=False, learner_changes={}, feature_changes={})
    if not has_simple_labels(model.learner):
        raise UsageError("--curriculum-by margin and loss need a model of simple labels")
    results = Results()

    def measure(batch: Batch) -> np.ndarray:
        results.reserve(len(batch))
        model.learner.run(model.plan.extend(batch), model.plan, results, 0, len(batch))
        raise_if_stopped()
        return difficulty(model.learner, batch, results)

    return measure


def margins(learner: Learner, batch: Batch, results: Results) -> np.ndarray:
    """Compute how far a prediction is on the wrong side of a label -1 (or 0) and 1, or off another label."""
    raw, label = results.raw[: len(batch)].astype(float), np.nan_to_num(batch.label)
    return -raw * np.where(label > 0, 1, -1) if learner.config.loss.loss.two_classes else abs(raw - label)


def losses_of(learner: Learner, batch: Batch, results: Results) -> np.ndarray:
    """The model's loss, without the importance; of rows without a label 0."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(results.loss[: len(batch)] / batch.importance.astype(float))


NOTES = 20  # steps reported per run, approximately


class StepRanking:
    """Determines the rows that each step of a pass admits."""

    def __init__(
        self, config: CurriculumConfig, seed: int, note: Callable[[str], None], ends: str = "the data end"
    ) -> None:
        """``ends``: the text to report where the run ends before all rows are admitted."""
        self.config, self.seed, self.note, self.ends = config, seed, note, ends
        self.steps = 0  # made

    @property
    def share(self) -> float:
        """The share of the next step."""
        return self.config.share_of_step(self.steps + 1)

    def begin(self) -> float:
        """Begin the next step. Returns its share."""
        self.steps += 1
        return self.config.share_of_step(self.steps)

    def admit(self, difficulty: np.ndarray, always: np.ndarray | None = None) -> Admitted:
        """Begin the next step and rank its rows by ``difficulty`` float64[rows]. ``always`` as in ``Ranking.admit``."""
        share = self.begin()
        ranking = Ranking(self.config, easiest_first(self.config, difficulty, self.seed), self.seed, self.report)
        return ranking.admit(share, self.steps, always)

    def report(self, text: str) -> None:
        if self.steps % max(self.config.last_step // NOTES, 1) == 0:
            self.note(f"curriculum, step {self.steps}: {text}")

    def report_all_admitted(self) -> None:
        """Report that all rows are admitted from here on, or that the data ended before."""
        if self.share == 1:
            self.note(f"curriculum, step {self.steps + 1}: all examples take part from here on")
        else:
            self.note(f"curriculum: {self.ends} in step {self.steps}; all would take part in {self.config.last_step}")


class StepwiseCurriculum(StepRanking):
    """Takes the batches of a pass, one after the other."""

    def __init__(
        self,
        config: CurriculumConfig,
        seed: int,
        features: FeatureConfig,
        note: Callable[[str], None],
        held: Callable[[np.ndarray], np.ndarray | None],
    ) -> None:
        """``held`` marks the rows of these numbers that are held out, which take part in any case, unweighted."""
        super().__init__(config, seed, note)
        self.features, self.held = features, held
        self.rows = 0  # before the step
        self.missing = 0  # rows without the namespace of ``value:NAMESPACE``

    def chosen(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Batches of the rows that take part, with their numbers. Raises UsageError where no row has the namespace."""
        size, waiting, first = int(self.config.steps or 0), [], 0
        for batch in batches:
            batch.numbers = np.arange(first, first + len(batch), dtype=np.int64)
            first += len(batch)
            for part, full in cut_batch(batch, size, first - len(batch)):
                if self.share == 1:
                    yield part
                    continue
                waiting.append(part)
                if full:
                    yield from self.step(waiting)
                    waiting = []
        if waiting:
            yield from self.step(waiting)
        if self.share < 1:
            self.report_all_admitted()
            self.check_missing()

    def step(self, batches: list[Batch]) -> Iterator[Batch]:
        """The rows of a step that take part."""
        rows, numbers = Rows(batches), np.concatenate([batch.numbers for batch in batches])
        admitted = self.admit(self.difficulty(batches, len(rows)), self.held(numbers))
        for batch in admitted.reweighted(rows.chosen(admitted.rows)):
            batch.numbers, batch.path = numbers[batch.numbers], ""
            yield batch
        for batch in batches:
            if batch.release:
                batch.release()
        self.rows += len(rows)
        if self.share == 1:
            self.report_all_admitted()
            self.check_missing()

    def difficulty(self, batches: list[Batch], rows: int) -> np.ndarray:
        """float64[rows]"""
        if self.config.order == "random":
            return np.zeros(rows)
        difficulty = np.concatenate(difficulties(self.config.by, batches, self.features))
        self.missing += int(np.isnan(difficulty).sum())
        return np.nan_to_num(difficulty)

    def check_missing(self) -> None:
        """Check the namespace after the last ranked row. Raises UsageError where none has the namespace."""
        by = f"--curriculum-by {self.config.by}"
        if self.missing and self.missing == self.rows:
            raise UsageError(f"{by}: none of the {self.rows} lines that are ranked has a namespace of this whole name")
        if self.missing:
            self.note(f"{by}: {self.missing} of {self.rows} lines have no such namespace; 0 is taken")


def cut_batch(batch: Batch, size: int, first: int) -> Iterator[tuple[Batch, bool]]:
    """The batch, whose first row has the number ``first``, cut at multiples of ``size``, and whether a piece ends at
    one. The last piece releases the batch.
    """
    begin = 0
    while begin < len(batch):
        end = min(len(batch), begin + size - (first + begin) % size)
        release = batch.release if end == len(batch) else None
        part = replace(batch.part(begin, end), numbers=batch.numbers[begin:end], release=release)
        yield part, (first + end) % size == 0
        begin = end
