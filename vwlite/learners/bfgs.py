"""L-BFGS over whole passes (Nocedal 1980), preconditioned by the diagonal of second derivatives.

How far a step goes is found as Vowpal Wabbit does (``Halving``) or, outside of ``vwlite vw``, by ``Wolfe`` and,
with ``--l1``, ``OrthantWise``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from weakref import proxy

import numpy as np

from vwlite._native import bfgs as bfgs_kernel
from vwlite._native import gd as gd_kernel
from vwlite._native import outputs as outputs_kernel
from vwlite._native import softmax as softmax_kernel
from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan
from vwlite.features.hashing import CONSTANT_HASH
from vwlite.learners.abilities import PassByPass
from vwlite.learners.configs.bfgs import WITH_KINKS, BfgsConfig, BfgsMulticlassConfig, BfgsOutputsConfig
from vwlite.learners.gd import Gd
from vwlite.learners.outputs import Outputs
from vwlite.learners.quasi_newton import OrthantWise, Pair, Problem, Wolfe, dot, two_loops
from vwlite.learners.row_results import Results
from vwlite.learners.softmax import Multiclass
from vwlite.storage.weight_table import Table, zeros

MIN_DECREASE = 0.01  # of the loss, as a share of what the slope promises (Wolfe's first condition)
MAX_RATIO = 1e4  # of the preconditioner's largest to its smallest entry
NO_CURVATURE = "the curvature is not positive: more regularisation (--l2) or other scales of features would help"


class Halving:
    """What the passes of ``learner`` are for, and where its weights go between them."""

    measured = True

    def __init__(self, learner: Problem) -> None:
        self.learner, self.config = learner, learner.config
        self.previous_loss, self.step = 0.0, 0.0
        self.last: Pair | None = None  # weights and gradient one step ago
        self.pairs: list[Pair] = []  # their differences, the latest first

    def begin_pass(self) -> None:
        """Weights have moved when the pass before ended."""

    def end_pass(self) -> bool:
        """Answers whether to go on."""
        after_step = self.learner.gradient and not self.learner.first
        return self.step_back_or_on() if after_step else self.step_first_or_along()

    def column(self, number: int) -> np.ndarray:
        return self.learner.weights[:, number]

    def regularize(self) -> None:
        """Add the regularisation to gradient and loss."""
        if self.config.l2:
            w = self.column(0)
            self.learner.weights[:, 1] += np.float32(self.config.l2) * w
            self.learner.sums[0] += 0.5 * self.config.l2 * dot(w, w)
            if self.config.no_bias_regularization:  # but for the curvature and the preconditioner, as in vw
                constant = self.learner.weights[CONSTANT_HASH % len(w)]
                constant[1] -= np.float32(self.config.l2) * constant[0]
                self.learner.sums[0] -= 0.5 * self.config.l2 * float(constant[0]) ** 2

    def begin_row(self) -> None:
        g, sums = self.column(1), self.learner.sums
        size, conditioned = dot(g, g) / sums[1] ** 2, dot(g, g, self.column(3)) / sums[1]
        self.learner.begin_row(sums[0] / sums[1], size, conditioned)

    def move(self, length: float) -> None:
        self.learner.weights[:, 0] += np.float32(length) * self.column(2)

    def remember(self) -> None:
        """The weights and the gradient of now; the next pass takes a new gradient."""
        self.last = self.column(0).copy(), self.column(1).copy()
        self.learner.weights[:, 1] = 0

    def step_first_or_along(self) -> bool:
        """Continue after the first gradient, or a pass for the curvature along the direction. Returns whether to go
        on."""
        if not self.learner.first:
            return self.step_along()
        self.precondition()
        self.regularize()
        with np.errstate(all="ignore"):
            self.begin_row()
        self.learner.line += " " * 10 + ("\t" + " " * 10) * 2 + "\t"
        self.learner.weights[:, 2] = -self.column(3) * self.column(1)
        self.previous_loss, self.learner.sums[0], self.learner.sums[2] = self.learner.sums[0], 0.0, 0.0
        self.remember()
        # as in vw, where all but the regularisation is lost after the first pass
        self.learner.weights[:, 3] = 1 / self.config.l2 if self.config.l2 else 0
        self.learner.gradient = False
        return True

    def precondition(self) -> None:
        diagonal = self.column(3)
        diagonal += np.float32(self.config.l2)
        largest = float(diagonal.max())
        bound = np.float32(MAX_RATIO / largest if largest else 0)
        with np.errstate(divide="ignore"):
            self.learner.weights[:, 3] = np.where(diagonal > 0, np.minimum(1 / diagonal, bound), 0)

    def step_along(self) -> bool:
        """A step as long as slope and curvature in the direction say."""
        direction = self.column(2)
        curvature = self.learner.sums[2] + self.config.l2 * dot(direction, direction)
        slope = dot(self.last[1], direction)
        going_on = curvature != 0 and slope != 0
        self.step = -slope / curvature if going_on else 0.0
        self.move(self.step)
        length = dot(direction, direction)
        self.learner.tell(f"{curvature / self.learner.sums[1]:<10.5f}\t{length:<10.5f}\t{self.step:.5f}")
        if not going_on:
            self.learner.say("note: the gradient is 0" if slope == 0 else f"note: {NO_CURVATURE}")
        self.learner.sums[0] = self.learner.sums[2] = 0.0
        self.learner.gradient = True
        return going_on

    def step_back_or_on(self) -> bool:
        """Continue after the gradient at the end of a step: halve it if the loss did not fall enough, else make the
        next."""
        self.regularize()
        self.begin_row()
        loss, slope = self.learner.sums[0], dot(self.last[1], self.column(2))
        with np.errstate(all="ignore"):
            wolfe = np.float64(loss - self.previous_loss) / (self.step * slope)
            other = np.float64(dot(self.column(1), self.column(2))) / slope
        self.learner.line += f" {wolfe:<10f}\t{other:<10f}\t"
        self.learner.sums[0] = self.learner.sums[2] = 0.0
        if np.isnan(wolfe):
            self.learner.tell("")
            self.learner.say("note: the gradient is 0")
            self.step = 0.0
            return False
        if wolfe < MIN_DECREASE or loss > self.previous_loss:
            self.move(-self.step / 2)
            self.step /= 2
            self.learner.tell(f"{'':10}\t(revise x 0.5)\t{self.step:.5f}")
            self.learner.weights[:, 1] = 0
            return True
        enough = abs(self.previous_loss - loss) / self.previous_loss < self.config.termination
        self.previous_loss, self.step = loss, 1.0
        going_on = self.turn() and not enough
        if self.config.curved and going_on:
            self.learner.gradient = False
        elif not self.config.curved:
            self.learner.tell(f"{'':10}\t{dot(self.column(2), self.column(2)):<10.5f}\t{self.step:.5f}")
            self.move(self.step)
        if not going_on and not enough:
            self.learner.say(f"note: {NO_CURVATURE}")
        if enough:
            share = f"{self.config.termination:.3%}"
            self.learner.say(f"note: the loss fell by less than {share}; --termination asks for more")
        return going_on

    def turn(self) -> bool:
        """The next direction; False, and no step, where there is none."""
        if self.config.memory == 0:
            self.turn_conjugate()
            return True
        w, g, diagonal = self.column(0), self.column(1), self.column(3)
        pair = w - self.last[0], g - self.last[1]
        self.learner.line += " " * 10 + "\t"
        self.learner.weights[:, 2] = g
        both, conditioned = dot(*pair), dot(pair[1], pair[1], diagonal)
        if both <= 0 or conditioned <= 0:
            self.step = 0.0
            return False
        self.pairs = [pair, *self.pairs[: self.config.memory - 1]]
        self.learner.weights[:, 2] = -two_loops(g.astype(np.float64), both / conditioned * diagonal, self.pairs)
        self.remember()
        return True

    def turn_conjugate(self) -> None:
        g, diagonal, before = self.column(1), self.column(3), self.last[1]
        with np.errstate(all="ignore"):
            share = np.float64(dot(g, g - before, diagonal)) / dot(before, before, diagonal)
        share = share if share > 0 else 0.0
        self.learner.weights[:, 2] = np.float32(share) * self.column(2) - diagonal * g
        self.learner.line += f"{share:f}\t"
        self.remember()


COLUMNS = ("## avg. loss ", "der. mag. ", "d. m. cond.", " wolfe1    ", "wolfe2    ", "mix fraction", "curvature ")
HEADER = "\t".join((*COLUMNS, "dir. magnitude", "step size"))
END = "Maximum number of passes reached. To optimize further, increase the number of passes"


class Bfgs(Gd, PassByPass):
    """Minimises the loss of all examples, ``l2 / 2`` times the squared weights and ``l1`` times the absolute ones, one
    pass after the other.

    While learning under ``vwlite vw`` the table has weight, gradient, direction and preconditioner. Otherwise it has
    the weight, and ``vectors`` has the others in float64. A model keeps the weights.
    """

    name = bottom = "bfgs"
    config_type = BfgsConfig
    of_passes: ClassVar[Any] = bfgs_kernel
    predictor: ClassVar[Any] = gd_kernel  # the kernel of a table that has the weights only

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
        """Set the state beside the weights before the first pass."""
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
    def finished(self) -> bool:  # type: ignore[override]
        return self.current >= self.final

    @property
    def measured(self) -> bool:  # type: ignore[override]
        return self.steps.measured

    @property
    def own_rows(self) -> list[str]:  # type: ignore[override]
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
        """Begin a row of the table: average loss and squared length of the gradient, as it is and preconditioned."""
        held = self.held_out() if self.current else None
        loss_text = f"{loss:<10.5f}\t" if held is None else f"h{held:<10.5f}\t" if held == held else "h unknown    "
        self.line = f"{self.current + 1:2d} {loss_text}{size:<10.5f}\t{conditioned:<10.5f}\t"

    def tell(self, text: str) -> None:
        """End the row with ``text``."""
        self.say(self.line + text)
        self.line = ""


class BatchVectors(Bfgs):
    """Stands before the learner of gradient descent that says where weights are, what labels are, and what is reported.

    ``vectors`` float64[2^bits, 3] has contiguous columns.
    """

    standstill = 1e-14  # losses that match a transfer are of double precision
    tests_on_copy = False

    def begin_passes(self) -> None:
        super().begin_passes()
        self.pass_scratch = np.zeros((4, 1 << self.kernel.shift))  # in use by the kernel for one example

    def no_sums(self) -> np.ndarray:
        return np.zeros((3, 1 << self.bits)).T


class BfgsOutputs(BatchVectors, Outputs):
    """Minimises the sum of the losses of all outputs, in the slots that ``Outputs`` has."""

    name = "bfgs_outputs"
    config_type = BfgsOutputsConfig
    of_passes, predictor = bfgs_kernel.OfOutputs, outputs_kernel

    @staticmethod
    def shares_sums(config: BfgsOutputsConfig, learning: bool) -> bool:
        return False


class BfgsMulticlass(BatchVectors, Multiclass):
    """Minimises the loss of all classes together, in the slots that ``Multiclass`` has."""

    name = "bfgs_multiclass"
    adapts = False
    config_type = BfgsMulticlassConfig
    of_passes, predictor = bfgs_kernel.OfClasses, softmax_kernel

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        super().load(arrays, scalars, whole)
        if self.learning and not self.weights.flags.writeable:
            self.weights = np.array(self.weights)
