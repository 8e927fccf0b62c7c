"""L-BFGS over whole passes (Nocedal 1980), preconditioned by the diagonal of second derivatives.

How far a step goes is found as Vowpal Wabbit does (``halving.py``) or, outside of ``vwlite vw``, by ``wolfe.py`` and,
with ``--l1``, ``orthant_wise.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar
from weakref import proxy

import numpy as np

from vwlite._native import bfgs as kernel
from vwlite._native import gd as predictor
from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.bfgs import WITH_KINKS, BfgsConfig
from vwlite.learners.gd import Gd
from vwlite.learners.halving import Halving
from vwlite.learners.orthant_wise import OrthantWise
from vwlite.learners.row_results import Results
from vwlite.learners.wolfe import Wolfe
from vwlite.storage.weight_table import Table, zeros

COLUMNS = ("## avg. loss ", "der. mag. ", "d. m. cond.", " wolfe1    ", "wolfe2    ", "mix fraction", "curvature ")
HEADER = "\t".join((*COLUMNS, "dir. magnitude", "step size"))
END = "Maximum number of passes reached. To optimize further, increase the number of passes"


class Bfgs(Gd):
    """Minimises the loss of all examples, ``l2 / 2`` times the squared weights and ``l1`` times the absolute ones, one
    pass after the other.

    While learning under ``vwlite vw`` the table has weight, gradient, direction and preconditioner. Otherwise it has
    the weight, and ``vectors`` has the others in float64. A model keeps the weights.
    """

    name = bottom = "bfgs"
    config_type = BfgsConfig
    resumable = False
    of_passes: ClassVar[Any] = kernel
    predictor: ClassVar[Any] = predictor  # the kernel of a table that has the weights only

    standstill = 1e-12  # a gain, relative to the loss, that is none: losses of examples are of single precision
    tests_on_copy = True

    def __init__(
        self, config: BfgsConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=False)
        self.begin_passes()
        if start:
            self.set_weights()

    def begin_passes(self) -> None:
        """What there is beside the weights before the first pass."""
        self.native = self.of_passes if self.learning else self.predictor
        self.sums = np.zeros(3)  # loss, importance, curvature along the direction
        self.gradient = self.first = True  # what this pass is for
        self.current, self.final = 0, 1
        self.line = ""  # the row of the table so far
        self.say: Callable[[str], None] = lambda line: None
        self.held_out: Callable[[], float | None] = lambda: None
        self.vectors: np.ndarray | None = None  # float64[2^bits, 3]: gradient, direction, diagonal
        if self.learning and not self.vw_compat:
            self.stride, self.weights, self.vectors = 1, zeros(1 << self.bits, 1), self.no_sums()
        self.steps = self.kind_of_steps(self.vw_compat)(proxy(self))  # no circle: tables are freed at once

    def no_sums(self) -> np.ndarray:
        """``vectors`` of zeros."""
        return np.zeros((1 << self.bits, 3))

    def kind_of_steps(self, vw_compat: bool) -> type[Halving | Wolfe]:
        """Raises UsageError for a penalty and a loss for which no kind is; vw knows no penalty."""
        if vw_compat:
            return Halving
        loss = self.config.loss.name
        if self.config.l1 and loss in WITH_KINKS:
            raise UsageError(f"--l1 with --bfgs needs a loss without kinks, which {loss} is not: drop one of the two")
        return OrthantWise if self.config.l1 else Wolfe

    @classmethod
    def slot_bytes(cls, config: BfgsConfig, learning: bool) -> float:
        return 4.0 + 24.0 if learning else 4.0  # the vectors are of double precision

    def tester(self, **changes: Any) -> Bfgs:
        other = super().tester(**changes)
        other.native = self.predictor
        return other

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        if passes < 2 and self.learning:
            raise UsageError("--bfgs needs at least 2 passes: add --passes")
        self.final, self.say, self.held_out = passes, say, held_out

    @property
    def finished(self) -> bool:
        return self.current >= self.final

    @property
    def measured(self) -> bool:
        return self.steps.measured

    @property
    def own_rows(self) -> list[str]:
        config = self.config
        kind = "conjugate gradient optimization via BFGS" if config.memory == 0 else "BFGS based optimization"
        curved = "with" if config.curved else "**without**"
        return [f"enabling {kind} {curved} curvature calculation", HEADER]

    @property
    def columns(self) -> tuple[str, ...]:
        return ("w",)

    def tables(self, predict_only: bool) -> dict[str, Table]:
        return {"weights": Table(self.weights, ("w",))}

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if self.learning:
            self.steps.begin_pass()
        return super().run(batch, plan, results, begin, end)

    def end_pass(self) -> None:
        if not self.learning:
            if self.vw_compat:  # vw optimises nothing, too
                self.say(f" 1 -nan\t-nan\t-nan\t{END}")
            self.current = self.final
            return
        going_on = self.steps.end_pass()
        self.first = False
        self.current += 1
        if self.finished:
            self.tell(END)
        elif not going_on:
            self.final = self.current
        if self.finished and self.line:
            self.tell("")

    def begin_row(self, loss: float, size: float, conditioned: float) -> None:
        """Of the table: the average loss and the gradient's squared length, as it is and preconditioned."""
        held = self.held_out() if self.current else None
        shown = f"{loss:<10.5f}\t" if held is None else f"h{held:<10.5f}\t" if held == held else "h unknown    "
        self.line = f"{self.current + 1:2d} {shown}{size:<10.5f}\t{conditioned:<10.5f}\t"

    def tell(self, text: str) -> None:
        """End the row with ``text``."""
        self.say(self.line + text)
        self.line = ""
