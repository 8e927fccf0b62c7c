"""The counters of a run (examples, weights, losses, labels seen) and the rule for rows of the progress table."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from vwlite._native.counters import COUNT, INDEX, record_labels, tally
from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.errors import ModelError, UsageError
from vwlite.learners.best_constant import LabelSummary
from vwlite.options import FLOAT32_MAX, WHOLE
from vwlite.training.config import ProgressRule

NO_HOLDOUT = FLOAT32_MAX / 2  # the average loss of a pass that held nothing out

MAX_ENTRIES = 512  # of a history in one pass

_CONFIGURED = frozenset({"progress_additive", "progress_step", "simple_labels", "row_due"})
_SAVED = tuple(name for name in INDEX if name not in _CONFIGURED)
_INTEGERS = frozenset({"example_number", "total_features", "holdout_best_pass", "more_labels", "queries"})
_TOTALS = frozenset(
    (
        "example_number",
        "labeled_weight",
        "unlabeled_weight",
        "weighted_labels",
        "sum_loss",
        "total_features",
        "first_label",
        "second_label",
        "more_labels",
    )
)
_UNSET_LABEL = float("nan")
_LIMIT = 2**64
_DAMAGED = "the model's performance counters are damaged"


def parse_progress(text: str) -> tuple[ProgressRule, str | None]:
    """The rule of ``-P text`` and a warning, or None.

    An integer, also as 1e5, is a step (below 1 becomes 1), a number with a dot a factor (1.0 or less gets 1.0
    added), as Vowpal Wabbit reads them. Raises UsageError for anything else.
    """
    if re.fullmatch(WHOLE + "([eE][+-]?[0-9]+)?", text):
        step = to_float32(float(text))
        if math.isfinite(step):
            if step >= 1:
                return ProgressRule(True, step), None
            return ProgressRule(True, 1.0), f"-P {text}: a step below 1 is taken as 1"
    elif re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
        factor = to_float32(float(text))
        if math.isfinite(factor):
            return _multiplicative(text, factor)
    raise UsageError(f"-P {text}: give an integer (a step, as 1000) or a number with a dot (a factor, as 2.0)")


def to_float32(value: float) -> float:
    """The nearest float32, infinite beyond the largest."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _multiplicative(text: str, factor: float) -> tuple[ProgressRule, str | None]:
    if factor <= 1:
        factor = to_float32(factor + 1)
        warning = f"-P {text}: a factor of 1.0 or less gets 1.0 added: {factor:g}"
        return ProgressRule(False, factor), warning
    warning = f"-P {text}: a factor above 9.0; an integer would be a step" if factor > 9 else None
    return ProgressRule(False, factor), warning


class Counters:
    """Named access to ``array`` (float64[COUNT]), which ``tally`` adds to.

    Every key of ``INDEX`` is a property. ``simple_labels`` is false where labels are classes or
    costs, which are neither summed nor remembered for the best constant.
    """

    example_number: int
    total_features: int
    labeled_weight: float
    old_labeled_weight: float
    unlabeled_weight: float
    weighted_labels: float
    sum_loss: float
    sum_loss_since_dump: float
    holdout_weight: float
    holdout_loss: float
    holdout_weight_since_dump: float
    holdout_loss_since_dump: float
    holdout_weight_since_pass: float
    holdout_loss_since_pass: float
    holdout_best_loss: float
    holdout_best_pass: int
    first_label: float
    second_label: float
    more_labels: int
    dump_interval: float
    queries: int
    row_due: float

    def __init__(self, rule: ProgressRule | None = None, simple_labels: bool = True) -> None:
        rule = rule or ProgressRule()
        self.array = np.zeros(COUNT)
        self.simple_labels = simple_labels
        self.progress_additive, self.progress_step = rule.additive, rule.step
        self.reset()

    def reset(self) -> None:
        """Set all counters to zero; the progress rule and the kind of labels stay."""
        for name in _SAVED:
            setattr(self, name, 0.0)
        self.first_label = self.second_label = _UNSET_LABEL
        self.holdout_best_loss = FLOAT32_MAX
        self.row_due = 0.0
        self.dump_interval = self.progress_step if self.progress_additive else 1.0

    @property
    def weight(self) -> float:
        """Importance of all examples that were not held out, labelled or not."""
        return self.labeled_weight + self.unlabeled_weight

    def tally(self, batch: Batch, results: Any, held: np.ndarray | None, begin: int, end: int) -> int:
        """Add the rows ``begin <= i < end``; returns the row to go on with.

        ``results`` has ``loss`` float32[n] and ``features`` uint32[n]; ``held`` is uint8[n] or
        None. Stops after an example for which a progress row is due, and only then is ``row_due``
        true. Raises ValueError when an array is too short.
        """
        return tally(self.array, batch, results, held, begin, end)

    @contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """A context in which no progress row is due; the distance to the next one stays the same."""
        distance, self.dump_interval = self.dump_interval, math.inf
        try:
            yield
        finally:
            self.dump_interval = distance

    def record_labels(self, batch: Batch, begin: int, end: int) -> None:
        """Record the labels of rows that are going to be counted as unlabelled."""
        record_labels(self.array, batch.label, batch.flags, begin, end)

    def count_queries(self, labels: int) -> None:
        """Add to the number of labels that were asked for."""
        self.queries += labels

    def start_interval(self, holdout: bool = False) -> None:
        """Start the interval after a progress row; ``holdout``: the row showed held-out losses."""
        if holdout:
            self.holdout_weight_since_dump = self.holdout_loss_since_dump = 0.0
        self.sum_loss_since_dump = 0.0
        self.old_labeled_weight = self.labeled_weight
        total, step = to_float32(self.weight), self.progress_step
        # A float32 sum or product rounded once more from float64 is the float32 result.
        self.dump_interval = to_float32(total + step if self.progress_additive else total * step)

    def end_pass(self, number: int) -> bool:
        """Close pass ``number`` (from 1): is its held-out loss the best so far?

        A pass without held-out weight counts as ``NO_HOLDOUT``, as in Vowpal Wabbit: the first one
        is "best".
        """
        loss = NO_HOLDOUT
        if self.holdout_weight_since_pass > 0:
            loss = to_float32(self.holdout_loss_since_pass / self.holdout_weight_since_pass)
        self.drop_pass()
        if not loss < self.holdout_best_loss:
            return False
        self.holdout_best_loss, self.holdout_best_pass = loss, number
        return True

    def held_out_loss(self) -> float | None:
        """The average of this pass so far, None where nothing was held out."""
        weight = self.holdout_weight_since_pass
        return self.holdout_loss_since_pass / weight if weight else None

    def drop_pass(self) -> None:
        """Close a pass without comparing its held-out loss."""
        self.holdout_weight_since_pass = self.holdout_loss_since_pass = 0.0

    def labels(self) -> LabelSummary:
        """The sums from which the best constant is computed."""
        first, second = self.first_label, self.second_label
        return LabelSummary(
            first=None if math.isnan(first) else first,
            second=None if math.isnan(second) else second,
            more=bool(self.more_labels),
            weighted_labels=self.weighted_labels,
            labeled_weight=self.labeled_weight,
        )

    def totals(self) -> dict[str, float | int | None]:
        """The part of ``state()`` that does not depend on where a run was stopped and resumed."""
        return {name: value for name, value in self.state().items() if name in _TOTALS}

    def state(self) -> dict[str, float | int | None]:
        """The counters for a model header: numbers, None for NaN (a label not seen yet)."""
        return {name: _plain(name, getattr(self, name)) for name in _SAVED}

    def restore(self, state: dict[str, float | int | None]) -> None:
        """Go on counting from ``state``, next progress row included.

        This is ``--preserve_performance_counters``; without it a loaded model starts with fresh
        counters. Counters that ``state`` lacks start afresh. Raises ModelError when ``state`` is
        not what ``state()`` returns.
        """
        if not isinstance(state, dict) or not set(state) <= set(_SAVED):
            raise ModelError(_DAMAGED)
        values = {name: _number(name, value) for name, value in state.items()}
        self.reset()
        for name, value in values.items():
            setattr(self, name, value)


class History:
    """The losses of a run: ``entries`` has one for each row of the progress table and for the end of each pass.

    ``loss`` and ``since_last``, which is over the examples since the entry before, are progressive: each example is
    predicted before it is learned. ``holdout`` is the held-out loss of the pass. Each is None without examples. When
    a pass has more than MAX_ENTRIES, every second one is dropped.
    """

    def __init__(self, counters: Counters) -> None:
        self.counters = counters
        self.entries: list[JsonObject] = []
        self.first = 0  # index of the first entry of this pass
        self.weight = self.loss = 0.0  # as of the last entry

    def add(self, number: int) -> None:
        """Add an entry for the present point of pass ``number``."""
        counters = self.counters
        weight, loss = counters.labeled_weight, counters.sum_loss
        self.entries.append(
            {
                "pass": number,
                "examples": counters.example_number,
                "loss": ratio(loss, weight),
                "since_last": ratio(loss - self.loss, weight - self.weight),
                "holdout": counters.held_out_loss(),
            }
        )
        self.weight, self.loss = weight, loss
        if len(self.entries) - self.first > MAX_ENTRIES:
            del self.entries[self.first :: 2]

    def end_pass(self, number: int) -> None:
        if not self.entries[self.first :] or self.entries[-1]["examples"] < self.counters.example_number:
            self.add(number)
        else:
            self.entries[-1]["holdout"] = self.counters.held_out_loss()
        self.first = len(self.entries)


def ratio(loss: float, weight: float) -> float | None:
    return loss / weight if weight > 0 else None


def _plain(name: str, value: float) -> float | int | str | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        return str(value)  # "inf" or "-inf": JSON has no such number
    return int(value) if name in _INTEGERS else value


def _number(name: str, value: object) -> float:
    whole = name in _INTEGERS
    if value in ("inf", "-inf") and not whole:
        return float(value)
    if value is None and not whole:
        return _UNSET_LABEL
    if type(value) is int and (0 if whole else -_LIMIT) <= value <= _LIMIT:
        return float(value)
    if type(value) is float and not whole:
        return value
    raise ModelError(_DAMAGED)


def _slot(index: int, integer: bool) -> property:
    kind = int if integer else float

    def read(counters: Counters) -> float:
        return kind(counters.array[index])

    def write(counters: Counters, value: float) -> None:
        counters.array[index] = value

    return property(read, write)


for _name, _index in INDEX.items():
    setattr(Counters, _name, _slot(_index, _name in _INTEGERS))
