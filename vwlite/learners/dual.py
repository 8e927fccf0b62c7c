"""Dual coordinate descent: support vector machines and their like, with a bound on how far they are from the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vwlite._native import gd as predictor
from vwlite.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.dual import DualConfig
from vwlite.learners.dual_classes import CrammerSinger
from vwlite.learners.dual_rows import KeptRows
from vwlite.learners.dual_solver import DualSolver, HardMargin, Objective
from vwlite.learners.gd import CONSTANT, Gd
from vwlite.learners.losses import FREE
from vwlite.learners.row_results import Results
from vwlite.storage.weight_table import Table, zeros

PASSES = 1000  # where --passes is not given
HEADER = f"{'pass':>5} {'primal':>14} {'dual':>14} {'gap':>10} {'support':>10}"


class Predictor:
    """The kernel of gradient descent, which never learns."""

    @staticmethod
    def run_rows(state: Any, config: Any, plan: Any, batch: Batch, results: Results, begin: int, mode: Any) -> Any:
        return predictor.run_rows(state, config, plan, batch, results, begin, (mode[0], False))


class Dual(Gd):
    """Keeps the terms of all examples in a first pass, solves the dual at its end, and measures itself in a second.

    The table has the weights alone.
    """

    name = bottom = "dual"
    config_type = DualConfig
    resumable = False
    native = Predictor

    def __init__(
        self, config: DualConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=False)
        self.stride, self.weights = 1, zeros(1 << bits, 1)
        self.measured = self.gathered = True
        self.store = KeptRows(bits, CONSTANT & ((1 << bits) - 1), config.bias_scale)
        self.labels: list[np.ndarray] = []  # of the rows that are kept
        self.keeps_solution = self.of_class = False  # of_class: it tells one class from all others
        self.solution: DualSolver | None = None  # where it is to be kept
        self.bound = PASSES
        self.classes: list[Dual] = []  # of the first class, till they are fitted: the learners of all classes
        self.certificate: dict[str, Any] = {}
        self.say: Callable[[str], None] = lambda line: None

    @classmethod
    def slot_bytes(cls, config: DualConfig, learning: bool) -> float:
        return 4.0 + 5.0 if learning else 4.0  # slots that occur are numbered

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        if self.certificate and self.learning:
            raise UsageError(
                "a model of --dual does not go on learning, which would need all examples that it was fitted to: "
                "train anew without -i"
            )
        self.say, self.bound = say, passes if passes > 1 else PASSES
        self.measured = self.gathered = not self.learning

    @property
    def own_rows(self) -> list[str]:
        return [f"dual coordinate descent to a relative gap of {self.config.gap:g}"]

    @property
    def columns(self) -> tuple[str, ...]:
        return ("w",)

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return {"weights": Table(self.weights, ("w",))}

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        stopped = super().run(batch, plan, results, begin, end)
        if self.gathered:
            self.store.release()
        else:
            kept = self.store.add(batch, plan, results.holdout_mask, begin, stopped)
            self.labels.append(batch.label[kept])
        return stopped

    def end_pass(self) -> None:
        """Raises DataError for examples without features, Interrupted. Without examples all stays as it is."""
        self.measured = self.gathered
        if not self.gathered:
            self.gathered = True
            classes, self.classes = self.classes, []
            if not len(self.store.settle().rows):
                if self.store.skipped:
                    raise DataError("no example has a feature to learn from")
            elif not self.config.joint:
                self.fit()
            elif classes:
                self.fit_together(classes)

    def fit_together(self, classes: list[Dual]) -> None:
        """One machine of several classes, whose learners keep their parts. Raises Interrupted."""
        rows, importance, _, slots = self.store.settle()
        label = np.stack([np.concatenate(one.labels) for one in classes]).argmax(axis=0).astype(np.uint32)
        shape = {"classes": len(classes), "slots": len(slots)}
        solver = CrammerSinger(rows, label, importance, self.config, **shape, passes=self.bound)
        found, passes = solver.solve(self.tell)
        for number, one in enumerate(classes):
            one.take(solver.w[:, number], found, passes)

    def take(self, weights: np.ndarray, found: Objective, passes: int) -> None:
        """What a solver has found. ``weights`` float64[n] are of the slots that occur."""
        examples, config, self.labels = self.store.settle(), self.config, []
        if config.bias_scale != 1:
            weights[examples.slots == self.store.constant_slot] *= config.bias_scale
        if self.of_class and config.prediction_bounds is None:
            self.set(min_label=FREE[0], max_label=FREE[1])
        self.weights[examples.slots, 0] = weights
        counts = {"passes": passes, "examples": len(examples.rows), "skipped": self.store.skipped}
        self.certificate = {**found.report(), **counts}

    def fit(self) -> None:
        """Raises Interrupted."""
        (rows, importance, base, slots), config = self.store.settle(), self.config
        label = np.concatenate(self.labels).astype(np.float64)
        if config.prediction_bounds is None:
            low, high = config.loss.start_range(True)
            self.set(min_label=min(low, label.min()), max_label=max(high, label.max()))
        kind = HardMargin if config.hard_margin else DualSolver
        solver = kind(rows, label, importance, base, config, slots=len(slots), passes=self.bound)
        found, passes = solver.solve(self.tell)
        self.take(solver.w, found, passes)
        if config.hard_margin:
            self.certificate["separable"] = solver.separable
        self.solution = solver if self.keeps_solution else None

    @property
    def has_no_model(self) -> bool:
        return self.config.hard_margin and bool(self.certificate) and not self.certificate["separable"]

    def tell(self, number: int, found: Objective) -> None:
        if number == 1:
            self.say(HEADER)
        self.say(f"{number:5d} {found.primal:14.8g} {found.dual:14.8g} {found.gap:10.3g} {found.support:10d}")

    def warnings(self) -> list[str]:
        skipped = self.store.skipped
        return [f"{skipped} examples without features were skipped"] if skipped else []

    def failures(self) -> list[str]:
        found, gap = self.certificate, self.config.gap
        if self.has_no_model:
            return [f"{self.separability}: there is no model"]
        if not found or found["gap"] <= gap:
            return []
        reached = f"the gap is {found['gap']:.3g} after {found['passes']} passes"
        return [f"{reached}, more than --gap {gap:g}: --passes allows more"]

    @property
    def separability(self) -> str:
        """In words, where it was asked for."""
        found = self.certificate
        if found["separable"]:
            return f"linearly separable, margin {found['margin']:.6g}"
        return f"not known after {found['passes']} passes" if found["separable"] is None else "not separable"

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        found = self.certificate
        if not found:
            return []
        if self.has_no_model:
            return [("passes used", str(found["passes"])), ("the classes are", self.separability)]
        return [
            ("passes used", str(found["passes"])),
            *([("the classes are", self.separability)] if self.config.hard_margin else []),
            ("primal", found["primal"]),
            ("dual", found["dual"]),
            ("relative gap", f"{found['gap']:.3g}"),
            ("support vectors", str(found["support"])),
            ("of these at their bound", str(found["bound"])),
        ]

    def join(self, first: Dual) -> None:
        """The examples are kept once for all classes."""
        self.store, self.of_class = first.store, True
        first.classes.append(self)

    def report(self) -> dict[str, Any]:
        return {"dual": self.certificate}

    def header(self) -> dict[str, Any]:
        return {**super().header(), "dual": self.certificate}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        self.certificate = header["dual"]
