"""Learners of classes made of learners of two classes or of numbers, of any kind, each with a table of its own.

What one of them learns depends on an example and on what others predicted for it, not on other examples: so the inner
learners of a batch are run one after the other, with the very results of running its examples one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import copy
from dataclasses import asdict, fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from vwlite.config_check import built
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners import learner_class
from vwlite.learners.base import Learner
from vwlite.learners.class_costs import ClassCosts, DecisionOrder
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.per_class import PerClass
from vwlite.learners.row_results import Results
from vwlite.storage.weight_table import Table

SCALARS = ("rate", "first", "min_label", "max_label", "time")


class Ensemble(ClassCosts, PerClass):
    """``nodes`` are the inner learners, of the options ``config.base``; ``config`` says how many there are."""

    supports_audit = is_sum = False
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
        self.drops_pairs = self.nodes[0].drops_pairs
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
        other.nodes = [node.predicting() for node in self.nodes]
        other.weights = other.nodes[0].weights
        return other

    def collect_non_finite(self) -> None:
        super().collect_non_finite()
        for node in self.nodes:
            node.non_finite = self.non_finite

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        return self.label_order.run(
            batch, results, begin, end, self.learning, partial(self.run_pieces, batch, plan, results)
        )

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        return []

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        for node in self.nodes:
            node.watch(passes, say, held_out)

    def end_pass(self) -> None:
        for node in self.nodes:
            node.end_pass()

    def apply_shrinkage(self) -> None:
        for node in self.nodes:
            node.apply_shrinkage()

    def warnings(self) -> list[str]:
        return sorted({line for node in self.nodes for line in node.warnings()})

    def failures(self) -> list[str]:
        failures = [line for node in self.nodes for line in node.failures()]
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

    def header(self) -> dict[str, Any]:
        config = {**asdict(self.config), "base_learner": self.config.base.learner}
        nodes = [{name: value for name, value in node.header().items() if name != "config"} for node in self.nodes]
        return {**Learner.header(self), "config": config, "nodes": nodes, **self.label_order.header()}

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: Any) -> None:
        if len(header["nodes"]) != config.count - cls.one_less:
            raise ValueError("nodes for another number of classes")
        for node in header["nodes"]:
            learner_class(config.base.learner).check_size(node, config.base)

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

    @classmethod
    def config_from(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Any:
        kind = learner_class(stored["base_learner"])
        if not (kind.config_type.supports_trees or kind.config_type.supports_oaa):
            raise ValueError("inner learners that are not of two classes")
        own = {field.name for field in fields(cls.config_type)} - {field.name for field in fields(GdConfig)}
        base = kind.config_from(stored["base"], {name: value for name, value in changes.items() if name not in own})
        kept = {name: value for name, value in stored.items() if name not in ("base", "base_learner")}
        changed = {name: value for name, value in changes.items() if name in own}
        return replace(built(cls.config_type, kept, base=base), **changed)
