"""Gradient descent: configuration, state arrays, calls into the kernel ``cython_ext/learners/gd.pyx``."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from vwlite._native import gd as kernel
from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.features.feature_plan import Plan
from vwlite.features.hashing import CONSTANT_HASH, CONSTANT_NAME
from vwlite.learners import learner_class
from vwlite.learners.base import CommonConfig, Learner
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import FREE
from vwlite.learners.row_results import Results
from vwlite.storage.weight_table import PageToucher, Table, page_toucher, values_of, with_stride, written_chunks, zeros

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
    "label_variance",  # to which one example adds as much as there is at most
    "label_variance_all",  # without this limit
    "label_deviation",  # mean distance from the mean
)
NORMAL_RATIO = 1.2533  # of label_units.pxd
COLUMNS = ("w", "adaptive", "normalized")  # of the table; a fourth is scratch


class KernelConfig(CommonConfig):
    """``GdConfig`` in the words of the kernel."""

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


class Gd(Learner):
    """Gradient descent. Columns of the table: the weight and, if any is used, adaptive sum, largest input, scratch."""

    name = bottom = "gd"
    config_type = GdConfig
    supports_audit = is_sum = True
    SCALARS = SCALARS
    native = kernel
    kernel_config: ClassVar[type[KernelConfig]] = KernelConfig
    label_sums: np.ndarray | None = None  # float64[len(LABEL_SUMS)]; None where labels are learned as they are
    names_zero_weights = False  # in vw's text of a model; of a slot whose weight is 0 something else is known

    def __init__(
        self, config: GdConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat)
        self.stride = self.columns_held(config, learning)
        self.weights = zeros(1 << bits, self.stride)
        self.kernel = self.kernel_config(config, vw_compat=vw_compat, frozen=not learning)
        self.mask: np.ndarray | None = None  # uint8[2^bits], 0 where nothing is learned
        self.start_labels()
        self.set_scalars()
        if start:
            self.set_weights()

    def start_labels(self) -> None:
        """The sums of labels before the first."""
        if self.config.label_units == "spread":
            self.label_sums = np.zeros(len(LABEL_SUMS))

    @staticmethod
    def columns_held(config: GdConfig, learning: bool) -> int:
        adaptive, normalized, _ = config.modes
        return 4 if learning and (adaptive or normalized) else 1

    @classmethod
    def slot_bytes(cls, config: GdConfig, learning: bool) -> float:
        return 4.0 * cls.columns_held(config, learning)

    def set_scalars(self) -> None:
        """The numbers before the first example."""
        config = self.config
        own = not self.vw_compat and self.learns_numbers  # of classes vw has the clipped scores
        first = FREE if config.label_units == "spread" else config.loss.start_range(own)
        low, high = config.prediction_bounds or (first if self.learning else (0.0, 0.0))
        self.set(contraction=1.0, min_label=low, max_label=high, multiplier=1.0)
        self.start_time = config.start_time  # of the first run; a model hands it on
        self.set(time=np.float32(config.start_time), rate=config.initial_learning_rate)
        if config.initial_t and not config.ftrl:
            self.set(norm_sum=self.get("time"), norm_weight=self.get("time"))

    def set_weights(self) -> None:
        """The table before the first example. In a table that is not empty only slots of zeros are set."""
        config, constant = self.config, self.constant_slot
        initial_t = config.initial_t if self.stride == 4 and config.modes[0] and not config.ftrl else None
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
        """float32[2^bits], vw's random weights: uniform ones in a sequence, normal ones by the place of their slot."""
        from vwlite.learners.vw_random import normal, truncated, uniform

        slots, config = len(self.weights), self.config
        if config.random_weights == "uniform":
            return uniform(config.weights_seed, slots) - np.float32(0.5)
        drawn = normal(np.arange(slots, dtype=np.uint64) * np.uint64(self.stride))
        return truncated(drawn) if config.random_weights == "truncated" else drawn

    @property
    def learns_numbers(self) -> bool:
        """Whether what is learned are the labels themselves, not whether a row has a label."""
        return self.simple_labels

    @property
    def first_norms(self) -> tuple[float, float]:
        """``norm_sum`` and ``norm_weight``: of several sets of weights, those of the first."""
        return self.get("norm_sum"), self.get("norm_weight")

    @classmethod
    def with_confidence(cls) -> type[Learner]:
        """The learner that predicts with this one's models and tells how sure it is."""
        return learner_class("active")

    @property
    def is_plain(self) -> bool:
        """Whether it can be given a mask, and shrinkage that is outstanding."""
        return type(self) is Gd

    def mask_with(self, mask: np.ndarray) -> None:
        """Learn only slots where ``mask``, uint8[2^bits], is not 0."""
        self.mask = mask

    def audited(self, batch: Batch, row: int) -> Iterable[int]:
        """The classes that a row's audit shows, from 0."""
        return (0,)

    def clipped(self, results: Results, row: int, number: int) -> float:
        """Class ``number``'s prediction for the row just run, before the link."""
        raw, (low, high) = float(results.raw[row]), self.label_range
        return 0.0 if np.isnan(raw) else min(max(raw, low), high)

    def spoken(self, results: Results, row: int, classes: Iterable[int]) -> Iterator[tuple[int, bool, float]]:
        """Of the row just run: the predictions of these classes, and whether each was made after they had learned."""
        return ((number, False, self.clipped(results, row, number)) for number in classes)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        end = super().run(batch, plan, results, begin, end)
        if self.config.binary:
            batch, rows = self.counted(batch), slice(begin, end)
            shown = batch.flags[rows] & (BLANK | SAVE) == 0
            answer = np.where(results.prediction[rows] > self.middle, np.float32(1), np.float32(-1))
            wrong = shown & ~np.isnan(batch.label[rows]) & (answer != batch.label[rows]) & (batch.importance[rows] > 0)
            results.prediction[rows] = np.where(shown, answer, 0)
            loss = np.where(wrong, batch.importance[rows], 0)
            if self.vw_compat:  # of another label it has the loss function's
                loss = np.where(abs(batch.label[rows]) == 1, loss, results.loss[rows])
            results.loss[rows] = loss
        return end

    tests_on_copy = False  # its kernel predicts with a table that has the weights only

    def tester(self, **changes: Any) -> Gd:
        other = super().tester(**changes)
        if self.label_sums is not None:
            other.label_sums = self.label_sums.copy()
        if self.tests_on_copy or self.owes_shrinkage:
            other.stride, other.weights = 1, self.weights_alone()
            other.kernel = self.kernel_config(other.config, vw_compat=self.vw_compat, frozen=True)
            other.apply_shrinkage()
        return other

    def stop_learning(self) -> None:
        """From now on only predict, with the rates of training at hand."""
        self.learning = False

    def aim(self) -> Gd:
        """As ``tester``, with the rates."""
        other = super().tester()
        other.kernel.frozen = self.config.prediction_bounds is not None
        other.label_sums = None if self.label_sums is None else self.label_sums.copy()
        if not other.weights.flags.writeable:  # where updates are tried
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
        """The unit that labels are learned in."""
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
    def closing_line(self) -> str:
        if self.label_sums is None or not self.label_sums.any():
            return ""
        return f"labels: mean {self.label_mean:.6g}, spread {self.spread:.6g}"

    def weights_alone(self) -> np.ndarray:
        """float32[2^bits, 1], a copy of the weights that predict."""
        return np.array(self.weights[:, :1])

    def pages(self) -> PageToucher | None:
        return page_toucher(self.weights) if self.learning and self.layout == (0, 1) else None

    @property
    def middle(self) -> float:
        """Between the two classes on the scale of predictions; to vw always 0."""
        return 0.0 if self.vw_compat else {"logistic": 0.5, "poisson": 1.0}.get(self.config.link, 0.0)

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        stack, labels, predictions = super().described
        return (*stack, "binary") if self.config.binary else stack, labels, predictions

    @property
    def owes_shrinkage(self) -> bool:
        """Whether there is regularisation that the weights have not taken yet."""
        return bool(self.get("gravity") or self.get("contraction") != 1)

    @property
    def overshrunk(self) -> bool:
        """Whether a step's share of ``l2`` was more than there is of all weights."""
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
        turned = f"--l2 {l2} turned the sign of all weights where a step's rate times {l2} was above 1"
        return [*super().warnings(), f"{turned}: a smaller --l2 or -l shrinks them"]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the table's columns that a model keeps."""
        if self.stride == 1:
            return COLUMNS[:1]
        return (*COLUMNS, "rate") if self.config.sparse_l2 else COLUMNS

    @property
    def text_columns(self) -> list[int]:
        """Numbers of the columns that vw's text of a model shows, where it is one to go on learning with."""
        adaptive, normalized, _ = self.config.modes
        wanted = ("w", *["adaptive"] * adaptive, *["normalized"] * normalized)
        return [COLUMNS.index(name) for name in wanted if name in self.columns]

    def header(self) -> dict[str, Any]:
        found = {**super().header(), "start_time": self.start_time}
        if self.label_sums is not None:
            found["scalars"] |= dict(zip(LABEL_SUMS, self.label_sums.tolist(), strict=True))
        return found

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return {"weights": Table(self.weights, self.columns[:1] if predict_only else self.columns)}

    @classmethod
    def wanted(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None if learning and header["resumable"] else ("weights.w",)

    def load_labels(self, scalars: Mapping[str, float]) -> None:
        """Take the sums of labels of a model. Raises ValueError."""
        if self.label_sums is not None:
            self.label_sums[:] = [scalars[name] for name in LABEL_SUMS]
            if not (np.isfinite(self.label_sums).all() and np.delete(self.label_sums, 2).min() >= 0):
                raise ValueError("sums of labels that cannot be")

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        for name in SCALARS:
            if whole or name in ("gravity", "contraction", "min_label", "max_label"):
                self.set(**{name: float(scalars[name])})
        self.load_labels(scalars)
        values = values_of(arrays, "weights") if "weights" in arrays else arrays["weights.w"].reshape(-1, 1)
        if len(values) != 1 << self.bits:
            raise ValueError(f"a table of {len(values)} slots, not {1 << self.bits}")
        self.weights = with_stride(values, self.stride)
        if not self.learning and self.owes_shrinkage:
            if not self.weights.flags.writeable:
                self.weights = np.array(self.weights)
            self.apply_shrinkage()
