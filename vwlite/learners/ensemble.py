"""Learners of classes made of learners of two classes or of numbers, of any kind, each with a table of its own.

What one of them learns depends on an example and on what others predicted for it, not on other examples: so the inner
learners of a batch are run one after the other, with the very results of running its examples one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners import learner_class
from vwlite.learners.abilities import JointClasses, PassByPass, Reporting, SizedByHeader
from vwlite.learners.base import Learner, apply_shrinkage, is_finished, is_measured, own_rows, predicting, watch
from vwlite.learners.class_costs import ClassCosts, DecisionOrder, Decisions
from vwlite.learners.configs.per_class import ClassLearnersConfig
from vwlite.learners.per_class import PerClass, PerClassKernelConfig
from vwlite.learners.row_results import Results
from vwlite.storage.weight_table import Table

SCALARS = ("rate", "first", "min_label", "max_label", "time")


class Ensemble(ClassCosts, PerClass, PassByPass):
    """``nodes`` are the inner learners, of the options ``config.base``; ``config`` says how many there are."""

    is_sum = False
    SCALARS = SCALARS
    class_names = ()  # every inner learner has a table of its own
    one_less: ClassVar[int] = 0  # the number of inner learners is that of the classes, less this

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        Learner.__init__(self, config, bits, learning=learning, vw_compat=vw_compat)
        base = learner_class(config.base.learner)
        options = {"learning": learning, "vw_compat": vw_compat}
        self.nodes = [base(config.base, bits, **options) for _ in range(config.count - self.one_less)]
        low, high = config.base.prediction_bounds or config.base.loss.start_range(False)
        for node in self.nodes:
            node.set(min_label=low, max_label=high)
        self.weights = self.nodes[0].weights
        self.layout, self.start_time = (0, 1), 0.0
        self.mask: np.ndarray | None = None
        self.hidden_labels: np.ndarray | None = None
        self.wants_scores = False
        if config.kind == "multilabel_oaa":
            self.label_order = DecisionOrder(config.count, config.label_order)
        self.arrays: Mapping[str, Any] = {}
        self.inner = Results()
        first = config.classes.first
        self.set(rate=1.0, first=-1 if first is None else first)

    @classmethod
    def slot_bytes(cls, config: Any, learning: bool) -> float:
        return learner_class(config.base.learner).slot_bytes(config.base, learning) * (config.count - cls.one_less)

    def tester(self, **changes: Any) -> Ensemble:
        other = Learner.tester(self, **changes)
        other.nodes = [node.tester() for node in self.nodes]
        other.inner = Results()
        return other

    def predicting(self) -> Ensemble:
        other = copy(self)
        other.nodes = [predicting(node) for node in self.nodes]
        other.weights = other.nodes[0].weights
        return other

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        for node in self.nodes:
            node.non_finite = self.non_finite
        return self.label_order.run(
            batch, results, begin, end, self.learning, partial(self.run_pieces, batch, plan, results)
        )

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        return []

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        for node in self.nodes:
            watch(node, passes, say, held_out)

    def end_pass(self) -> None:
        for node in self.nodes:
            node.end_pass()

    def apply_shrinkage(self) -> None:
        for node in self.nodes:
            apply_shrinkage(node)

    def warnings(self) -> list[str]:
        return sorted({line for node in self.nodes if isinstance(node, Reporting) for line in node.warnings()})

    def failures(self) -> list[str]:
        failures = [line for node in self.nodes if isinstance(node, Reporting) for line in node.failures()]
        return [f"{failures[0]} (so {len(failures)} of {len(self.nodes)} classes)"] if len(failures) > 1 else failures

    @property
    def columns(self) -> tuple[str, ...]:
        return ("w",)

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return {
            f"node{number}_{name}": table
            for number, node in enumerate(self.nodes, 1)
            for name, table in node.tables(predict_only).items()
        }

    def header(self) -> JsonObject:
        config = {**asdict(self.config), "base_learner": self.config.base.learner}
        nodes = [{name: value for name, value in node.header().items() if name != "config"} for node in self.nodes]
        return {**Learner.header(self), "config": config, "nodes": nodes, **self.label_order.header()}

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: Any) -> None:
        if len(header["nodes"]) != config.count - cls.one_less:
            raise ValueError("nodes for another number of classes")
        kind = learner_class(config.base.learner)
        for node in header["nodes"]:
            if issubclass(kind, SizedByHeader):
                kind.check_size(node, config.base)

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        self.arrays = arrays
        self.set(**{name: float(scalars[name]) for name in SCALARS})

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        if self.get("first") not in (-1, 0, 1):
            raise ValueError("classes are counted from 0 or 1")
        for number, (node, own_header) in enumerate(zip(self.nodes, header["nodes"], strict=True), 1):
            prefix = f"node{number}_"
            own = {name.removeprefix(prefix): array for name, array in self.arrays.items() if name.startswith(prefix)}
            node.load(own, own_header["scalars"], whole)
            node.take_header(own_header, whole)
        self.arrays, self.weights = {}, self.nodes[0].weights
        if whole:
            self.label_order.take_header(header)


ZERO_PROBABILITY_LOSS = 999.0  # as of ``cython_ext/learners/class_update.pxd``


def tell_of_class(say: Callable[[str], None], number: int, line: str) -> None:
    say(f"class {number}: {line}")


class ClassLearners(Ensemble):
    """Classes, sets of labels and costs over learners that share no table: a learner of numbers for each class.

    What ``vwlite.learners.per_class`` does with one table and gradient descent (Rifkin and Klautau 2004, "In defense of
    one-vs-all classification"), here with ``--lrq`` and ``--dotproduct``, whose updates move several weights at once.
    ``raw`` and ``score`` float32[rows, classes] are what the classes' learners predict, as it is and clipped.
    """

    name = "class_learners"
    config_type = ClassLearnersConfig

    def __init__(
        self,
        config: ClassLearnersConfig,
        bits: int,
        *,
        learning: bool = True,
        vw_compat: bool = False,
        start: bool = True,
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.kernel = PerClassKernelConfig(config, vw_compat=vw_compat, frozen=not learning)
        self.raw, self.score = np.zeros((2, 1, config.count), np.float32)
        self.log_loss = np.zeros((2, 2))  # as in PerClass

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        _, labels, predictions = PerClass.description.fget(self)  # type: ignore[attr-defined]
        return (*self.nodes[0].description[0], self.config.kind), labels, predictions

    def tester(self, **changes: bool) -> ClassLearners:
        other = super().tester(**changes)
        other.kernel.show(other.config)
        other.log_loss = np.zeros((2, 2))
        return other

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        for number, node in enumerate(self.nodes, 1):
            watch(node, passes, say if self.joint else partial(tell_of_class, say, number), held_out)
            if isinstance(node, JointClasses):
                node.join(self.nodes[0])

    @property
    def joint(self) -> bool:
        """Whether the classes' learners are fitted together."""
        return getattr(self.config.base, "joint", False)

    @property
    def measured(self) -> bool:  # type: ignore[override]
        return is_measured(self.nodes[0])

    @property
    def finished(self) -> bool:  # type: ignore[override]
        return all(map(is_finished, self.nodes))

    def end_pass(self) -> None:
        for node in self.nodes:
            if not is_finished(node):  # whose weights stay as they are, for the answers of the passes left
                node.end_pass()

    @property
    def own_rows(self) -> Sequence[str]:  # type: ignore[override]
        return own_rows(self.nodes[0])

    def report(self) -> JsonObject:
        """Lists with an entry for each class, unless these are fitted together."""
        found = [node.report() for node in self.nodes if isinstance(node, Reporting)]
        if self.joint or not found:
            return found[0] if found else {}
        return {name: [one[name] for one in found] for name in found[0]}

    def run_piece(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> None:
        if len(self.raw) < len(results):
            self.raw, self.score = np.zeros((2, len(results), self.config.count), np.float32)
        if len(self.inner) < len(results):
            self.inner.reserve(len(results))
        self.inner.holdout_mask = results.holdout_mask
        rows = slice(begin, end)
        wanted, first = self.targets_of(batch, results, begin, end)
        label, importance = batch.label.copy(), batch.importance.copy()
        if self.config.kind == "csoaa":
            importance[rows] = 1  # as costs have it, whatever the line says
        sets = Decisions(self.config.set_loss, wanted > 0) if self.config.kind == "multilabel_oaa" else None
        for number in self.label_order.labels.tolist() if sets else range(self.config.count):
            label[rows] = wanted[:, number]
            if sets:
                weights = sets.weights(number)
                label[rows] = np.where(weights > 0, wanted[:, number], np.nan)
                importance[rows] = batch.importance[rows] * weights
            self.nodes[number].run(replace(batch, label=label, importance=importance), plan, self.inner, begin, end)
            self.raw[rows, number] = self.inner.raw[rows]
            self.score[rows, number] = self.inner.prediction[rows]
            if sets:
                self.link_score(rows, number)
                sets.decide(number, self.score[rows, number] > self.kernel.bound)
        results.raw[rows], results.features[rows] = first, self.inner.features[rows]
        predicted = batch.is_example[rows]
        if sets:
            prediction, loss = sets.answered, sets.costs()
        else:
            answer = self.best_class if self.config.kind == "oaa" else self.cheapest
            prediction, loss = answer(batch, wanted, begin, end, first)
        results.prediction[rows] = np.where(predicted, prediction, 0)
        results.loss[rows] = np.where(predicted & ~np.isnan(batch.label[rows]), loss, 0)
        if self.kernel.probabilities:
            self.make_probabilities(batch, results, begin, end)

    def targets_of(self, batch: Batch, results: Results, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """The targets of the learners, float32[rows, classes], NaN where unknown; the numbers of first classes."""
        if self.config.kind == "multilabel_oaa":
            return self.members(batch, begin, end), np.zeros(end - begin, np.int32)
        costs, first = self.costs_of(batch, results, begin, end)
        if self.config.kind == "csoaa":
            return np.where(np.isfinite(costs), costs, np.nan), first
        known = ~np.isnan(batch.label[begin:end])
        return np.where(known[:, None], np.where(costs == 0, 1, -1), np.nan), first

    def members(self, batch: Batch, begin: int, end: int) -> np.ndarray:
        """1 for the labels of a row, -1 for others, NaN where the row has no label."""
        wanted = np.full((end - begin, self.config.count), -1, np.float32)
        if batch.lists is not None:
            start = batch.lists.indptr[begin : end + 1]
            named = batch.lists.indices[start[0] : start[-1]].astype(np.int64)
            owner, fits = np.repeat(np.arange(end - begin), np.diff(start)), named < self.config.count
            wanted[owner[fits], named[fits]] = 1
        wanted[np.isnan(batch.label[begin:end])] = np.nan
        return wanted

    def best_class(
        self, batch: Batch, wanted: np.ndarray, begin: int, end: int, first: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        prediction = self.score[begin:end].argmax(axis=1) + first
        wrong = (prediction != batch.label[begin:end]) & (batch.importance[begin:end] > 0)
        return prediction, np.where(wrong, batch.importance[begin:end], 0)

    def cheapest(
        self, batch: Batch, wanted: np.ndarray, begin: int, end: int, first: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The cheapest of the classes with a cost, or of all in rows without any."""
        known = ~np.isnan(wanted)
        open_to = known | ~known.any(axis=1)[:, None]
        best = np.where(open_to, self.raw[begin:end], np.inf).argmin(axis=1)
        costs = np.where(known, wanted, np.inf)
        chosen = costs[np.arange(end - begin), best]
        least = 0 if self.config.cs_absolute_loss else costs.min(axis=1, initial=np.inf)
        with np.errstate(invalid="ignore"):
            return best + first, np.where(np.isfinite(chosen), chosen - least, 0)

    def link_score(self, rows: slice, number: int) -> None:
        if self.config.link == "logistic":
            with np.errstate(over="ignore"):
                self.score[rows, number] = 1 / (1 + np.exp(-self.score[rows, number]))

    def make_probabilities(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        with np.errstate(over="ignore"):
            shares = 1 / (1 + np.exp(-self.score[begin:end].astype(np.float64)))
        shares /= shares.sum(axis=1, keepdims=True)
        self.score[begin:end] = shares
        place = batch.label[begin:end] - results.raw[begin:end]
        rows = np.flatnonzero((place >= 0) & (place < self.config.count))  # none without a label
        true = shares[rows, place[rows].astype(np.int64)]
        with np.errstate(divide="ignore"):
            losses = np.where(true > 0, -np.log(true), ZERO_PROBABILITY_LOSS)
        mask = results.holdout_mask
        held = np.zeros(len(rows), np.int64) if mask is None else mask[begin:end][rows].astype(np.int64)
        weight = batch.importance[begin:end][rows]
        np.add.at(self.log_loss[0], held, losses * weight)
        np.add.at(self.log_loss[1], held, weight)

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        return PerClass.summary_lines(self, held)
