"""Latent feature log-linear models (Menon and Elkan 2010), ``--dotproduct`` with ``--multiclass``.

See ``cython_ext/learners/lfl.pyx``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite._native import lfl as kernel
from vwlite.config_check import count_in
from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.learners.base import Learner
from vwlite.learners.configs.lfl import LflConfig
from vwlite.learners.dyadic import KernelConfig as DyadicKernelConfig
from vwlite.learners.dyadic import unbounded_updates
from vwlite.learners.row_results import Results
from vwlite.learners.softmax import Multiclass
from vwlite.storage.weight_table import Table, any_set, values_of, zeros

SCALARS = ("rate", "first", "time", "unbounded", "later", "min_label", "max_label")  # as those of Dyadic and Multiclass


class LflKernelConfig(DyadicKernelConfig):
    """``LflConfig`` in the words of the kernel."""

    def __init__(self, config: LflConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.classes, self.sets, self.base = config.multiclass, config.sets, config.base_class
        self.mean, self.linear_decay = config.lfl_loss == "mse", config.linear_decay
        self.values = np.array(config.numbers if config.has_numbers else range(config.multiclass), float)
        self.shift = row_shift(config)

    def show(self, config: LflConfig) -> None:
        """The kernel does the same, whatever is asked for of the predictions."""


def row_shift(config: LflConfig) -> int:
    """The binary logarithm of the number of slots that the linear weights of a feature take."""
    return (config.multiclass - 1).bit_length()


def latent_stride(config: LflConfig) -> int:
    """Numbers of a feature in a table of latent vectors: those of all labels, how often it was updated, padding."""
    return (config.sets * config.rank + 4) // 4 * 4


class Lfl(Multiclass):
    """``weights`` float32[2^bits, 1], of every feature W linear weights; for both sides of every pair a latent table.

    W is the number of labels or the next power of two. ``latent[pair][side]`` is float32[2^bits / W * stride, 1]: of
    every feature the vectors of all labels, one after the other, how often they were updated, and padding.
    """

    name = "lfl"
    config_type = LflConfig
    SCALARS = SCALARS
    native = kernel
    supports_audit = is_sum = False
    has_distributions = True

    def __init__(
        self, config: LflConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        Learner.__init__(self, config, bits, learning=learning, vw_compat=vw_compat)
        self.kernel = LflKernelConfig(config, vw_compat=vw_compat, frozen=not learning)
        self.layout = row_shift(config), config.multiclass
        if bits < self.layout[0]:
            raise UsageError(f"{config.multiclass} classes need more than the {1 << bits} slots of -b {bits}")
        self.stride, self.start_time, self.means = latent_stride(config), 0.0, None
        self.weights = zeros(1 << bits, 1)
        tables = range(config.pairs if config.rank else 0)
        self.latent = [[self.latent_table() if start else None for _ in range(2)] for _ in tables]
        self.mask: np.ndarray | None = None
        self.set(rate=config.initial_learning_rate, first=-1 if config.classes.first is None else config.classes.first)
        self.raw, self.score = np.zeros((2, 1, config.count), np.float32)
        self.wants_scores = self.shows_scores
        self.log_loss = np.zeros((2, 2))  # as in PerClass
        self.hidden_labels: np.ndarray | None = None

    def latent_table(self) -> np.ndarray:
        return zeros((1 << (self.bits - self.layout[0])) * self.stride, 1)

    @property
    def shows_scores(self) -> bool:
        """Whether answers are made of the probabilities or scores of all labels."""
        config = self.config
        return bool(config.probabilities or config.scores or config.answer != "class")

    @classmethod
    def slot_bytes(cls, config: LflConfig, learning: bool) -> float:
        return 4.0 * (1 + 2 * (config.pairs if config.rank else 0) * latent_stride(config) / 2.0 ** row_shift(config))

    @property
    def drops_pairs(self) -> bool:  # type: ignore[override]
        return self.config.no_dot_linear

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        return ("lfl", self.config.lfl_loss), "MULTICLASS", "SCALARS" if self.shows_scores else "MULTICLASS"

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        loss, weight = self.log_loss[:, int(held)].tolist()
        return [("average log loss", loss / weight)] if weight else []

    def tester(self, **changes: Any) -> Lfl:
        other = super().tester(**changes)
        other.wants_scores = other.shows_scores
        return other

    @property
    def label_numbers(self) -> np.ndarray:
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

    def warnings(self) -> list[str]:
        return unbounded_updates(self)

    def end_pass(self) -> None:
        super().end_pass()
        if self.config.decay_learning_rate != 1:  # as in Dyadic
            self.set(later=1)

    def has_learned_pair(self, number: int) -> bool:
        return not self.latent or all(any_set(table, 0) for table in self.latent[number])

    def tables(self, predict_only: bool) -> dict[str, Table]:
        latent = {
            f"latent{pair}{'ab'[side]}": Table(table, ("v",))
            for pair, sides in enumerate(self.latent)
            for side, table in enumerate(sides)
        }
        return {"weights": Table(self.weights, ("w",)), **latent}

    def header(self) -> dict[str, Any]:
        return Learner.header(self)

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        count_in(scalars, "unbounded")
        if whole:
            self.set(**{name: float(scalars[name]) for name in SCALARS})
        self.weights = self.checked(arrays, "weights", 1)
        for pair, sides in enumerate(self.latent):
            for side in range(2):
                sides[side] = values_of(arrays, f"latent{pair}{'ab'[side]}")
                if sides[side].shape != ((len(self.weights) >> self.layout[0]) * self.stride, 1):
                    raise ValueError(f"a table of shape {sides[side].shape} for {len(self.weights)} slots")
