"""Principal components of examples that are streamed in several passes, by randomised subspace iteration.

Let A be the sum of x x' over all examples, less n m m' with the mean m if centred. A pass multiplies Z, which has a row
for each slot that occurs, by A. Between passes Z is orthonormalised (Halko, Martinsson and Tropp, SIAM Review 53, 2011,
algorithm 4.4), and A is shifted (Feng, Yu, Xie and Tang, Faster randomized SVD with dynamic shifts, arXiv 2404.09276,
2024). The last pass gives the sketch of Nystrom's approximation A Z (Z'A Z)^+ (A Z)', whose eigenvectors are the
components (algorithm 5.5 of Halko et al.); with a single pass Z consists of random signs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from vwlite._native import spectral
from vwlite.config_check import Double, JsonObject, require
from vwlite.errors import UsageError
from vwlite.interrupts import raise_if_stopped
from vwlite.options import check_memory
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.row_solver import Rows, SlotRows, check_slots
from vwlite.solvers.tall_matrices import CHUNK, TINY, eigenpairs, inverse_root, orthonormal, product, times
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural

MIN_COLUMNS = 16  # per thread
ILL_CONDITIONED = 1e-3  # least to largest singular value below which columns are orthonormalised twice


@dataclass(slots=True)
class Components:
    """``vectors`` float32[s, l], orthonormal columns over ``slots`` uint32[s], ascending; ``values`` float64[l].

    The first ``dim`` are the components and their singular values, descending; the others, of ``oversample``, make an
    update with more data more exact.

    ``total`` float64[s]: the sum of all examples; ``weight``: their importance, ``squares``: the sum of squared norms.
    """

    slots: np.ndarray
    vectors: np.ndarray
    values: np.ndarray
    total: np.ndarray
    weight: float
    squares: float
    examples: int

    @property
    def mean(self) -> np.ndarray:
        return self.total / self.weight if self.weight else self.total

    def spread(self, center: bool) -> float:
        """The total variance times the weight: the sum of squares that components can explain."""
        return self.squares - self.weight * float(self.mean @ self.mean) * center


NO_COMPONENTS = Components(
    np.zeros(0, np.uint32), np.zeros((0, 0), np.float32), np.zeros(0), np.zeros(0), 0.0, 0.0, 0
)


class SubspaceIteration:
    """The passes of the algorithm. ``z`` and ``y`` float32[slots, l]: the matrix Z of a pass, and A Z so far."""

    def __init__(self, config: PcaConfig, source: Rows, before: Components, memory: float, threads: int) -> None:
        self.config, self.source, self.before, self.memory = config, source, before, memory
        self.columns = config.dim + config.oversample
        self.rows = SlotRows(source.plan.bits, before.slots)
        known = len(before.slots)
        self.z = np.zeros((known, self.columns), np.float32)
        self.z[:, : before.vectors.shape[1]] = before.vectors
        self.fresh = np.flatnonzero(~self.z.any(axis=0))  # columns that start with random signs
        self.y = np.zeros_like(self.z)
        self.begin(self.z, before.slots)
        self.total = before.total.copy()
        self.sums = np.array([before.weight, before.squares])
        self.examples = before.examples
        self.passes, self.shift, self.lines = 0, 0.0, None  # passes made, shift of the next one, lines per pass
        self.pool = ThreadPoolExecutor(threads)
        edges = np.linspace(0, self.columns, min(threads, max(self.columns // MIN_COLUMNS, 1)) + 1).astype(int)
        self.shares = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def begin(self, z: np.ndarray, slots: np.ndarray) -> None:
        """Fill the ``fresh`` columns of rows of ``z``, those of ``slots``, with random signs."""
        signs = np.empty((len(slots), len(self.fresh)), np.float32)
        spectral.random_signs(slots, self.config.seed, signs)
        z[:, self.fresh] = signs

    def check(self, slots: int) -> None:
        """Raises UsageError where matrices of that number of slots need too much memory."""
        matrices = 2 if not len(self.before.slots) else 4
        need = slots * (4.0 * matrices * self.columns + 16)
        slots_text = f"{slots:,} slots that occur, {self.columns} numbers each"
        check_memory(need, self.memory, slots_text, "a smaller --dim or -b needs less")

    def run(self, monitor: Monitor) -> Components:
        """Make the passes that are left.

        Raises UsageError where there are fewer examples or slots than components, Interrupted.
        """
        self.source.count_terms()
        with self.pool:
            while True:
                number = self.passes + 1
                lines = self.read_pass(number, partial(monitor.step, total=self.lines))
                figures = {"pass": number, "examples": self.examples, "slots": len(self.rows)}
                monitor.row(f"pass {number}: {self.examples} examples, {len(self.rows)} slots", **figures)
                if number == self.config.passes:
                    return self.components()
                shift = self.turn(self.shift, number > 1)
                with monitor.update():
                    self.passes, self.shift, self.lines = number, shift, lines
                    self.z, self.y = self.y, self.z
                    self.y[:] = 0

    def state(self) -> tuple[JsonObject, dict[str, np.ndarray]]:
        """The state that ``restore`` takes: the passes made, and the matrix that the next one multiplies."""
        header = {"passes": self.passes, "shift": self.shift, "lines": self.lines, "examples": self.examples}
        return header, {"slots": self.rows.slots, "z": self.z, "total": self.total, "sums": self.sums}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Raises KeyError, ValueError for what is no state of such a run."""
        counts = {"passes": Natural, "examples": Natural, "lines": Natural, "shift": Double}
        for name, kind in counts.items():
            require(header[name], kind, name)
        if not 0 < header["passes"] < self.config.passes:
            raise ValueError("the number of passes")
        slots = numbers(arrays, "slots", np.uint32, (-1,))
        check_slots(slots, self.source.plan.bits)
        self.rows = SlotRows(self.source.plan.bits, slots)
        self.z = np.array(numbers(arrays, "z", np.float32, (len(slots), self.columns)))
        self.y = np.zeros_like(self.z)
        self.total = np.array(numbers(arrays, "total", np.float64, (len(slots),)))
        self.sums = np.array(numbers(arrays, "sums", np.float64, (2,)))
        self.passes, self.shift = header["passes"], header["shift"]
        self.lines, self.examples = header["lines"], header["examples"]

    def turn(self, shift: float, orthonormal_before: bool) -> float:
        """Replace ``y``, which is A Z, by a basis of (A - ``shift``) Z. Returns the next shift.

        A shift of at most half of the l-th eigenvalue speeds up convergence to the same components (Feng et al., 2024).
        It is estimated by the least singular value of A Z, which is at most the l-th eigenvalue.
        """
        if shift:
            for begin in range(0, len(self.y), CHUNK):
                self.y[begin : begin + CHUNK] -= np.float32(shift) * self.z[begin : begin + CHUNK]
        self.y, least, largest = orthonormal(self.y)
        if least < ILL_CONDITIONED * largest:
            self.y = orthonormal(self.y)[0]
        return max(shift, (shift + least) / 2) if orthonormal_before else 0.0

    def read_pass(self, number: int, step: Callable[[int], None]) -> int:
        """Add A Z of the data to ``y``. Returns the number of rows; ``step`` is called with the number so far."""
        done = 0
        step(done)
        for part in self.source.parts():
            if number == 1:
                self.grow(self.rows.admit(part.terms.indices, self.check))
            rows = part.terms.indptr, self.rows.find(part.terms.indices), part.terms.values, part.weight
            if number == 1:
                spectral.add_totals(*rows, self.total, self.sums)
                self.examples += int((part.weight > 0).sum())
            work = [self.pool.submit(spectral.add_products, *rows, self.z, self.y, *one) for one in self.shares]
            for one in work:
                one.result()
            raise_if_stopped()
            done += len(part.weight)
            step(done)
        if number == 1:
            self.sort()
            fewest = min(self.examples, len(self.rows))
            if fewest < self.config.dim:
                raise UsageError(
                    f"--dim {self.config.dim} is more than there is: {self.examples} examples, {len(self.rows)} slots"
                )
        self.add_before()
        return done

    def grow(self, new: np.ndarray) -> None:
        """Add rows for new slots."""
        old, used = len(self.rows) - len(new), len(self.total)
        if len(self.rows) > used:
            room = max(len(self.rows), used + used // 2)
            self.z, self.y = (grow_array(one, room) for one in (self.z, self.y))
            self.total = grow_array(self.total, room)
        self.begin(self.z[old : len(self.rows)], new)

    def sort(self) -> None:
        """Sort rows by slot, so that results do not depend on the order in which slots occur."""
        order = np.argsort(self.rows.slots)
        self.z, self.y, self.total = (one[order] for one in (self.z, self.y, self.total))
        self.rows.renumber(self.rows.slots[order])

    def add_before(self) -> None:
        """Add to ``y`` the part of the initial model's data, and subtract that of the mean."""
        old, z = self.before, self.z
        if len(old.slots):
            at = self.rows.find(old.slots)
            with np.errstate(over="ignore", invalid="ignore"):  # overflow is refused later, by its sums
                part = old.vectors @ ((old.values**2)[:, None] * product(old.vectors, z[at])).astype(np.float32)
                if self.config.center and old.weight:
                    part += np.outer(old.total, old.total @ z[at]).astype(np.float32) / np.float32(old.weight)
                self.y[at] += part
        if self.config.center and self.sums[0]:
            scale = (self.total @ z) / self.sums[0]
            for begin in range(0, len(z), CHUNK):
                self.y[begin : begin + CHUNK] -= np.outer(self.total[begin : begin + CHUNK], scale).astype(np.float32)

    def components(self) -> Components:
        """The eigenvectors of Nystrom's approximation; columns beyond its rank are 0."""
        half, _ = inverse_root(product(self.z, self.y))
        squares, turn = eigenpairs(half.T @ product(self.y, self.y) @ half)
        squares, turn = squares[::-1], turn[:, ::-1]
        positive = squares > TINY * max(squares.max(initial=0.0), 1e-300)
        values = np.zeros(self.columns)
        values[: len(squares)] = np.sqrt(np.where(positive, squares, 0))
        turned = np.zeros((self.columns, self.columns))
        turned[:, : len(squares)] = half @ turn * np.where(positive, 1 / np.sqrt(np.where(positive, squares, 1)), 0)
        vectors = times(self.y, turned)
        strongest = vectors[np.abs(vectors).argmax(axis=0), np.arange(self.columns)]
        vectors *= np.where(strongest < 0, -1, 1).astype(np.float32)
        weight, squares_sum = self.sums.tolist()
        return Components(self.rows.slots, vectors, values, self.total, weight, squares_sum, self.examples)


def grow_array(array: np.ndarray, rows: int) -> np.ndarray:
    larger = np.zeros((rows, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
