"""Classes in vwlite's own layout: softmax, one against all, hinge; see ``cython_ext/learners/softmax.pyx``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from typing import Any

import numpy as np

from vwlite._native import softmax as softmax_kernel
from vwlite.config_check import JsonObject, count_in
from vwlite.data.batch import Batch
from vwlite.data.class_labels import Classes, ClassLabels, LogFunction, ShareLabels
from vwlite.errors import UsageError
from vwlite.learners.average import OF_MEANS, not_begun, number_of
from vwlite.learners.base import Learner, table_of
from vwlite.learners.configs.per_class import LOSSES, OF_SHARES, MulticlassConfig
from vwlite.learners.per_class import PerClass
from vwlite.learners.row_results import Results
from vwlite.storage.weight_table import Table, values_of, written_chunks, zeros

SCALARS = ("norm_sum", "norm_weight", "rate", "first", "min_label", "max_label", "time")


class MulticlassKernelConfig:
    def __init__(self, config: MulticlassConfig, *, vw_compat: bool) -> None:
        self.loss, self.classes, self.vw_compat = LOSSES.index(config.class_loss), config.multiclass, vw_compat
        self.shift = max((config.multiclass - 1).bit_length(), 3)
        self.bound = 0.0
        self.shares, self.smoothing = config.label_shares, config.smoothing

    def show(self, config: MulticlassConfig) -> None:
        """The kernel does the same, whatever is asked for of the predictions."""


class Multiclass(PerClass):
    """``weights`` and ``squares`` float32[2^bits, 1]: of every feature W classes; ``scale`` float32[2^bits / W, 1].

    W is 8 or a larger power of two. With ``group_l1`` all rows have one rate, and there are only weights.
    """

    name = "multiclass"
    owes_shrinkage = overshrunk = False
    adapts = True  # steps after every example have rates, which ``squares`` and ``scale`` are for
    config_type = MulticlassConfig
    SCALARS = SCALARS
    native = softmax_kernel
    shrinkage: RowShrinkage | None = None

    def __init__(
        self, config: MulticlassConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        Learner.__init__(self, config, bits, learning=learning, vw_compat=vw_compat)
        self.kernel = MulticlassKernelConfig(config, vw_compat=vw_compat)
        shift = self.kernel.shift
        if 1 << shift > 1 << bits:
            raise UsageError(f"{config.multiclass} classes need more than the {1 << bits} slots of -b {bits}")
        self.layout = shift, config.multiclass
        self.stride, self.start_time = 1, 0.0
        self.weights = zeros(1 << bits, 1)
        self.squares, self.scale = np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32)
        if self.has_rates:
            self.squares, self.scale = zeros(1 << bits, 1), zeros(1 << (bits - shift), 1)
        averages = learning and config.average
        self.means = ClassMeans(1 << bits, 1 << shift, config.average_after) if averages else None
        self.shrinkage = RowShrinkage(config.group_l1) if learning and config.group_l1 else None
        self.mask: np.ndarray | None = None
        self.set(rate=config.initial_learning_rate, first=-1 if config.classes.first is None else config.classes.first)
        self.scratch = np.zeros((6, 1 << shift), np.float32)
        self.raw, self.score = np.zeros((2, 1, config.count), np.float32)
        self.wants_scores = config.probabilities or config.scores
        self.log_loss = np.zeros((2, 2))  # as in PerClass, for every loss
        self.hidden_labels: np.ndarray | None = None

    @classmethod
    def slot_bytes(cls, config: MulticlassConfig, learning: bool) -> float:
        per_row = 0.5 ** MulticlassKernelConfig(config, vw_compat=False).shift
        if not learning or config.group_l1:
            return 4.0
        return 4.0 * (2 + per_row + (3 + per_row) * config.average)

    @property
    def has_rates(self) -> bool:
        """Whether the learner has rates of single weights."""
        return self.learning and self.adapts and not self.config.group_l1

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        predictions = "SCALARS" if self.config.probabilities or self.config.scores else "MULTICLASS"
        return ("multiclass", self.config.class_loss), "MULTICLASS", predictions

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        loss, weight = self.log_loss[:, int(held)].tolist()
        return [(f"average {self.config.class_loss} loss", loss / weight)] if weight else []

    def labels(self, log: LogFunction | None = None) -> ClassLabels:
        if not self.config.label_shares:
            return super().labels(log)
        first = int(self.get("first"))
        classes = Classes(self.config.count, self.config.named_labels, None if first < 0 else first)
        return ShareLabels(classes, log, strict=self.config.strict_shares)

    def clipped_prediction(self, results: Results, row: int, number: int) -> float:
        return float(self.raw[row, number])

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        return self.raw[rows] if raw else super().answers(batch, results, rows, raw)

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        if not raw:
            return super().lines(batch, results, row, raw)
        first = int(results.raw[row])
        return self.pairs_text(self.raw[row], first, range(first, first + self.config.count), raw)

    def apply_shrinkage(self) -> None:
        """There is none."""

    def tester(self, **changes: Any) -> PerClass:
        other = super().tester(**changes)
        return other.predicting() if isinstance(other, Multiclass) else other

    def predicting(self) -> Multiclass:
        if self.means is None and self.shrinkage is None:
            return self
        other = copy(self)
        if self.means:
            other.weights, other.means = self.means.averaged(), None
        else:
            other.weights, other.shrinkage = self.shrunk_weights(), None
        return other

    def shrunk_weights(self) -> np.ndarray:
        """float32[2^bits, 1], what the penalty leaves of the weights."""
        weights, width = zeros(len(self.weights), 1), 1 << self.kernel.shift
        for begin, end, _ in written_chunks(self.weights, width * max(1, (1 << 16) // width)):
            part = self.weights[begin:end, 0].copy()
            softmax_kernel.shrink_rows(self, self.kernel, begin // width, part)
            weights[begin:end, 0] = part
        return weights

    def warnings(self) -> list[str]:
        if self.means is None or self.means.has_begun or not self.means.learned:
            return super().warnings()
        return [*super().warnings(), not_begun(self.means.learned, self.config.average_after)]

    @property
    def columns(self) -> tuple[str, ...]:
        return ("w",)

    def tables(self, predict_only: bool) -> dict[str, Table]:
        source = self if self.shrinkage and not predict_only else self.predicting()
        tables = {"weights": Table(source.weights, ("w",))}
        if not predict_only:
            tables |= self.means.tables() if self.means else {}
            rates = {"squares": Table(self.squares, ("g",)), "scale": Table(self.scale, ("x",))}
            tables |= {} if self.config.group_l1 else rates
        return tables

    def header(self) -> JsonObject:
        header = Learner.header(self)
        new = () if self.config.average else ("average", "average_after")
        for name in (*new, *(name for name in (*OF_SHARES, "group_l1") if not getattr(self.config, name))):
            del header["config"][name]  # as in a model of before these options
        more = self.means or self.shrinkage
        return {**header, "scalars": {**header["scalars"], **more.header()}} if more else header

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: MulticlassConfig) -> None:
        """Classes have no numbers of their own in the header."""

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        first = float(header["scalars"]["first"])
        if first not in (-1, 0, 1):
            raise ValueError("classes are counted from 0 or 1")
        self.set(first=first)

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        self.weights = table_of(arrays, "weights", 1 << self.bits, 1)
        if whole:
            self.set(**{name: float(scalars[name]) for name in SCALARS})
        if whole and self.has_rates:
            self.load_rates(arrays)
        if self.means and whole:
            tables = {name: table_of(arrays, name, 1 << self.bits, 1) for name in self.means.TABLES}
            self.means.load(tables, scalars)
            self.weights = self.means.last.copy()
        elif self.means:
            self.means.last[:] = self.weights
        if self.config.group_l1 and whole:
            self.shrinkage = RowShrinkage(self.config.group_l1)
            self.shrinkage.load(scalars)
            if not self.learning:
                self.weights, self.shrinkage = self.shrunk_weights(), None

    def load_rates(self, arrays: Mapping[str, Any]) -> None:
        self.squares, self.scale = table_of(arrays, "squares", 1 << self.bits, 1), values_of(arrays, "scale")
        if self.scale.shape != (len(self.weights) >> self.kernel.shift, 1):
            raise ValueError(f"a table of shape {self.scale.shape} for {len(self.weights)} slots")


SUMS = ("penalty", "squared_gradients", "rows")  # in the order of the kernel


class RowShrinkage:
    """``sums`` float64[3], over all examples learned: the cumulative penalty, which is the same for all rows, and what
    their rate comes from, the squared norms of gradients and the number of rows that have had a step.
    """

    def __init__(self, strength: float) -> None:
        self.strength, self.sums = strength, np.zeros(len(SUMS))

    def header(self) -> dict[str, float]:
        return dict(zip(SUMS, self.sums.tolist(), strict=True))

    def load(self, scalars: Mapping[str, float]) -> None:
        """Take over what ``header`` gave. Raises ValueError for negative and infinite numbers, KeyError."""
        for place, name in enumerate(SUMS):
            self.sums[place] = float(scalars[name])
            if not 0 <= self.sums[place] < np.inf:
                raise ValueError(f"a sum {name} of {self.sums[place]}")


NAMES = OF_MEANS[:-1]  # of the scalars; rows have no scale


class ClassMeans:
    """``last``, ``sums`` and ``next_sums`` float32[slots, 1], rows of ``width`` slots; ``number`` float32[rows, 1]."""

    TABLES = ("last", "sums", "next_sums")  # which a model has beside the mean

    def __init__(self, slots: int, width: int, average_after: int | None) -> None:
        self.width, self.after, self.present = width, -1 if average_after is None else average_after, 0.0
        self.last, self.sums, self.next_sums = (zeros(slots, 1) for _ in range(3))
        self.number = zeros(slots // width, 1)
        self.scalars = np.zeros(len(NAMES))

    @property
    def has_begun(self) -> bool:
        return self.scalars[NAMES.index("mean_count")] > 0

    @property
    def learned(self) -> int:
        """The number of examples learned."""
        return int(self.scalars[0])

    def averaged(self) -> np.ndarray:
        """float32[slots, 1], the mean."""
        means, chunk = zeros(len(self.last), 1), self.width * max(1, (1 << 16) // self.width)
        for begin, end, _ in written_chunks(self.last, chunk):
            part = np.empty(end - begin, np.float32)
            softmax_kernel.read_means(self, self.width, begin // self.width, part)
            means[begin:end, 0] = part
        return means

    def tables(self) -> dict[str, Table]:
        softmax_kernel.bring_up_rows(self, self.width)
        return {name: Table(getattr(self, name), ("w",)) for name in self.TABLES}

    def header(self) -> dict[str, float]:
        return dict(zip(NAMES, self.scalars.tolist(), strict=True))

    def load(self, tables: Mapping[str, np.ndarray], scalars: Mapping[str, Any]) -> None:
        """Take over what ``tables`` and ``header`` gave."""
        self.last, self.sums, self.next_sums = (tables[name] for name in self.TABLES)
        self.scalars[:] = [float(scalars[name]) for name in NAMES]
        self.present = number_of(count_in(scalars, "learned"), self.after)
        used = (self.sums != 0) | (self.next_sums != 0)
        self.number[used.reshape(-1, self.width).any(axis=1)] = self.present
