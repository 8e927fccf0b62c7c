"""Dual coordinate descent: support vector machines and their like, with a bound on how far they are from the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import dual_classes as kernel
from vwlite._native import gd as predictor
from vwlite._native import weigh_terms
from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch, Csr, join_rows
from vwlite.errors import DataError
from vwlite.features.feature_plan import Plan
from vwlite.features.hashing import CONSTANT_HASH
from vwlite.features.term_weights import terms_of
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.learners.abilities import JointClasses, SolvedInMemory, SupportVectors
from vwlite.learners.base import number_slots
from vwlite.learners.configs.dual import DualConfig
from vwlite.learners.dual_solver import MIX, ROUNDING, DualSolver, HardMargin, Objective, squares_of
from vwlite.learners.gd import Gd
from vwlite.learners.losses import FREE
from vwlite.learners.row_results import Results
from vwlite.storage.weight_table import zeros

SETTLED = 0.1  # range of slopes and 0 within which rows are taken for settled, at first
FINER = 0.1  # and from then on that times this


class CrammerSinger:
    """The problem of ``rows``, all with terms, none with a slot twice; ``label`` uint32[rows], below ``classes``.

    ``a`` float64[rows, classes] and ``w`` float64[slots, classes] are the solution.
    """

    def __init__(
        self,
        rows: Csr,
        label: np.ndarray,
        cost: np.ndarray,
        config: DualConfig,
        *,
        classes: int,
        slots: int,
        passes: int,
    ) -> None:
        """Raises ValueError for rows without terms, for columns beyond ``slots``, and for labels beyond ``classes``."""
        if not rows.sizes.all() or not len(rows) or int(rows.indices.max()) >= slots or label.max() >= classes:
            raise ValueError("rows need terms, with slots for them, and labels")
        self.rows, self.label, self.cost, self.config = rows, label, cost, config
        self.l2, self.passes, self.sweeps = config.l2, passes, 0
        self.square = squares_of(rows) / config.l2
        self.a, self.w = np.zeros((len(rows), classes)), np.zeros((slots, classes))
        self.prediction, self.scratch = np.zeros((len(rows), classes)), np.zeros((2, classes))
        self.order, self.active = np.arange(len(rows), dtype=np.uint32), len(rows)
        self.settled, self.highest = SETTLED, math.inf

    def evaluate(self) -> Objective:
        loss, dual = kernel.evaluate(self, self.prediction)
        half = self.l2 / 2 * float(np.einsum("ij,ij", self.w, self.w))
        own = self.a[np.arange(len(self.label)), self.label]
        support, bound = own > ROUNDING * self.cost, own >= (1 - ROUNDING) * self.cost
        norm = math.sqrt(2 * half / self.l2)
        return Objective(half + loss, dual - half, norm, int(support.sum()), int(bound.sum()))

    def run_pass(self) -> None:
        """As ``DualSolver.run_pass``."""
        steps = 0
        while steps < len(self.rows):
            steps += self.active
            seed = (self.config.random_seed * 2**32 + self.sweeps) * MIX % 2**64
            self.active = kernel.sweep(self, self.order, self.active, seed, STOP, self.scratch)
            self.sweeps += 1
            raise_if_stopped()
            if self.highest <= self.settled:
                if self.active == len(self.rows):
                    self.settled *= FINER
                self.active, self.highest = len(self.rows), math.inf
                return

    def solve(self, tell: Callable[[int, Objective], None]) -> tuple[Objective, int]:
        """As ``DualSolver.solve``."""
        number, ended = 0, False
        while not ended:
            self.run_pass()
            number, objective = number + 1, self.evaluate()
            if number == self.passes or objective.gap <= self.config.gap:
                kernel.sum_weights(self)
                objective = self.evaluate()
                ended = number == self.passes or objective.gap <= self.config.gap
            tell(number, objective)
        return objective, number


class Examples(NamedTuple):
    """Row ``i`` of ``rows`` has terms in the columns ``slots``, uint32[columns] ascending."""

    rows: Csr
    importance: np.ndarray  # float64[rows]
    base: np.ndarray  # float64[rows], initial predictions
    slots: np.ndarray


class KeptRows:
    """Keeps labelled examples that have features and some importance. The learners of several classes may share it."""

    def __init__(self, bits: int, constant_slot: int, bias_scale: float) -> None:
        """The constant's value is multiplied by ``bias_scale``."""
        self.bits, self.constant_slot, self.bias_scale = bits, constant_slot, bias_scale
        self.parts: list[Csr] = []
        self.numbers: list[np.ndarray] = []  # float64[2, rows]: importance, initial prediction
        self.last: tuple[Any, int, int] | None = None  # what was added last
        self.kept = np.zeros(0, np.int64)  # rows of the batch added last
        self.skipped = 0  # examples without features
        self.examples: Examples | None = None

    def add(self, batch: Batch, plan: Plan, held: np.ndarray | None, begin: int, end: int) -> np.ndarray:
        """The rows ``[begin, end)``, those not held out; answers which are kept, int64[n]. Once for all who share it.

        Raises DataError for a row of too many terms, Interrupted, MemoryError.
        """
        added = batch.value, begin, end
        if self.last and self.last[0] is batch.value and self.last[1:] == added[1:]:
            return self.kept
        self.last = added
        if plan.weights:
            batch, plan = plan.weights.apply(batch)
        usable = batch.is_learnable
        if held is not None:
            usable &= held[: len(batch)] == 0
        usable[:begin] = usable[end:] = False
        terms = terms_of(batch, plan)
        if self.bias_scale != 1 and plan.constant:
            terms.values[terms.indices == self.constant_slot] *= np.float32(self.bias_scale)
        if weigh_terms.merge(terms.indptr, terms.indices, terms.values, 0):
            raise MemoryError("the terms of examples need more memory than there is")
        full = usable & (terms.sizes > 0)
        self.kept = np.flatnonzero(full)
        self.skipped += int((usable & ~full).sum())
        self.parts.append(terms.take(self.kept))
        numbers = np.stack((batch.importance, batch.initial_prediction)).astype(np.float64)
        self.numbers.append(numbers[:, full])
        return self.kept

    def settle(self) -> Examples:
        """All of them."""
        if self.examples is None:
            importance, base = np.concatenate([*self.numbers, np.zeros((2, 0))], axis=1)
            rows, self.parts, self.numbers, self.last = join_rows(self.parts), [], [], None
            slots, rows.indices = number_slots(rows.indices, 1 << self.bits)
            self.examples = Examples(rows, importance, base, slots)
        return self.examples

    def release(self) -> None:
        """Nobody needs them any more."""
        self.examples = None


HEADER = f"{'pass':>5} {'primal':>14} {'dual':>14} {'gap':>10} {'support':>10}"


class Predictor:
    """The kernel of gradient descent, which never learns."""

    @staticmethod
    def run_rows(state: Any, config: Any, plan: Any, batch: Batch, results: Results, begin: int, mode: Any) -> Any:
        return predictor.run_rows(state, config, plan, batch, results, begin, (mode[0], False))


class Dual(Gd, SolvedInMemory, JointClasses, SupportVectors):
    """Keeps the terms of all examples and solves the dual. The table has the weights alone."""

    name = bottom = "dual"
    config_type = DualConfig
    bound = solver_passes = 1000
    native = Predictor

    def __init__(
        self, config: DualConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=False)
        self.stride, self.weights = 1, zeros(1 << bits, 1)
        self.store = KeptRows(bits, CONSTANT_HASH & ((1 << bits) - 1), config.bias_scale)
        self.labels: list[np.ndarray] = []  # of the rows that are kept
        self.keeps_solution = self.of_class = False  # of_class: it tells one class from all others
        self.solution: DualSolver | None = None  # where it is to be kept
        self.classes: list[Dual] = []  # of the first class, till they are fitted: the learners of all classes
        self.fitted: JsonObject = {}

    @classmethod
    def slot_bytes(cls, config: DualConfig, learning: bool) -> float:
        return 4.0 + 5.0 if learning else 4.0  # slots that occur are numbered

    @property
    def own_rows(self) -> list[str]:  # type: ignore[override]
        return [f"dual coordinate descent to a relative gap of {self.config.gap:g}"]

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        stopped = super().run(batch, plan, results, begin, end)
        if self.gathered:
            self.store.release()
        else:
            stored = self.store.add(batch, plan, results.holdout_mask, begin, stopped)
            self.labels.append(batch.label[stored])
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
        objective, passes = solver.solve(self.tell)
        for number, one in enumerate(classes):
            one.take(solver.w[:, number], objective, passes)

    def take(self, weights: np.ndarray, found: Objective, passes: int) -> None:
        """Take the solution of a solver. ``weights`` float64[n] are of the slots that occur."""
        examples, config, self.labels = self.store.settle(), self.config, []
        if config.bias_scale != 1:
            weights[examples.slots == self.store.constant_slot] *= config.bias_scale
        if self.of_class and config.prediction_bounds is None:
            self.set(min_label=FREE[0], max_label=FREE[1])
        self.weights[examples.slots, 0] = weights
        counts = {"passes": passes, "examples": len(examples.rows), "skipped": self.store.skipped}
        self.fitted = {**found.report(), **counts}

    def fit(self) -> None:
        """Raises Interrupted."""
        (rows, importance, base, slots), config = self.store.settle(), self.config
        label = np.concatenate(self.labels).astype(np.float64)
        if config.prediction_bounds is None:
            low, high = config.loss.start_range(True)
            self.set(min_label=min(low, label.min()), max_label=max(high, label.max()))
        kind = HardMargin if config.hard_margin else DualSolver
        solver = kind(rows, label, importance, base, config, slots=len(slots), passes=self.bound)
        objective, passes = solver.solve(self.tell)
        self.take(solver.w, objective, passes)
        if config.hard_margin:
            self.fitted["separable"] = solver.separable
        self.solution = solver if self.keeps_solution else None

    @property
    def has_no_model(self) -> bool:  # type: ignore[override]
        return self.config.hard_margin and bool(self.fitted) and not self.fitted["separable"]

    def tell(self, number: int, found: Objective) -> None:
        if number == 1:
            self.say(HEADER)
        self.say(f"{number:5d} {found.primal:14.8g} {found.dual:14.8g} {found.gap:10.3g} {found.support:10d}")

    def warnings(self) -> list[str]:
        skipped = self.store.skipped
        return [f"{skipped} examples without features were skipped"] if skipped else []

    def failures(self) -> list[str]:
        certificate, gap = self.fitted, self.config.gap
        if self.has_no_model:
            return [f"{self.separability}: there is no model"]
        if not certificate or certificate["gap"] <= gap:
            return []
        reached = f"the gap is {certificate['gap']:.3g} after {certificate['passes']} passes"
        return [f"{reached}, more than --gap {gap:g}: --passes allows more"]

    @property
    def separability(self) -> str:
        """Whether the classes are separable, in words, for --hard_margin."""
        result = self.fitted
        if result["separable"]:
            return f"linearly separable, margin {result['margin']:.6g}"
        return f"not known after {result['passes']} passes" if result["separable"] is None else "not separable"

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        certificate = self.fitted
        if not certificate:
            return []
        if self.has_no_model:
            return [("passes used", str(certificate["passes"])), ("the classes are", self.separability)]
        return [
            ("passes used", str(certificate["passes"])),
            *([("the classes are", self.separability)] if self.config.hard_margin else []),
            ("primal", certificate["primal"]),
            ("dual", certificate["dual"]),
            ("relative gap", f"{certificate['gap']:.3g}"),
            ("support vectors", str(certificate["support"])),
            ("of these at their bound", str(certificate["bound"])),
        ]

    def join(self, first: Dual) -> None:
        """The examples are kept once for all classes."""
        self.store, self.of_class = first.store, True
        first.classes.append(self)

    def report(self) -> JsonObject:
        return {"dual": self.fitted}

    def header(self) -> JsonObject:
        return {**super().header(), "dual": self.fitted}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        self.fitted = header["dual"]
