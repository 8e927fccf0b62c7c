"""Gradient descent: configuration, state arrays, calls into the kernel ``cython_ext/learners/gd.pyx``."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from vwlite._native import gd as kernel
from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.features.hashing import CONSTANT_HASH, CONSTANT_NAME
from vwlite.learners import learner_class
from vwlite.learners.abilities import Audited, Explainable, LazyWeights, PagedTable, Reporting, StructuredLabels
from vwlite.learners.base import CommonConfig, Learner, counted_rows, label_range
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import FREE
from vwlite.learners.row_results import Results
from vwlite.storage.weight_table import (
    NARROW,
    WIDE,
    PageToucher,
    Table,
    any_set,
    page_toucher,
    values_of,
    with_stride,
    written_chunks,
    zeros,
)

SCALARS = (
    "norm_sum",  # sum of squared normalised inputs, times importance
    "norm_weight",  # sum of importance over the same updates
    "multiplier",  # global scale of the last update with a loss
    "time",  # sum of importance over all examples
    "held_weight",  # the part of it that was held out
    "unlabeled_weight",  # the part of it without a label
    "gravity",  # L1 shrinkage not yet applied to the table
    "contraction",  # L2 shrinkage not yet applied to the table
    "min_label",
    "max_label",
    "rate",  # learning rate, decayed by the passes so far
)
LABEL_SUMS = (  # of the labels learned, where these are in units of their spread
    "label_weight",  # sum of importance
    "label_count",  # examples
    "label_mean",
    "label_variance",  # in which one example at most doubles the sum
    "label_variance_all",  # the same without this limit
    "label_deviation",  # mean distance from the mean
)
NORMAL_RATIO = 1.2533  # of label_units.pxd
COLUMNS = ("w", "adaptive", "normalized")  # of the table; a fourth is scratch


class KernelConfig(CommonConfig):
    """``GdConfig`` under the names that the kernel reads."""

    def __init__(self, config: GdConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.adaptive, self.normalized, self.invariant = config.modes
        self.power_t = config.power_t
        self.simd_width = 16  # terms or classes processed at a time, at most; 0 for one. Results do not depend on it
        self.l1, self.l2, self.sparse_l2 = config.l1, config.l2, config.sparse_l2
        self.overshrunk = np.zeros(1, np.uint8)
        self.by_deviation = config.loss.label_spread == "deviation"
        self.ftrl = config.ftrl
        self.ftrl_alpha = 0.5 if config.ftrl_alpha is None else config.ftrl_alpha
        self.ftrl_beta = 1.0 if config.ftrl_beta is None else config.ftrl_beta


class Gd(Learner, Reporting, Explainable, Audited, LazyWeights, PagedTable):
    """Gradient descent. Columns of the table: the weight and, if any is used, adaptive sum, largest input, scratch.

    A table is narrow where only the first two are used; its model is that of a wide one.
    """

    name = "gd"
    bottom: ClassVar[str] = "gd"  # what vw calls the learner at the bottom of the stack
    config_type = GdConfig
    SCALARS = SCALARS
    native = kernel
    kernel_config: ClassVar[type[KernelConfig]] = KernelConfig
    label_sums: np.ndarray | None = None  # float64[len(LABEL_SUMS)]; None where labels are learned as they are
    names_zero_weights = False  # whether vw's text of a model lists slots of weight 0

    def __init__(
        self, config: GdConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat)
        self.stride = self.column_count(config, learning)
        self.weights = zeros(1 << bits, self.stride)
        self.kernel = self.kernel_config(config, vw_compat=vw_compat, frozen=not learning)
        self.mask: np.ndarray | None = None  # uint8[2^bits], 0 where nothing is learned
        self.start_labels()
        self.set_scalars()
        if start:
            self.set_weights()

    def start_labels(self) -> None:
        """Set the sums of labels to their values before the first example."""
        if self.config.label_units == "spread":
            self.label_sums = np.zeros(len(LABEL_SUMS))

    @staticmethod
    def column_count(config: GdConfig, learning: bool) -> int:
        adaptive, normalized, _ = config.modes
        if not (learning and (adaptive or normalized)):
            return 1
        # rates are computed twice in narrow tables, which takes longer than memory where powers are not roots
        return NARROW if config.narrow else WIDE

    @classmethod
    def slot_bytes(cls, config: GdConfig, learning: bool) -> float:
        return 4.0 * cls.column_count(config, learning)

    def set_scalars(self) -> None:
        """Set the scalars to their values before the first example."""
        config = self.config
        unclipped = not self.vw_compat and self.learns_numbers  # vw clips the scores of classes
        first = FREE if config.label_units == "spread" else config.loss.start_range(unclipped)
        low, high = config.prediction_bounds or (first if self.learning else (0.0, 0.0))
        self.set(contraction=1.0, min_label=low, max_label=high, multiplier=1.0)
        self.start_time = config.start_time  # of the first run, saved in models
        self.set(time=np.float32(config.start_time), rate=config.initial_learning_rate)
        if config.initial_t and not config.ftrl:
            self.set(norm_sum=self.get("time"), norm_weight=self.get("time"))

    def set_weights(self) -> None:
        """Set the weights to their values before the first example. In a loaded table only slots of zeros are set."""
        config, constant = self.config, self.constant_slot
        initial_t = config.initial_t if self.stride > 1 and config.modes[0] and not config.ftrl else None
        if not (initial_t or config.initial_weight or config.constant or config.random_weights):
            return
        if not self.weights.flags.writeable:
            self.weights = np.array(self.weights)
        unset = ~self.weights.any(axis=1)
        if initial_t:
            self.weights[unset | (self.weights[:, 1] == 0), 1] = initial_t
        if config.random_weights:
            self.weights[unset, 0] = self.random_start()[unset]
        if config.initial_weight:
            self.weights[unset, 0] = config.initial_weight
        if config.constant and unset[constant]:
            self.weights[constant, 0] = config.constant

    def random_start(self) -> np.ndarray:
        """float32[2^bits], vw's random weights: uniform ones in sequence, normal ones by the number of the slot."""
        from vwlite.learners.vw_random import normal, truncate, uniform

        slots, config = len(self.weights), self.config
        if config.random_weights == "uniform":
            return uniform(config.weights_seed, slots) - np.float32(0.5)
        weights = normal(np.arange(slots, dtype=np.uint64) * np.uint64(self.stored_stride))
        return truncate(weights) if config.random_weights == "truncated" else weights

    @property
    def learns_numbers(self) -> bool:
        """Whether what is learned are the labels themselves, not whether a row has a label."""
        return not isinstance(self, StructuredLabels)

    @property
    def first_norms(self) -> tuple[float, float]:
        """``norm_sum`` and ``norm_weight``; with several sets of weights, those of the first set."""
        return self.get("norm_sum"), self.get("norm_weight")

    @classmethod
    def with_confidence(cls) -> type[Learner]:
        """The learner that predicts with models of this learner and reports how sure it is."""
        return learner_class("active")

    def set_mask(self, mask: np.ndarray) -> None:
        """Learn only slots where ``mask``, uint8[2^bits], is not 0."""
        self.mask = mask

    def clipped_prediction(self, results: Results, row: int, number: int) -> float:
        raw, (low, high) = float(results.raw[row]), label_range(self)
        return 0.0 if np.isnan(raw) else min(max(raw, low), high)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        end = super().run(batch, plan, results, begin, end)
        if self.config.binary:
            batch, rows = counted_rows(self, batch), slice(begin, end)
            predicted = batch.is_example[rows]
            answer = np.where(results.prediction[rows] > self.middle, np.float32(1), np.float32(-1))
            counts = predicted & ~np.isnan(batch.label[rows]) & (batch.importance[rows] > 0)
            wrong = counts & (answer != batch.label[rows])
            results.prediction[rows] = np.where(predicted, answer, 0)
            loss = np.where(wrong, batch.importance[rows], 0)
            if self.vw_compat:  # other labels have the loss of the loss function
                loss = np.where(abs(batch.label[rows]) == 1, loss, results.loss[rows])
            results.loss[rows] = loss
        return end

    tests_on_copy = False  # whether the kernel needs a table of the weights alone to predict

    def tester(self, **changes: Any) -> Gd:
        other = super().tester(**changes)
        if self.label_sums is not None:
            other.label_sums = self.label_sums.copy()
        if self.tests_on_copy or self.owes_shrinkage:
            other.stride, other.weights = 1, self.prediction_weights()
            other.kernel = self.kernel_config(other.config, vw_compat=self.vw_compat, frozen=True)
            other.apply_shrinkage()
        return other

    def stop_learning(self) -> None:
        """Only predict from now on; the learning rates are kept."""
        self.learning = False

    def tester_with_rates(self) -> Gd:
        """A learner as ``tester`` makes it, which also has the learning rates, so that updates can be tried on it."""
        other = super().tester()
        other.kernel.frozen = self.config.prediction_bounds is not None
        other.label_sums = None if self.label_sums is None else self.label_sums.copy()
        if not other.weights.flags.writeable:  # since updates are tried on it
            other.weights = np.array(other.weights)
        return other

    def predicting(self) -> Learner:
        if self.label_sums is None:
            return self
        other = super().tester()
        other.weights, other.label_sums = zeros(*self.weights.shape), None
        constant = float(self.weights[self.constant_slot, 0]) * self.spread + self.label_mean
        with np.errstate(over="ignore"):
            for begin, end, _ in written_chunks(self.weights):
                other.weights[begin:end] = self.weights[begin:end]
                other.weights[begin:end, 0] = self.weights[begin:end, 0].astype(float) * self.spread
            other.weights[self.constant_slot, 0] = constant
        return other

    @property
    def constant_slot(self) -> int:
        return CONSTANT_HASH & ((1 << self.bits) - 1)

    @property
    def label_mean(self) -> float:
        return 0.0 if self.label_sums is None else float(self.label_sums[LABEL_SUMS.index("label_mean")])

    @property
    def spread(self) -> float:
        """The unit in which labels are learned, 1 by default."""
        if self.label_sums is None:
            return 1.0
        if self.kernel.by_deviation:
            return NORMAL_RATIO * float(self.label_sums[LABEL_SUMS.index("label_deviation")])
        return math.sqrt(self.label_sums[LABEL_SUMS.index("label_variance")])

    def in_label_units(self, weights: np.ndarray, names: Sequence[str], slots: np.ndarray) -> np.ndarray:
        if self.label_sums is None:
            return weights
        mean = np.zeros(len(slots))
        for place in np.flatnonzero(slots == self.constant_slot).tolist():
            mean[place] = self.label_mean if names[place] in ("", CONSTANT_NAME) else 0
        with np.errstate(over="ignore"):
            return (weights.astype(float) * self.spread + mean).astype(np.float32)

    @property
    def closing_line(self) -> str:  # type: ignore[override]
        if self.label_sums is None or not self.label_sums.any():
            return ""
        return f"labels: mean {self.label_mean:.6g}, spread {self.spread:.6g}"

    def prediction_weights(self) -> np.ndarray:
        """float32[2^bits, 1], a copy of the weights that are used for predictions."""
        return np.array(self.weights[:, :1])

    def pages(self) -> PageToucher | None:
        return page_toucher(self.weights) if self.learning and self.layout == (0, 1) else None

    @property
    def middle(self) -> float:
        """The threshold between the two classes, on the scale of predictions; 0 in vw mode."""
        return 0.0 if self.vw_compat else {"logistic": 0.5, "poisson": 1.0}.get(self.config.link, 0.0)

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        (_, link), labels, predictions = super().description
        return (self.bottom, link, *["binary"] * self.config.binary), labels, predictions

    @property
    def owes_shrinkage(self) -> bool:
        """Whether the table has not had all shrinkage by regularisation applied yet."""
        return bool(self.get("gravity") or self.get("contraction") != 1)

    @property
    def overshrunk(self) -> bool:
        """Whether a step shrank the weights by more than their size, and so changed their sign."""
        return bool(self.kernel.overshrunk[0])

    def apply_shrinkage(self) -> None:
        if self.owes_shrinkage:
            for begin, end, _ in written_chunks(self.weights):
                kernel.apply_shrinkage(self, self.kernel, begin, end)
            self.set(gravity=0.0, contraction=1.0)

    def warnings(self) -> list[str]:
        if not self.overshrunk:
            return super().warnings()
        l2 = f"{self.config.l2:g}"
        cause = f"--l2 {l2} turned the sign of all weights where a step's rate times {l2} was above 1"
        return [*super().warnings(), f"{cause}: a smaller --l2 or -l shrinks them"]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table that models contain."""
        if self.stride == 1:
            return COLUMNS[:1]
        return (*COLUMNS, "rate") if self.config.sparse_l2 else COLUMNS

    @property
    def text_columns(self) -> list[int]:
        """Numbers of the columns in vw's text of a model that can be trained further."""
        adaptive, normalized, _ = self.config.modes
        names = ("w", *["adaptive"] * adaptive, *["normalized"] * normalized)
        return [COLUMNS.index(name) for name in names if name in self.columns]

    def header(self) -> JsonObject:
        header = {**super().header(), "start_time": self.start_time}
        if self.label_sums is not None:
            header["scalars"] |= dict(zip(LABEL_SUMS, self.label_sums.tolist(), strict=True))
        return header

    @property
    def is_narrow(self) -> bool:
        """Whether a slot has two numbers and not four."""
        return type(self) is Gd and self.stride == NARROW

    @property
    def stored_stride(self) -> int:
        """Of the table as models have it."""
        return WIDE if self.is_narrow else self.stride

    def tables(self, predict_only: bool) -> dict[str, Table]:
        names = self.columns[:1] if predict_only else self.columns
        return {"weights": Table(self.weights, names, self.stored_stride)}

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None if learning and header["resumable"] else ("weights.w",)

    def load_labels(self, scalars: Mapping[str, float]) -> None:
        """Set the sums of labels to those of a model. Raises ValueError."""
        if self.label_sums is not None:
            self.label_sums[:] = [scalars[name] for name in LABEL_SUMS]
            if not (np.isfinite(self.label_sums).all() and np.delete(self.label_sums, 2).min() >= 0):
                raise ValueError("the sums of labels are negative or not finite")

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        for name in SCALARS:
            if whole or name in ("gravity", "contraction", "min_label", "max_label"):
                self.set(**{name: float(scalars[name])})
        self.load_labels(scalars)
        values = values_of(arrays, "weights") if "weights" in arrays else arrays["weights.w"].reshape(-1, 1)
        if len(values) != 1 << self.bits:
            raise ValueError(f"a table of {len(values)} slots, not {1 << self.bits}")
        if self.is_narrow and values.shape[1] > NARROW and any_set(values, NARROW):  # learned with other options
            self.stride = WIDE
        self.weights = with_stride(values, self.stride)
        if not self.learning and self.owes_shrinkage:
            if not self.weights.flags.writeable:
                self.weights = np.array(self.weights)
            self.apply_shrinkage()
