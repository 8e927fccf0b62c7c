"""Models in which every label has latent vectors and linear weights of its own (``label_model.pxd``).

``Lfl``: latent feature log-linear models (Menon and Elkan 2010), ``--dotproduct`` with ``--multiclass``; see
``cython_ext/learners/lfl.pyx``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from vwlite._native import lfl as kernel
from vwlite.config_check import JsonObject, count_in
from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import Confident, LabelDistribution, LatentVectors
from vwlite.learners.active import Asking
from vwlite.learners.base import Learner, table_of
from vwlite.learners.configs.label_vectors import LabelVectorsConfig, LflConfig
from vwlite.learners.dyadic import KernelConfig, RatesOfPasses, mismatched_rows, unbounded_updates
from vwlite.learners.row_results import Results
from vwlite.learners.softmax import Multiclass
from vwlite.storage.weight_table import Table, any_set, values_of, zeros

SCALARS = (  # as those of Dyadic and Multiclass
    "rate", "first", "time", "unbounded", "later", "min_label", "max_label", "mismatched", "passes",
)  # fmt: skip


class LabelKernelConfig(KernelConfig):
    """``LabelVectorsConfig`` in the words of the kernel."""

    def __init__(self, config: LabelVectorsConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.classes, self.sets, self.base = config.count, config.sets, config.base_class
        self.shift, self.linear_decay = row_shift(config), config.linear_decay
        self.rank, self.positional = config.vector_length, config.pairs_by_position
        self.adaptive = config.own_rates
        self.asks, self.mellowness = config.active and not frozen, config.mellowness
        self.show(config)

    def is_separate(self, plan: Plan, learning: bool) -> bool:
        """As with dyadic models; linear weights decay along the flow of log loss, too."""
        decays = {decay for pair in self.decays(plan) for decay in pair} or {self.decay}
        frozen = learning and plan.frozen.stands
        other = (self.decay_power or self.decays_weights or frozen) and max(decays) > 0
        return len(decays) > 1 or bool(other) or (self.linear_decay > 0 and (frozen or not self.flow_decays_weights))

    flow_decays_weights = True  # the flow has the decay of linear weights

    def show(self, config: LabelVectorsConfig) -> None:
        """Apply the options on predictions."""


def row_shift(config: LabelVectorsConfig) -> int:
    """The binary logarithm of the number of slots that the linear weights of a feature take."""
    return (config.count - 1).bit_length()


def latent_stride(config: LabelVectorsConfig) -> int:
    """Numbers of a feature in a table of latent vectors: those of all labels, how often it was updated, padding.

    Where rates are adaptive, the greatest value and of every label the sum of squared gradients come before padding.
    """
    rates = 1 + config.sets if config.own_rates else 0
    return (config.sets * config.vector_length + rates + 4) // 4 * 4


class LabelVectors(Asking, RatesOfPasses, Multiclass, LatentVectors, Confident):
    """``weights`` float32[2^bits, 1], of every feature W linear weights; for both sides of every pair a latent table.

    W is the number of labels or the next power of two. ``latent[pair][side]`` is float32[2^bits / W * stride, 1]: of
    every feature the vectors of all labels, one after the other, how often they were updated, and padding.
    """

    SCALARS = SCALARS
    is_sum = False
    kernel_config: ClassVar[type[LabelKernelConfig]] = LabelKernelConfig

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        Learner.__init__(self, config, bits, learning=learning, vw_compat=vw_compat)
        self.kernel = self.kernel_config(config, vw_compat=vw_compat, frozen=not learning)
        self.layout = row_shift(config), config.count
        if bits < self.layout[0]:
            raise UsageError(f"{config.count} classes need more than the {1 << bits} slots of -b {bits}")
        self.stride, self.start_time, self.means = latent_stride(config), 0.0, None
        self.weights = zeros(1 << bits, 1)
        self.kernel.confidence_rate, self.tells_confidence = config.flip_rate, True
        tables = range(config.pairs if config.vector_length else 0)
        slots = (1 << (bits - self.layout[0])) * self.stride
        self.latent = [[zeros(slots, 1) if start else None for _ in range(2)] for _ in tables]
        if config.own_rates:
            self.gradients, self.scale = zeros(1 << bits, 1), zeros(1 << (bits - self.layout[0]), 2)
        self.mask: np.ndarray | None = None
        self.set(rate=config.initial_learning_rate, first=-1 if config.classes.first is None else config.classes.first)
        self.raw, self.score = np.zeros((2, 1, config.count), np.float32)
        self.wants_scores = self.shows_scores
        self.log_loss = np.zeros((2, 2))  # as in PerClass
        self.hidden_labels: np.ndarray | None = None
        self.begin_asking()

    @property
    def shows_scores(self) -> bool:
        """Whether answers are made of the probabilities or scores of all labels."""
        return bool(self.config.probabilities or self.config.scores)

    @classmethod
    def slot_bytes(cls, config: LabelVectorsConfig, learning: bool) -> float:
        tables = 2 * config.pairs if config.vector_length else 0
        width = 2.0 ** row_shift(config)
        return 4.0 * (1 + (1 + 2 / width) * config.own_rates + tables * latent_stride(config) / width)

    def tester(self, **changes: Any) -> Any:
        other: Any = super().tester(**changes)
        other.wants_scores = other.shows_scores
        return other

    def warnings(self) -> list[str]:
        return [*mismatched_rows(self), *unbounded_updates(self)]

    def has_learned_pair(self, number: int) -> bool:
        return not self.latent or all(any_set(table, 0) for table in self.latent[number])

    def tables(self, predict_only: bool) -> dict[str, Table]:
        latent = {
            f"latent{pair}{'ab'[side]}": Table(table, ("v",))
            for pair, sides in enumerate(self.latent)
            for side, table in enumerate(sides)
        }
        rates = {} if predict_only or not self.config.own_rates else self.rates()
        return {"weights": Table(self.weights, ("w",)), **latent, **rates}

    def rates(self) -> dict[str, Table]:
        return {"gradients": Table(self.gradients, ("g",)), "scale": Table(self.scale, ("x", "updates"))}

    def header(self) -> JsonObject:
        return {**Learner.header(self), **self.asked_header()}

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        scalars = {"mismatched": 0, "passes": 0, **scalars}
        for name in ("unbounded", "mismatched"):
            count_in(scalars, name)
        if whole:
            self.set(**{name: float(scalars[name]) for name in SCALARS})
        self.weights = table_of(arrays, "weights", 1 << self.bits, 1)
        if self.config.own_rates and "gradients" in arrays:
            self.gradients, self.scale = table_of(arrays, "gradients", 1 << self.bits, 1), values_of(arrays, "scale")
            if self.scale.shape != (len(self.weights) >> self.layout[0], 2):
                raise ValueError(f"a table of shape {self.scale.shape} for {len(self.weights)} slots")
        elif self.config.own_rates:
            self.tells_confidence = False
        for pair, sides in enumerate(self.latent):
            for side in range(2):
                sides[side] = values_of(arrays, f"latent{pair}{'ab'[side]}")
                if sides[side].shape != ((len(self.weights) >> self.layout[0]) * self.stride, 1):
                    raise ValueError(f"a table of shape {sides[side].shape} for {len(self.weights)} slots")


class LflKernelConfig(LabelKernelConfig):
    """``LflConfig`` in the words of the kernel."""

    def __init__(self, config: LflConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.mean = config.lfl_loss == "mse"
        self.values = np.array(config.numbers if config.has_numbers else range(config.multiclass), float)


class Lfl(LabelVectors, LabelDistribution):
    """The labels are those of ``multiclass``."""

    name = "lfl"
    config_type = LflConfig
    native = kernel
    kernel_config = LflKernelConfig

    @property
    def shows_scores(self) -> bool:
        """Whether answers are made of the probabilities or scores of all labels."""
        return super().shows_scores or self.config.answer != "class"

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        return ("lfl", self.config.lfl_loss), "MULTICLASS", "SCALARS" if self.shows_scores else "MULTICLASS"

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        loss, weight = self.log_loss[:, int(held)].tolist()
        return [("average log loss", loss / weight)] if weight else []

    @property
    def label_numbers(self) -> np.ndarray:  # type: ignore[override]
        """float64[labels], the labels as numbers. Raises ValueError where they are names."""
        if self.config.named_labels:
            return np.array(self.config.numbers)
        return np.arange(self.config.count) + float(self.get("first") != 0)

    def mean_answers(self, rows: Any) -> np.ndarray:
        """float32[rows], of the batch run last the expected labels, which have the least squared error."""
        return (self.score[rows].astype(float) @ self.label_numbers).astype(np.float32)

    def median_answers(self, rows: Any) -> np.ndarray:
        """float32[rows], of the batch run last the labels at which the probability of all up to it reaches a half.

        They have the least absolute error.
        """
        order = np.argsort(self.label_numbers)
        reached = np.cumsum(self.score[rows][..., order].astype(float), axis=-1) >= 0.5 * (1 - 1e-6)
        return self.label_numbers[order][reached.argmax(axis=-1)].astype(np.float32)

    def numbers_answered(self, rows: Any) -> np.ndarray:
        return self.mean_answers(rows) if self.config.answer == "mean" else self.median_answers(rows)

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        if not raw and self.config.answer != "class":
            return self.numbers_answered(rows)
        return super().answers(batch, results, rows, raw)

    def no_answer(self, raw: bool) -> np.ndarray | list[Any]:
        if not raw and self.config.answer != "class":
            return np.full(1, np.nan, np.float32)
        return super().no_answer(raw)

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        if not raw and self.config.answer != "class":
            return f"{float(self.numbers_answered(slice(row, row + 1))[0]):g}"
        return super().lines(batch, results, row, raw)

    @property
    def custom_output(self) -> bool:
        return bool(super().custom_output or self.config.answer != "class")
