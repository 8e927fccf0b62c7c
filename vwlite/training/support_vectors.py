"""The support vectors of a run with ``--dual``, as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.learners.row_results import Results
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.listener import Listener


class SupportVectors(Listener):
    """Writes a line for each example whose dual variable is not 0, in the order of the examples.

    Its columns, between tabs: file, line, tag, label, the variable, the margin y p (of losses of residuals y - p), and
    "bound" where the variable is as large as it may be. Examples of a cache have no file, and numbers for lines.
    """

    def __init__(self, path: str, learner: Any) -> None:
        """``learner``: ``vwlite.learners.dual.Dual``."""
        self.path, self.learner = path, learner
        self.learner.keeps_solution = True
        self.places: list[tuple[bytes, int, bytes]] = []  # of the rows that are learned

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        if self.learner.gathered:
            return
        file = batch.path.encode("utf-8", "surrogateescape")
        if batch.path:
            lines = batch.first_line + batch.line.astype(np.int64)
        else:
            lines = batch.first_line + np.arange(len(batch)) if batch.numbers is None else batch.numbers
        self.places += [(file, int(lines[row]) + 1, batch.tag(row)) for row in self.learner.store.kept]

    def end(self) -> None:
        solution = self.learner.solution
        with atomic_output(self.path) as file:
            if solution is None or self.learner.has_no_model:
                return
            said = "residual" if solution.of_residuals else "margin"
            file.write(b"file\tline\ttag\tlabel\ta\t%s\tbound\n" % said.encode())
            bound, shown = solution.bound, solution.margin
            for row in np.flatnonzero(solution.support):
                place, line, tag = self.places[row]
                numbers = f"{solution.label[row]:g}\t{solution.a[row]:.12g}\t{shown[row]:.12g}"
                file.write(b"%s\t%d\t%s\t%s\t%s\n" % (place, line, tag, numbers.encode(), b"bound" * int(bound[row])))
