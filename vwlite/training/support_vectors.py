"""The support vectors of a run with ``--dual`` or ``--ksvm``, as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.learners.row_results import Results
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.listener import Listener

Place = tuple[bytes, int, bytes]  # file, line, tag
NOWHERE: Place = (b"", 0, b"")
MANY = 1000


class SupportVectors(Listener):
    """Writes a line for each example whose dual variable is not 0, in the order of the examples.

    Its columns, between tabs: file, line, tag, label, the variable, the margin y p (of losses of residuals y - p), and
    "bound" where the variable is as large as it may be. Examples of a cache have no file, and numbers for lines.
    """

    def __init__(self, path: str, learner: Any) -> None:
        """``learner``: ``vwlite.learners.dual.Dual``."""
        self.path, self.learner = path, learner
        self.learner.keeps_solution = True
        self.places: list[Place] = []  # of the rows that are learned

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if not self.learner.gathered:
            self.places += places_of(batch, self.learner.store.kept)

    def end(self) -> None:
        solution = self.learner.solution
        with atomic_output(self.path) as file:
            if solution is None or self.learner.has_no_model:
                return
            file.write(header("residual" if solution.of_residuals else "margin"))
            bound, shown = solution.bound, solution.margin
            for row in np.flatnonzero(solution.support):
                numbers = f"{solution.label[row]:g}\t{solution.a[row]:.12g}\t{shown[row]:.12g}"
                file.write(line(self.places[row], numbers, bound[row]))


class KernelSupportVectors(Listener):
    """The same of a kernel machine. Vectors that were merged, or come from a model, have no file, and line 0."""

    def __init__(self, path: str, learner: Any) -> None:
        """``learner``: ``vwlite.learners.ksvm.Ksvm``."""
        self.path, self.learner = path, learner
        self.places: dict[int, Place] = {}  # by the number of the row in a pass

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        origin = self.learner.origins
        first = self.learner.rows - end  # number of the batch's row 0
        here = np.sort(origin[(origin >= first + begin) & (origin < first + end)])
        self.places |= zip(here.tolist(), places_of(batch, here - first), strict=True)
        if len(self.places) > 2 * len(origin) + MANY:
            self.places = {one: self.places[one] for one in origin.tolist() if one in self.places}

    def end(self) -> None:
        origin, (a, label, most, margin) = self.learner.origins, self.learner.solution
        with atomic_output(self.path) as file:
            file.write(header("margin"))
            for row in np.argsort(origin, kind="stable"):
                numbers = f"{label[row]:g}\t{a[row]:.8g}\t{margin[row]:.8g}"
                file.write(line(self.places.get(int(origin[row]), NOWHERE), numbers, a[row] >= most[row]))


def places_of(batch: Batch, rows: np.ndarray) -> list[Place]:
    """Where the rows, int64[n], of a batch come from."""
    file = batch.path.encode("utf-8", "surrogateescape")
    if batch.path:
        lines = batch.first_line + batch.line.astype(np.int64)
    else:
        lines = batch.first_line + np.arange(len(batch)) if batch.numbers is None else batch.numbers
    return [(file, int(lines[row]) + 1, batch.tag(row)) for row in rows]


def header(said: str) -> bytes:
    return f"file\tline\ttag\tlabel\ta\t{said}\tbound\n".encode()


def line(place: Place, numbers: str, bound: bool) -> bytes:
    file, number, tag = place
    return b"%s\t%d\t%s\t%s\t%s\n" % (file, number, tag, numbers.encode(), b"bound" * int(bound))


def support_of(path: str, learner: Any) -> Listener:
    """What writes the support vectors of ``learner``."""
    return (SupportVectors if hasattr(learner, "store") else KernelSupportVectors)(path, learner)
