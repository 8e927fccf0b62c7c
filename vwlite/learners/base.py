"""What all learners have in common: named scalars, a label range, a header in the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.errors import Diverged
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import (
    Answers,
    ClassScores,
    LazyWeights,
    LoggedDecisions,
    OwnLines,
    PassByPass,
    Querying,
    SeveralOutputs,
    StructuredLabels,
    Threaded,
)
from vwlite.learners.configs.base import changed_config
from vwlite.learners.label_check import Levels
from vwlite.learners.losses import link_code
from vwlite.learners.row_results import Results
from vwlite.options import GIB, check_memory
from vwlite.storage.weight_table import Table, values_of

NO_MEMORY, UNSTABLE, TOO_MANY, STOPPED, STOPPED_IN_GROUP = range(101, 106)  # of base/status.pxd


class CommonConfig:
    """The configuration that every kernel reads: loss, link, compatibility."""

    rule: Any = None  # a capsule, see ``cython_ext/learners/update_rule.pxd``; None: gradient descent or FTRL
    target: float | None = None  # see ``vwlite.learners.active.target_importance_learner``
    ends: tuple[float, float] | None = None  # labels of rows without one, there; None: those of training

    def __init__(self, config: Any, *, vw_compat: bool, frozen: bool) -> None:
        self.loss_code, self.link_code = config.loss.loss.code, link_code(config.link)
        self.vw_compat = vw_compat
        self.loss_params = self.params_of(config)  # of which the learner's scalars have the label range
        self.frozen = frozen or config.prediction_bounds is not None

    def params_of(self, config: Any) -> np.ndarray:
        return config.loss.params(vw_compat=self.vw_compat)  # type: ignore[no-any-return]


class Learner:
    """State of a learner: ``weights`` float32[2^bits, stride], ``scalars`` float64[len(SCALARS)], perhaps tables.

    These members are all that a run asks of any learner; what only some can do are the classes of
    ``vwlite.learners.abilities``, which these learners also are.

    ``config`` is the learner's frozen dataclass of options, which has a ``loss``, a ``link``,
    ``initial_learning_rate``, ``power_t`` and ``decay_learning_rate``. A learner that is not ``learning``
    may hold less. With ``vw_compat`` a number that is not finite counts as 0; else the first one raises ``Diverged``,
    or, where ``non_finite`` is a list, its place is added to that.
    """

    name: ClassVar[str]
    config_type: ClassVar[type]  # of its options
    SCALARS: ClassVar[tuple[str, ...]]
    native: ClassVar[Any]  # the kernel module
    weights: np.ndarray
    kernel: Any = None  # the configuration that the kernel reads
    layout = (0, 1)  # S, C: a feature's slots are (hash << S) + 0 .. C - 1, one for each class

    def __init__(self, config: Any, bits: int, *, learning: bool, vw_compat: bool) -> None:
        self.config, self.bits, self.learning, self.vw_compat = config, bits, learning, vw_compat
        self.scalars = np.zeros(len(self.SCALARS))
        self.levels = levels_of(config)
        self.non_finite: list[str] | None = None  # places of such predictions; None: the first raises
        self.stopped_in_group = False  # a signal did: a run cannot go on from here

    @classmethod
    def slot_bytes(cls, config: Any, learning: bool) -> float:
        """Bytes of the tables for each of the 2^bits slots."""
        raise NotImplementedError

    def get(self, name: str) -> float:
        return float(self.scalars[self.SCALARS.index(name)])

    def set(self, **values: float) -> None:
        for name, value in values.items():
            self.scalars[self.SCALARS.index(name)] = value

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        """Predict the rows ``begin`` to ``end`` in order and, if ``learning``, learn from them.

        Returns the row after the last one processed, which is ``end`` unless a signal asked to stop. Raises Diverged
        (not with ``vw_compat``, nor where ``non_finite`` is a list) when a prediction or an update is not finite,
        DataError for a row with too many features, MemoryError.
        """
        mode = (end, self.learning)
        if centring := plan.centring:
            batch = centring.apply(batch, begin, end, results.holdout_mask, self.learning)
        if plan.weights:
            batch, plan = plan.weights.apply(batch)
        status, row = self.native.run_rows(self, self.kernel, plan, batch, results, begin, mode)
        while status == UNSTABLE and self.non_finite is not None:
            self.non_finite.append(batch.location(row - 1))
            withdraw(self, results, row - 1)
            status, row = self.native.run_rows(self, self.kernel, plan, batch, results, row, mode)
        if status == UNSTABLE:
            raise Diverged(
                f"{batch.location(row - 1)}: the prediction or the update is not a finite number; "
                "try a smaller learning rate (-l) or scale the features"
            )
        if status == TOO_MANY:
            from vwlite.features.term_weights import too_many

            raise too_many(batch, row - 1)
        if status == NO_MEMORY:
            raise MemoryError("an example's interactions need more memory than there is")
        if status == STOPPED_IN_GROUP:
            self.stopped_in_group = True
        if centring and self.learning:
            centring.commit(row)
        if self.levels:
            self.levels.answer(results.prediction, begin, row)
        return row

    def tester(self, **changes: Any) -> Learner:
        """A learner on the same tables that only tests, its options changed; what it does leaves this one as it is.

        Raises UsageError for options that the learner does not have.
        """
        other = copy(self)
        other.learning, other.non_finite = False, None
        other.scalars, other.kernel = self.scalars.copy(), copy(self.kernel)
        if self.kernel is not None:
            other.kernel.frozen = True
        if changes:
            other.config = changed_config(self.config, changes)
        if "levels" in changes:
            other.levels = levels_of(other.config)
        if "link" in changes:
            other.kernel.link_code = link_code(other.config.link)
        return other

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        """The stack of learners from the bottom, the type of labels and that of predictions, by vw's names."""
        return (self.name, f"scorer-{self.config.link}"), "SIMPLE", "SCALAR"

    def end_pass(self) -> None:
        if self.config.decay_learning_rate != 1:  # otherwise not even rounded: a run goes on as if it had not ended
            with np.errstate(over="ignore"):
                self.set(rate=np.float32(self.get("rate")) * np.float32(self.config.decay_learning_rate))

    def header(self) -> JsonObject:
        """The learner's entries in the header of the model file, as JSON data."""
        config = asdict(self.config)
        if not config.get("levels"):  # a model of before this option
            config.pop("levels", None)
        for one in (config, config.get("base") or {}):
            if one.get("label_units") == "raw":  # likewise
                del one["label_units"]
        return {
            "learner": self.name,
            "config": config,
            "scalars": {name: plain(float(value)) for name, value in zip(self.SCALARS, self.scalars, strict=True)},
        }

    def tables(self, predict_only: bool) -> dict[str, Table]:
        """The tables a model keeps."""
        raise NotImplementedError

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        """Names of the arrays to load from a model with this header; None for all."""
        return None

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        """Take over what else the header has; ``whole`` as with ``load``. Raises ValueError, KeyError."""
        if whole and "start_time" in header:
            self.start_time = header["start_time"]

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        """Take over a model's numbers; unless ``whole``, only what prediction needs."""
        raise NotImplementedError


def check_table_memory(
    kind: type[Learner], config: Any, bits: int, learning: bool, limit: float | None, columns: int = 0
) -> None:
    """Raises UsageError when such a learner's tables are of more than ``limit`` GiB; None: of any size. ``columns``:
    so many has the table of a model at least.
    """
    if limit is not None:
        need = max(kind.slot_bytes(config, learning), 4.0 * columns) * 2**bits
        check_memory(need, limit * GIB, f"weights of {2**bits:,} slots", "a smaller -b needs less")


def levels_of(config: Any) -> Levels | None:
    """The levels of the options, which predictions are rounded to, if there are any."""
    return Levels(config.levels) if config.levels else None


def collect_non_finite(learner: Learner) -> None:
    """Have ``run`` record the places of predictions that are not finite in ``non_finite`` instead of raising."""
    learner.non_finite = []


def withdraw(learner: Learner, results: Results, row: int) -> None:
    """Replace the prediction of a row by NaN."""
    if isinstance(learner, StructuredLabels):
        learner.withdraw(row)
    else:
        results.prediction[row] = results.raw[row] = math.nan


def label_range(learner: Learner) -> tuple[float, float]:
    """The least and the greatest label so far, which predictions are clipped to."""
    return learner.get("min_label"), learner.get("max_label")


def number_slots(slots: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The slots that occur, ascending, and the place of each of ``slots`` there, both uint32; all below ``size``."""
    occurs = np.zeros(size, bool)
    occurs[slots] = True
    known = np.flatnonzero(occurs).astype(np.uint32)
    place = np.zeros(size, np.uint32)
    place[known] = np.arange(len(known), dtype=np.uint32)
    return known, place[slots]


def table_of(arrays: Mapping[str, Any], name: str, rows: int, stride: int) -> np.ndarray:
    """The numbers of a table from a file, float32[rows, stride]. Raises ValueError when its shape is another."""
    values = values_of(arrays, name)
    if values.shape != (rows, stride):
        raise ValueError(f"a table of shape {values.shape}, not {(rows, stride)}")
    return values


def plain(value: float) -> float | str:
    """For JSON, which has no infinity and no NaN; ``float`` reads it."""
    return value if math.isfinite(value) else str(value)


def has_simple_labels(learner: Learner) -> bool:
    """Whether labels are numbers to be summed."""
    return not isinstance(learner, StructuredLabels)


def output_names(learner: Learner) -> Sequence[str]:
    """The names of the numbers of a prediction; none where it is one number, or of classes."""
    return learner.outputs if isinstance(learner, SeveralOutputs) else ()


def shows_actions(learner: Learner) -> bool:
    """Whether predictions can be actions with their probabilities."""
    return isinstance(learner, LoggedDecisions) and learner.shows_actions


def want_scores(learner: Learner) -> None:
    """Have the kernel keep the scores of every class, if there are classes."""
    if isinstance(learner, ClassScores):
        learner.want_scores()


def counted_rows(learner: Learner, batch: Batch) -> Batch:
    """The rows run last, with labels and importance as they count."""
    return learner.counted(batch) if isinstance(learner, Querying) else batch


def use_threads(learner: Learner, count: int) -> None:
    """Have a learner that can do so learn with this number of threads."""
    if isinstance(learner, Threaded):
        learner.use_threads(count)


def predicting(learner: Learner) -> Learner:
    """A learner whose ``weights`` are those of a model that only predicts; mostly the learner itself."""
    return learner.predicting() if isinstance(learner, LazyWeights) else learner


def apply_shrinkage(learner: Learner) -> None:
    """Apply outstanding regularisation, if any, to the weights."""
    if isinstance(learner, LazyWeights):
        learner.apply_shrinkage()


def writes_lines(learner: Learner) -> bool:
    """Whether predictions are written by ``answer_line``, not as numbers of the usual digits."""
    return bool(learner.levels) or (isinstance(learner, OwnLines) and learner.custom_output)


def answer_line(learner: Learner, batch: Batch, results: Results, row: int, raw: bool) -> str:
    """A row's prediction as it is written, without the tag unless the learner ``places_tags``."""
    if isinstance(learner, OwnLines):
        return learner.lines(batch, results, row, raw)
    return f"{float(results.prediction[row]):g}"


def answers_of(learner: Learner, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> Answers:
    """What the learner has predicted for ``rows``, int64[n], of the batch run last: float32[n], or what it has else."""
    if isinstance(learner, StructuredLabels):
        return learner.answers(batch, results, rows, raw)
    return (results.raw if raw else results.prediction)[rows]


def no_answer_of(learner: Learner, raw: bool) -> Answers:
    """The prediction for a malformed row, in the form of ``answers_of`` for one row."""
    return learner.no_answer(raw) if isinstance(learner, StructuredLabels) else np.full(1, np.nan, np.float32)


def shows_raw(learner: Learner) -> bool:
    """Whether there are raw predictions."""
    return not isinstance(learner, StructuredLabels) or learner.shows_raw


def watch(learner: Learner, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
    """Tell a learner that goes pass by pass how many there will be. Raises UsageError where these are too few."""
    if isinstance(learner, PassByPass):
        learner.watch(passes, say, held_out)


def is_finished(learner: Learner) -> bool:
    """Whether nothing is left to be done, whatever the number of passes."""
    return isinstance(learner, PassByPass) and learner.finished


def is_measured(learner: Learner) -> bool:
    """Whether the last pass was one with the weights of now, or on the way to them."""
    return not isinstance(learner, PassByPass) or learner.measured


def own_rows(learner: Learner) -> Sequence[str]:
    return learner.own_rows if isinstance(learner, PassByPass) else ()
