"""Kernel support vector machines (``--ksvm``); the kernel is ``cython_ext/learners/ksvm.pyx``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from threading import Lock
from typing import Any

import numpy as np

from vwlite._native import weigh_terms
from vwlite._native.ksvm import KernelMachine
from vwlite._native.loss_functions import link
from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK, SAVE, Batch, Csr
from vwlite.errors import Diverged
from vwlite.features.feature_plan import Plan
from vwlite.features.term_weights import terms_of
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.learners.abilities import PassByPass, SupportVectors
from vwlite.learners.base import NO_MEMORY, UNSTABLE, Learner
from vwlite.learners.configs.dual import KERNELS, KsvmConfig
from vwlite.learners.gd import Gd
from vwlite.learners.row_results import Results
from vwlite.storage.model_file import numbers
from vwlite.storage.weight_table import Arrays, zeros

ABSENT, PREDICT, LEARN = range(3)  # tasks of rows, as in the kernel
MEGABYTE = 2**20
MANY = 2000  # support vectors: others predict sooner
ARRAYS = ("indptr", "indices", "values", "numbers")  # of a model


class KernelConfig:
    """``KsvmConfig`` in the words of the kernel."""

    def __init__(self, config: KsvmConfig, chance: int) -> None:
        self.kernel, self.degree, self.bandwidth = KERNELS.index(config.kernel), config.degree, config.bandwidth
        self.strength, self.reprocess, self.pool_size = config.strength, config.reprocess, config.pool_size
        self.budget, self.chance, self.bias = config.budget, chance, (config.bias_scale or 0.0) ** 2


class Rows:
    """What runs rows: their terms are sorted, and learned by the machine of support vectors."""

    @staticmethod
    def run_rows(
        learner: Ksvm, config: Any, plan: Plan, batch: Batch, results: Results, begin: int, mode: Any
    ) -> tuple[int, int]:
        end, learning = mode
        known = learner.sorted_terms(batch, plan)
        task = np.full(len(batch), LEARN if learning else PREDICT, np.uint8)
        task[np.isnan(batch.label) | (batch.importance <= 0)] = PREDICT
        if results.holdout_mask is not None:
            task[results.holdout_mask[: len(batch)] != 0] = PREDICT
        task[batch.flags & (BLANK | SAVE) != 0] = ABSENT
        row, status = begin, UNSTABLE if begin < end else 0
        with learner.lock:
            while status == UNSTABLE and row < end:
                origin = learner.rows + row - begin
                status, row = learner.machine.run_rows(
                    known,
                    batch.label,
                    batch.importance,
                    task,
                    results.raw,
                    row,
                    end,
                    origin,
                    learner.again,
                    STOP,
                )
                if status == UNSTABLE and not learner.vw_compat:
                    break
        learner.rows += row - begin
        learner.tell(batch, results, task, slice(begin, row))
        return (0 if learner.vw_compat and status == UNSTABLE else status), row


class Ksvm(Gd, PassByPass, SupportVectors):
    """Support vectors, which a ``KernelMachine`` has; the table of weights stays empty."""

    name = bottom = "ksvm"
    config_type = KsvmConfig
    is_sum = False
    native = Rows

    def __init__(
        self, config: KsvmConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=False)
        self.stride, self.weights = 1, zeros(1 << bits, 1)
        cache = config.kernel_cache * MEGABYTE // 4
        self.machine = KernelMachine(KernelConfig(config, config.random_seed), bits, cache)
        self.lock = Lock()  # it predicts with memory of its own
        self.rows, self.again = 0, False  # rows of this pass so far; whether another was before
        self.finishes = False  # whether passes end with steps of the support vectors alone
        self.total_loss = np.float32(0)
        self.last: Any = None  # the terms made last, and what of

    @classmethod
    def slot_bytes(cls, config: KsvmConfig, learning: bool) -> float:
        return 8.0

    @property
    def own_settings(self) -> list[str]:  # type: ignore[override]
        config = self.config
        own = {"poly": [f"degree = {config.degree}"], "rbf": [f"bandwidth = {config.bandwidth:g}"]}
        return [f"Lambda = {config.strength:g}", f"Kernel = {config.kernel}", *own.get(config.kernel, [])]

    def pages(self) -> None:
        return None

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        self.machine.begin_run()
        self.rows, self.again = 0, False
        self.finishes = passes > 1 and not self.vw_compat

    def sorted_terms(self, batch: Batch, plan: Plan) -> Csr:
        """The terms of all rows, ascending by slot. Raises DataError, Interrupted, MemoryError."""
        if self.last is None or self.last[0] is not batch.value:
            terms = terms_of(batch, plan)
            sizes = terms.sizes.astype(np.uint32)
            if weigh_terms.merge(terms.indptr, terms.indices, terms.values, 0):
                raise MemoryError("the terms of examples need more memory than there is")
            self.last = batch.value, terms, sizes
        return self.last[1]

    def tell(self, batch: Batch, results: Results, task: np.ndarray, rows: slice) -> None:
        """Fill the results of these rows, whose raw predictions are there."""
        raw, label = results.raw[rows], batch.label[rows]
        absent, learned = task[rows] == ABSENT, task[rows] == LEARN
        results.features[rows] = np.where(absent, 0, self.last[2][rows])
        loss = np.where(np.isnan(label) | absent, np.float32(0), np.maximum(np.float32(1) - label * raw, np.float32(0)))
        self.total_loss = np.cumsum([self.total_loss, *loss[learned]], dtype=np.float32)[-1]  # in order, as vw adds
        results.loss[rows] = loss * batch.importance[rows]
        results.prediction[rows] = raw
        if self.kernel.link_code:
            link(self.kernel.link_code, results.prediction[rows])

    def end_pass(self) -> None:
        """Raises Diverged for a step that is not finite, Interrupted, MemoryError."""
        super().end_pass()
        if self.finishes:
            with self.lock:
                status = self.machine.finish(STOP)
            raise_if_stopped()
            if status == NO_MEMORY:
                raise MemoryError("kernels of support vectors need more memory than there is")
            if status == UNSTABLE:
                raise Diverged("a step of a support vector is not a finite number: scale the features")
        self.rows, self.again = 0, not self.vw_compat

    def tester(self, **changes: Any) -> Ksvm:
        other = Learner.tester(self, **changes)
        other.total_loss, other.last = np.float32(0), None
        return other

    @property
    def origins(self) -> np.ndarray:
        """int64[support vectors]: the numbers of the rows of a pass that they are; -1: none."""
        return self.machine.numbers()[1]

    @property
    def solution(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[override]
        """a, labels, largest a, and margins y p of the support vectors, float32[n] each. Raises Interrupted."""
        (a, _, label, most), margin = self.machine.numbers()[0], np.zeros(self.machine.support, np.float32)
        task = np.full(len(margin), PREDICT, np.uint8)
        rows = Csr(*self.machine.vectors())
        self.machine.run_rows(rows, label, most, task, margin, 0, len(margin), 0, False, STOP)
        raise_if_stopped()
        return np.abs(a), label, most, label * margin

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        evaluated, *counted, merged = self.machine.counts
        support = self.machine.support
        if self.vw_compat:
            queries = f"{counted[0]} Number of cache queries = {counted[1]}"
            return [
                ("Num support", str(support)),
                ("Number of kernel evaluations", queries),
                ("Total loss", float(self.total_loss)),
            ]
        cost = [("kernels of a prediction", f"{support} (fewer: --random_features)")] if support > MANY else []
        return [
            ("support vectors", str(support)),
            *([("mergers", str(merged))] if self.config.budget else []),
            ("kernels evaluated", str(evaluated)),
            *cost,
        ]

    def report(self) -> JsonObject:
        """The summary as JSON data."""
        evaluated, _, _, merged = self.machine.counts
        return {"ksvm": {**self.facts, "merged": merged, "kernels": evaluated}}

    @property
    def facts(self) -> dict[str, int]:
        """Figures on the support vectors of a model."""
        return {"support": self.machine.support}

    def tables(self, predict_only: bool) -> Arrays:
        return dict(zip(ARRAYS, (*self.machine.vectors(), self.machine.numbers()[0]), strict=True))

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        return None if learning and header["resumable"] else ARRAYS

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        for name in self.SCALARS:
            if whole or name in ("min_label", "max_label"):
                self.set(**{name: float(scalars[name])})
        rows, held = vectors_in(arrays, self.bits), numbers(arrays, "numbers", np.float32, (4, -1))
        if held.shape[1] != len(rows) or (held[3] < 0).any():
            raise ValueError("the numbers of support vectors")
        self.machine.take(rows, *held)

    def header(self) -> JsonObject:
        return {**super().header(), "chance": self.machine.chance, "ksvm": self.facts}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        self.machine.chance = header["chance"]


def vectors_in(arrays: Mapping[str, Any], bits: int) -> Csr:
    """The support vectors of a model. Raises ValueError for rows that are none, KeyError."""
    start = numbers(arrays, "indptr", np.int64, (-1,))
    index = numbers(arrays, "indices", np.uint32, (-1,))
    value = numbers(arrays, "values", np.float32, (-1,))
    whole = len(start) and start[0] == 0 and start[-1] == len(index) == len(value) and (np.diff(start) >= 0).all()
    if not whole or (len(index) and int(index.max()) >= 1 << bits):
        raise ValueError("the rows of support vectors")
    falls = np.flatnonzero(index[1:] <= index[:-1]) + 1
    if not np.isin(falls, start).all():
        raise ValueError("the slots of support vectors")
    return Csr(start, index, value)
