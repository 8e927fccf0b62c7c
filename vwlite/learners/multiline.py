"""Label-dependent features: one set of weights scores the lines of a group, one a class; the least is the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vwlite._native import multiline as kernel
from vwlite._native.format_predictions import format_predictions
from vwlite.data.batch import INNER, SHARED, TAGGED, Batch, first_of_group, tag_of
from vwlite.data.class_labels import LogFunction
from vwlite.data.multiline import LineLabels
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import GroupsOfLines, StructuredLabels
from vwlite.learners.configs.per_class import MultilineConfig
from vwlite.learners.gd import Gd, KernelConfig
from vwlite.learners.row_results import Results

EXACT = 1 << 24  # beyond it float32 leaves whole numbers out


class MultilineKernelConfig(KernelConfig):
    def __init__(self, config: MultilineConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.classifier, self.pairs = config.classifier, bool(config.wap_ldf)
        self.probabilities, self.ranks = config.shows_probabilities, config.csoaa_rank


class Multiline(Gd, StructuredLabels, GroupsOfLines):
    """Gradient descent on lines of groups, or on differences of two of them (``wap_ldf``)."""

    name = "ldf"
    config_type = MultilineConfig
    native = kernel
    kernel_config = MultilineKernelConfig
    limits_answers = True

    def __init__(
        self, config: MultilineConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.log_loss = np.zeros((2, 2))  # sum and weight of groups not held out, and held out, with probabilities
        self.answer, self.found = np.zeros(0, np.uint32), np.zeros(0, np.uint8)  # of a group's last row, see the kernel
        self.observer = None

    def tester(self, **changes: Any) -> Multiline:
        other = super().tester(**changes)
        other.kernel.probabilities, other.kernel.ranks = other.config.shows_probabilities, other.config.csoaa_rank
        other.log_loss = np.zeros((2, 2))
        return other

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        config = self.config
        suffix = "-rank" if config.csoaa_rank else "-prob" if config.probabilities else ""
        predictions = {"": "MULTICLASS", "-rank": "ACTION_SCORES", "-prob": "SCALARS"}[suffix]
        link = "identity" if config.probabilities else config.link
        return ("gd", f"scorer-{link}", "csoaa_ldf" + suffix, "shared_feature_merger"), "CS", predictions

    def labels(self, log: LogFunction | None = None) -> LineLabels:
        return LineLabels(log, by_place=not self.learning)

    def observe_scores(self, observer: Callable[[int, int, bool, float], None]) -> None:
        """Call it with every score: its row, the row it is compared with, whether it is learned from, the score."""
        self.observer = observer

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        """A number for every line of a group but the shared one: 0, or its class in the line that is answered.

        With ``csoaa_rank`` for every group a list of its classes and their scores, the least score first.
        """
        if self.config.csoaa_rank and not raw:
            return [self.ranked(batch, results, row) for row in rows[batch.flags[rows] & INNER == 0].tolist()]
        return super().answers(batch, results, rows[batch.flags[rows] & SHARED == 0], raw)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if len(self.answer) < len(batch):
            self.answer, self.found = np.zeros(len(batch), np.uint32), np.zeros(len(batch), np.uint8)
        return super().run(batch, plan, results, begin, end)

    def label_text(self, batch: Batch, row: int) -> str:
        """vw shows whether it knows what the answer costs."""
        known = self.found[row] if self.vw_compat else batch.label[row] == batch.label[row]
        return "known" if known else "unknown"

    def prediction_text(self, results: Results, row: int) -> str:
        return f"{self.answer[row]}{'.....' if self.config.csoaa_rank else ''}"

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        loss, weight = self.log_loss[:, int(held and not self.vw_compat)].tolist()
        if not self.config.shows_probabilities or not weight:
            return []
        return [("average multiclass log loss", f"{loss / weight:.6f} h" if held else loss / weight)]

    def group_lines(self, batch: Batch, results: Results, begin: int, end: int, raw: bool) -> bytes:
        """The predictions of the rows ``[begin, end)``: a line each, and an empty one where a group ends."""
        rows = batch.example_rows(begin, end)
        if raw or self.config.csoaa_rank or self.config.probabilities:
            return b"".join(
                self.line(batch, results, row, raw) + self.group_end(batch, results, row, raw) for row in rows.tolist()
            )
        plain, none = np.zeros(len(rows), np.uint8), np.zeros(len(rows), np.uint32)
        values = format_predictions(results.prediction[rows], plain, none, none, None, 0, len(rows)).split(b"\n")
        flags = batch.flags[rows]
        if not self.vw_compat:  # to vw a class is a float32
            for place in np.flatnonzero(results.prediction[rows] > EXACT).tolist():
                values[place] = b"%d" % class_of(batch, int(rows[place]))
        for place in np.flatnonzero(flags & TAGGED).tolist():
            values[place] += b" " + tag_of(batch, int(rows[place]))
        shown, ends = (flags & SHARED == 0).tolist(), (flags & INNER == 0).tolist()
        lines = zip(values, shown, ends, strict=False)
        return b"".join((value + b"\n") * show + b"\n" * end for value, show, end in lines)

    def line(self, batch: Batch, results: Results, row: int, raw: bool) -> bytes:
        lists, config = batch.lists, self.config
        shared = batch.flags[row] & SHARED
        if raw:
            classes = lists.indices[lists.row(row)].tolist()
            words = [f"{number}:{0 if place else results.raw[row]:g}" for place, number in enumerate(classes)]
            return line_of(" ".join(words) if not shared else "0:0", tag_of(batch, row))
        if config.csoaa_rank or shared:
            return b""
        return line_of(number_text(results.prediction[row]), tag_of(batch, first_of_group(batch, row)))

    def group_end(self, batch: Batch, results: Results, row: int, raw: bool) -> bytes:
        if raw or batch.flags[row] & INNER:
            return b""
        return (self.ranking(batch, results, row) if self.config.csoaa_rank else b"") + b"\n"

    def ranking(self, batch: Batch, results: Results, last: int) -> bytes:
        """The line of the group that ends with the row ``last``."""
        ranked_text = ",".join(f"{number}:{number_text(score)}" for number, score in self.ranked(batch, results, last))
        return line_of(ranked_text, tag_of(batch, first_of_group(batch, last)))

    def ranked(self, batch: Batch, results: Results, last: int) -> list[tuple[int, float]]:
        """The classes and scores of the group that ends with the row ``last``, the least score first."""
        rows = [row for row in range(first_of_group(batch, last), last + 1) if not batch.flags[row] & SHARED]
        scored = sorted((float(results.raw[row]), class_of(batch, row)) for row in rows)
        return [(number, score) for score, number in scored]


def class_of(batch: Batch, row: int) -> int:
    """The number of a line's class, 0 without one."""
    classes = batch.lists.indices[batch.lists.row(row)]
    return int(classes[0]) if len(classes) else 0


def line_of(text: str, tag: bytes) -> bytes:
    return text.encode() + (b" " + tag if tag else b"") + b"\n"


def number_text(value: float) -> str:
    """As predictions are written."""
    none = np.zeros(1, np.uint32)
    text = format_predictions(np.full(1, value, np.float32), np.zeros(1, np.uint8), none, none, None, 0, 1)
    return text.decode().rstrip("\n")
