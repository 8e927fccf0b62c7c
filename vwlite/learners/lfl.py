"""Latent feature log-linear models (Menon and Elkan 2010), ``--dotproduct`` with ``--multiclass``.

See ``cython_ext/learners/lfl.pyx``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vwlite._native import lfl as kernel
from vwlite.data.batch import Batch
from vwlite.learners.configs.lfl import LflConfig
from vwlite.learners.label_vectors import LabelKernelConfig, LabelVectors
from vwlite.learners.row_results import Results


class LflKernelConfig(LabelKernelConfig):
    """``LflConfig`` in the words of the kernel."""

    def __init__(self, config: LflConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.mean = config.lfl_loss == "mse"
        self.values = np.array(config.numbers if config.has_numbers else range(config.multiclass), float)


class Lfl(LabelVectors):
    """The labels are those of ``multiclass``."""

    name = "lfl"
    config_type = LflConfig
    native = kernel
    has_distributions = True
    kernel_config = LflKernelConfig

    @classmethod
    def config_from(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Any:
        """Models of before ``dot_rates`` have a global rate."""
        return super().config_from({"dot_rates": "global", **stored}, changes)

    @property
    def shows_scores(self) -> bool:
        """Whether answers are made of the probabilities or scores of all labels."""
        return super().shows_scores or self.config.answer != "class"

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        return ("lfl", self.config.lfl_loss), "MULTICLASS", "SCALARS" if self.shows_scores else "MULTICLASS"

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        loss, weight = self.log_loss[:, int(held)].tolist()
        return [("average log loss", loss / weight)] if weight else []

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
