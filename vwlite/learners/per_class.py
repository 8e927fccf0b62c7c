"""Classes, sets of labels, costs: a set of weights for each class, all in one table as Vowpal Wabbit lays them out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from vwlite._native import per_class as kernel
from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.data.class_labels import Classes, ClassLabels, ListLabels, LogFunction
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import (
    ClassScores,
    OwnLines,
    SizedByHeader,
    StructuredLabels,
    Threaded,
    WeightsByClass,
)
from vwlite.learners.class_costs import DecisionOrder
from vwlite.learners.class_threads import ClassThreads
from vwlite.learners.configs.per_class import KINDS, SET_LOSSES, PerClassConfig
from vwlite.learners.gd import SCALARS, Gd, KernelConfig
from vwlite.learners.row_results import Results, WeightedSum
from vwlite.learners.vw_random import permutation
from vwlite.storage.model_file import matrix

NORMS = 3  # of the scalars, the first: each class has its own

T = TypeVar("T")


class PerClassKernelConfig(KernelConfig):
    part: tuple[int, int] | None = None  # the first one of the classes that a thread has, and their number; None: all

    def __init__(self, config: PerClassConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.kind, self.classes = KINDS.index(config.kind), config.count
        self.models = config.models
        self.shift = (config.models - 1).bit_length()
        self.set_loss = SET_LOSSES.index(config.set_loss or "hamming")
        self.absolute, self.sample = config.cs_absolute_loss, config.oaa_subsample
        self.show(config)

    def show(self, config: PerClassConfig) -> None:
        """Apply the options on predictions."""
        self.probabilities = config.probabilities and config.kind == "oaa"
        self.shows = config.probabilities or config.scores
        counts_none = config.probabilities and not self.set_loss  # as vw, which shows probabilities in place of sets
        self.bound = float("inf") if counts_none else 0.0 if config.link == "identity" else 0.5


class PerClass(Gd, StructuredLabels, OwnLines, ClassScores, WeightsByClass, Threaded, SizedByHeader):
    """Gradient descent for every class, whose slot is ``(hash * W + class) mod 2^bits``; W rounds to a power of two.

    ``norms`` float64[classes, 3] has the scalars that each class has of its own.
    """

    name = "many"
    config_type = PerClassConfig
    # ``first``: the number of the first class, -1 until it is known; ``turn``: where the next sample of classes begins
    SCALARS = (*SCALARS, "first", "turn")
    native: Any = kernel
    kernel_config = PerClassKernelConfig
    label_order = DecisionOrder(0, "given")  # of sets of labels
    shown_classes: int | None = None  # of scores and probabilities, None: all
    limits_raw = False  # whether these are raw predictions

    def __init__(
        self, config: PerClassConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        if config.models > 1 << bits:
            raise UsageError(f"{config.what} need more than the {1 << bits} slots of -b {bits}")
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.layout = self.kernel.shift, config.models
        self.wants_scores = config.probabilities or config.scores or config.kind == "multilabel_oaa"
        self.raw, self.score = np.zeros((2, 1, config.models), np.float32)
        # 1 for the features whose slots the kernel has transposed, 0 between batches
        self.is_transposed = np.zeros(1 << bits >> self.kernel.shift if learning else 0, np.uint8)
        self.hidden_labels: np.ndarray | None = None  # labels of the batch at work where they are hidden
        self.order = np.zeros(config.count, np.uint32)
        if config.oaa_subsample:
            self.order = permutation(config.random_seed, config.count)
        if config.kind == "multilabel_oaa":
            self.label_order = DecisionOrder(config.count, config.label_order)
            self.order = self.label_order.labels
        self.log_loss = np.zeros((2, 2))  # sum and weight (rows) of rows not held out, and held out, with probabilities

    def set_scalars(self) -> None:
        super().set_scalars()
        first = self.config.classes.first
        self.set(first=-1 if first is None else first)
        norms, models = self.scalars[:NORMS].tolist(), self.config.models
        others = [*[0.0] * (NORMS - 1), norms[-1]]  # vw starts those of the first class with initial_t only
        self.norms = np.array([norms, *[others] * (models - 1)])

    @property
    def first_norms(self) -> tuple[float, float]:
        if self.kernel.rule is not None:  # whose scalars all classes share
            return super().first_norms
        return float(self.norms[0, 0]), float(self.norms[0, 1])

    def hide_labels(self, batch: Batch, begin: int, end: int) -> None:
        """To vw's counters an example of which a sample of classes has learned is one without a label."""
        if begin == 0:
            self.hidden_labels = batch.label
            batch.label = batch.label.copy()
        batch.label[begin:end] = np.nan

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        config = self.config
        suffix = "-prob" if config.probabilities else "-scores" if config.scores else ""
        labels = {"oaa": "MULTICLASS", "csoaa": "CS", "multilabel_oaa": "MULTILABEL"}[config.kind]
        predictions = "SCALARS" if suffix else "MULTILABELS" if labels == "MULTILABEL" else "MULTICLASS"
        return (*super().description[0], config.kind + suffix), labels, predictions

    def labels(self, log: LogFunction | None = None) -> ClassLabels:
        """The reader of the labels of batches; see ``ClassLabels``."""
        config, first = self.config, int(self.get("first"))
        sets = config.kind == "multilabel_oaa"
        classes = Classes(config.count, config.named_labels, None if first < 0 else first, sets)
        if config.kind == "oaa":
            labels = ClassLabels(classes, log, silent=not self.learning or bool(config.named_labels))
        else:
            labels = ListLabels(classes, log, sets=sets)
        labels.logged_first = config.indexing
        return labels

    def want_scores(self) -> None:
        """Have the kernel keep every class's scores, ``raw`` and ``score`` float32[rows, classes]."""
        self.wants_scores = True

    def show_top(self, top: int, raw: bool) -> None:
        self.shown_classes, self.limits_raw = top, raw

    def shown(self, pairs: Iterable[tuple[T, Any]], raw: bool) -> Iterable[tuple[T, Any]]:
        """The classes that are shown, with their scores or probabilities, in their order."""
        if self.shown_classes is None or raw != self.limits_raw:
            return pairs
        sign = 1 if self.lowest_first else -1
        return sorted(pairs, key=lambda pair: sign * pair[1])[: self.shown_classes]

    def tester(self, **changes: Any) -> PerClass:
        other = super().tester(**changes)
        other.log_loss = np.zeros((2, 2))
        config = other.config
        other.kernel.show(config)
        other.wants_scores = config.probabilities or config.scores or config.kind == "multilabel_oaa"
        return other

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        config = self.config
        if raw:
            return (self.score if config.kind == "oaa" else self.raw)[rows]
        if config.probabilities or config.scores:
            return self.score[rows]
        if config.kind == "multilabel_oaa":
            return [[self.class_label(number) for number in np.flatnonzero(chosen)] for chosen in self.chosen(rows)]
        numbers = results.prediction[rows].astype(np.int64)
        return self.names_of(numbers.tolist()) if config.named_labels else numbers

    def no_answer(self, raw: bool) -> np.ndarray | list[Any]:
        config = self.config
        if raw or config.probabilities or config.scores:
            return np.full((1, config.count), np.nan, np.float32)
        if config.kind == "multilabel_oaa":
            return [[]]
        return self.names_of([0]) if config.named_labels else np.array([-1])

    def names_of(self, numbers: list[int]) -> np.ndarray:
        """str[n], empty for what is no class."""
        names = [self.config.classes.display_name(number) for number in numbers]
        return np.array(names, np.array(self.config.named_labels).dtype)

    def class_label(self, number: int) -> int | str:
        """A class as Python has it: its name, or its number."""
        return self.config.classes.display_name(number) if self.config.named_labels else int(number)

    def use_threads(self, count: int) -> None:
        if self.native is kernel and self.config.kind == "oaa" and self.learning and count > 1:
            self.native = ClassThreads(kernel, count)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        rows = len(results) if self.wants_scores else 1
        if len(self.raw) < rows:
            self.raw, self.score = np.zeros((2, rows, self.config.count), np.float32)

        def run(first: int, last: int) -> int:
            return super(PerClass, self).run(batch, plan, results, first, last)

        end = self.label_order.run(batch, results, begin, end, self.learning, run)
        if self.config.oaa_subsample and self.vw_compat:
            self.hide_labels(batch, begin, end)
        return end

    want_sums = want_scores

    def weighted_sums(self, batch: Batch, results: Results, row: int, classes: int | None = None) -> list[WeightedSum]:
        """Sums by score: of classes the chosen one first, of sets the chosen ones; of costs the lowest."""
        first, kind = int(results.raw[row]), self.config.kind
        if kind == "multilabel_oaa":
            chosen = self.chosen(row)
        else:
            chosen = np.arange(self.config.count) == int(results.prediction[row]) - first
        scores = {number: float(self.raw[row, number]) for number in self.audited_classes(batch, row)}
        sign = 1 if self.lowest_first else -1
        best = sorted(scores, key=lambda number: (not chosen[number], sign * scores[number]))[:classes]
        name = self.config.classes.display_name
        return [WeightedSum(number, name(number + first), scores[number]) for number in best]

    @property
    def class_names(self) -> Sequence[str]:  # type: ignore[override]
        first = 0 if self.config.kind == "multilabel_oaa" else int(self.get("first") != 0)
        return [self.config.classes.display_name(number + first) for number in range(self.config.count)]

    def answer_of(self, results: Results, row: int) -> float | str:
        if self.config.kind == "multilabel_oaa":
            return self.set_text(row)
        return self.config.classes.display_name(int(results.prediction[row]))

    def audited_classes(self, batch: Batch, row: int) -> Iterable[int]:
        self.want_scores()
        first = int(self.get("first") != 0)  # rows are audited one by one
        listed = [number - first for number in self.listed(batch, row)]
        return [place for place in listed if 0 <= place < self.config.count] or range(self.config.count)

    def listed(self, batch: Batch, row: int) -> list[int]:
        """The classes that a label of costs names."""
        lists = batch.lists
        if self.config.kind != "csoaa" or lists is None:
            return []
        return lists.indices[lists.row(row)].tolist()

    def clipped_prediction(self, results: Results, row: int, number: int) -> float:
        return float(self.score[row, number])

    def label_text(self, batch: Batch, row: int) -> str:
        label = float((batch.label if self.hidden_labels is None else self.hidden_labels)[row])
        if label != label:
            return "unknown"
        if self.config.kind == "csoaa":
            return "known"
        if self.config.kind == "multilabel_oaa":
            return ",".join(map(self.config.classes.display_name, batch.lists.indices[batch.lists.row(row)].tolist()))
        return (self.config.classes.display_name(int(label)) if math.isfinite(label) else "") or "unknown"

    def prediction_text(self, results: Results, row: int) -> str:
        if self.config.kind == "multilabel_oaa":
            return self.set_text(row)
        name = self.config.classes.display_name(int(results.prediction[row])) or "unknown" * (self.config.kind == "oaa")
        share = f"({self.score[row].max():.0%})" if self.config.probabilities else ""
        return name + share

    def chosen(self, rows: Any) -> np.ndarray:
        """bool[classes] of a row, or of several: the labels of the sets that were answered."""
        return self.score[rows] > self.kernel.bound

    def set_text(self, row: int) -> str:
        return ",".join(map(self.config.classes.display_name, np.flatnonzero(self.chosen(row)).tolist()))

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        """A row's prediction as it is written, without the tag."""
        config, first = self.config, int(results.raw[row])
        everything = range(first, first + config.count)
        if raw:
            if config.kind == "oaa":
                return " " + self.pairs_text(self.score[row], first, everything, raw)
            listed = self.listed(batch, row)
            if self.vw_compat:  # it writes nothing without a label, and takes what is no class for the last one
                listed = [number if number in everything else everything[-1 if first else 0] for number in listed]
            return self.pairs_text(self.raw[row], first, listed or (() if self.vw_compat else everything), raw)
        if config.probabilities or config.scores:
            text = self.pairs_text(self.score[row], first, everything)
            return text + "\n " * (config.kind == "multilabel_oaa")  # as vw writes it
        if config.kind == "multilabel_oaa":
            return self.set_text(row)
        return config.classes.display_name(int(results.prediction[row]))

    def pairs_text(self, values: np.ndarray, first: int, numbers: Iterable[int], raw: bool = False) -> str:
        name, count = self.config.classes.display_name, self.config.count
        other = count - 1 if first else 0  # as in the kernel
        pairs = ((number, values[number - first if 0 <= number - first < count else other]) for number in numbers)
        return " ".join(f"{name(number)}:{value:g}" for number, value in self.shown(pairs, raw))

    @property
    def shows_raw(self) -> bool:  # type: ignore[override]
        config = self.config
        return not (self.vw_compat and (config.probabilities or config.scores or config.kind == "multilabel_oaa"))

    @property
    def lowest_first(self) -> bool:
        """Whether a class with a lower score is the better answer."""
        return self.config.kind == "csoaa"

    @property
    def custom_output(self) -> bool:  # type: ignore[override]
        """Whether predictions are more than one number a row."""
        config = self.config
        return bool(config.probabilities or config.scores or config.named_labels or config.kind == "multilabel_oaa")

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        if not self.kernel.probabilities:
            return []
        loss, weight = self.log_loss[:, int(held)].tolist()
        if held and self.vw_compat:  # vw divides by the weight that was learned
            return [("average multiclass log loss", f"{loss / self.log_loss[1, 0]:.6f} h")]
        return [("average multiclass log loss", loss / weight)] if weight else []

    def header(self) -> JsonObject:
        return {**super().header(), "norms": self.norms.tolist(), **self.label_order.header()}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        norms = matrix(header["norms"], "norms", self.norms.shape)
        first, turn = float(header["scalars"]["first"]), float(header["scalars"]["turn"])
        if first not in (-1, 0, 1) or not 0 <= turn < self.config.count:
            raise ValueError("classes are counted from 0 or 1")
        self.set(first=first, turn=turn)
        if whole:
            self.norms = norms
            self.label_order.take_header(header)

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: PerClassConfig) -> None:
        if len(header["norms"]) != config.models:
            raise ValueError(f"norms are of {len(header['norms'])} sets of weights, not {config.models}")
