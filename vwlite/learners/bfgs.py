"""L-BFGS over whole passes (Nocedal 1980), preconditioned by the diagonal of second derivatives, as Vowpal Wabbit's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vwlite._native import bfgs as kernel
from vwlite._native import gd as predictor
from vwlite.arrays import np
from vwlite.errors import UsageError
from vwlite.learners.base import restored_config
from vwlite.learners.gd import Gd, GdConfig
from vwlite.table import Table

LEAST_DECREASE = 0.01  # of the loss, as a share of what the slope promises (Wolfe's first condition)
LARGEST_RATIO = 1e4  # of the preconditioner's largest to its smallest entry
COLUMNS = ("## avg. loss ", "der. mag. ", "d. m. cond.", " wolfe1    ", "wolfe2    ", "mix fraction", "curvature ")
HEADER = "\t".join((*COLUMNS, "dir. magnitude", "step size"))
END = "Maximum number of passes reached. To optimize further, increase the number of passes"
NO_CURVATURE = "the curvature is not positive: more regularisation (--l2) or other scales of features would help"


@dataclass(frozen=True, slots=True)
class BfgsConfig(GdConfig):
    """As ``GdConfig``, of which the loss, ``l2`` and the bounds of predictions matter."""

    bfgs: bool = True
    conjugate_gradient: bool = False
    hessian_on: bool = False  # a pass for the curvature before every step, not only the first
    mem: int = 15  # pairs of steps and gradients remembered
    termination: float = 0.001  # relative decrease of the loss below which the passes end

    learner: ClassVar[str] = "bfgs"

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if not 0 <= self.mem <= 1000:
            raise UsageError(f"--mem takes 0 to 1000, not {self.mem}")
        if not 0 <= self.termination < 1:
            raise UsageError(f"--termination takes a number from 0 to 1, not {self.termination:g}")
        for name in ("binary", "ftrl"):
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --bfgs")

    @property
    def memory(self) -> int:
        return 0 if self.conjugate_gradient else self.mem

    @property
    def curved(self) -> bool:
        return self.hessian_on or self.memory == 0


class Bfgs(Gd):
    """Minimises the loss of all examples and ``l2 / 2`` times the squared weights, one pass after the other.

    Columns of the table while learning: weight, gradient, direction, preconditioner; a model keeps the weights.
    """

    name = "bfgs"
    stops_midway = False

    def __init__(
        self, config: BfgsConfig, bits: int, *, learning: bool = True, strict: bool = True, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, strict=strict, start=start)
        self.native = kernel if learning else predictor
        self.sums = np.zeros(3)  # loss, importance, curvature along the direction
        self.gradient = self.first = True  # what this pass is for
        self.current, self.final = 0, 1
        self.previous_loss, self.step = 0.0, 0.0
        self.last: tuple[np.ndarray, np.ndarray] | None = None  # weights and gradient one step ago
        self.pairs: list[tuple[np.ndarray, np.ndarray]] = []  # their differences, the latest first
        self.line = ""  # the row of the table so far
        self.say: Callable[[str], None] = lambda line: None
        self.held_out: Callable[[], float | None] = lambda: None

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        if passes < 2 and self.learning:
            raise UsageError("--bfgs needs at least 2 passes: add --passes")
        self.final, self.say, self.held_out = passes, say, held_out

    @property
    def finished(self) -> bool:
        return self.current >= self.final

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

    def end_pass(self) -> None:
        if not self.learning:
            if not self.strict:  # vw optimises nothing, too
                self.say(f" 1 -nan\t-nan\t-nan\t{END}")
            self.current = self.final
            return
        going_on = self.step_back_or_on() if self.gradient and not self.first else self.step_first_or_along()
        self.first = False
        self.current += 1
        if self.finished:
            self.tell(END)
        elif not going_on:
            self.final = self.current
        if self.finished and self.line:
            self.tell("")

    def column(self, number: int) -> np.ndarray:
        return self.weights[:, number]

    def dot(self, one: np.ndarray, other: np.ndarray, diagonal: np.ndarray | None = None) -> float:
        return float(np.einsum("i,i,i" if diagonal is not None else "i,i", *(
            array.astype(np.float64) for array in (one, other, diagonal) if array is not None
        )))

    def tell(self, text: str) -> None:
        """End the row with ``text``."""
        self.say(self.line + text)
        self.line = ""

    def regularize(self) -> None:
        """Add the regularisation to gradient and loss."""
        if self.config.l2:
            w = self.column(0)
            self.weights[:, 1] += np.float32(self.config.l2) * w
            self.sums[0] += 0.5 * self.config.l2 * self.dot(w, w)

    def begin_row(self) -> None:
        held = self.held_out() if self.current else None
        loss = f"{self.sums[0] / self.sums[1]:<10.5f}" if held is None else f"h{held:<10.5f}"
        g, weight = self.column(1), self.sums[1]
        size, conditioned = self.dot(g, g) / weight**2, self.dot(g, g, self.column(3)) / weight
        self.line = f"{self.current + 1:2d} {loss}\t{size:<10.5f}\t{conditioned:<10.5f}\t"

    def move(self, length: float) -> None:
        self.weights[:, 0] += np.float32(length) * self.column(2)

    def remember(self) -> None:
        """The weights and the gradient of now; the next pass takes a new gradient."""
        self.last = self.column(0).copy(), self.column(1).copy()
        self.weights[:, 1] = 0

    def step_first_or_along(self) -> bool:
        """After the first gradient, or a pass for the curvature along the direction. Answers whether to go on."""
        if not self.first:
            return self.step_along()
        self.precondition()
        self.regularize()
        with np.errstate(all="ignore"):
            self.begin_row()
        self.line += " " * 10 + ("\t" + " " * 10) * 2 + "\t"
        self.weights[:, 2] = -self.column(3) * self.column(1)
        self.previous_loss, self.sums[0], self.sums[2] = self.sums[0], 0.0, 0.0
        self.remember()
        if not self.strict:  # as in vw, where all but the regularisation is lost after the first pass
            self.weights[:, 3] = 1 / self.config.l2 if self.config.l2 else 0
        self.gradient = False
        return True

    def precondition(self) -> None:
        diagonal = self.column(3)
        diagonal += np.float32(self.config.l2)
        largest = float(diagonal.max())
        bound = np.float32(LARGEST_RATIO / largest if largest else 0)
        with np.errstate(divide="ignore"):
            self.weights[:, 3] = np.where(diagonal > 0, np.minimum(1 / diagonal, bound), 0)

    def step_along(self) -> bool:
        """A step as long as slope and curvature in the direction say."""
        direction = self.column(2)
        curvature = self.sums[2] + self.config.l2 * self.dot(direction, direction)
        slope = self.dot(self.last[1], direction)
        going_on = curvature != 0 and slope != 0
        self.step = -slope / curvature if going_on else 0.0
        self.move(self.step)
        length = self.dot(direction, direction)
        self.tell(f"{curvature / self.sums[1]:<10.5f}\t{length:<10.5f}\t{self.step:.5f}")
        if not going_on:
            self.say("note: the gradient is 0" if slope == 0 else f"note: {NO_CURVATURE}")
        self.sums[0] = self.sums[2] = 0.0
        self.gradient = True
        return going_on

    def step_back_or_on(self) -> bool:
        """After the gradient at a step's end: half of it where the loss did not fall as it should, else the next."""
        self.regularize()
        self.begin_row()
        loss, slope = self.sums[0], self.dot(self.last[1], self.column(2))
        with np.errstate(all="ignore"):
            wolfe = np.float64(loss - self.previous_loss) / (self.step * slope)
            other = np.float64(self.dot(self.column(1), self.column(2))) / slope
        self.line += f" {wolfe:<10f}\t{other:<10f}\t"
        self.sums[0] = self.sums[2] = 0.0
        if np.isnan(wolfe):
            self.tell("")
            self.say("note: the gradient is 0")
            self.step = 0.0
            return False
        if wolfe < LEAST_DECREASE or loss > self.previous_loss:
            self.move(-self.step / 2)
            self.step /= 2
            self.tell(f"{'':10}\t(revise x 0.5)\t{self.step:.5f}")
            self.weights[:, 1] = 0
            return True
        enough = abs(self.previous_loss - loss) / self.previous_loss < self.config.termination
        self.previous_loss, self.step = loss, 1.0
        going_on = self.turn() and not enough
        if self.config.curved and going_on:
            self.gradient = False
        elif not self.config.curved:
            self.tell(f"{'':10}\t{self.dot(self.column(2), self.column(2)):<10.5f}\t{self.step:.5f}")
            self.move(self.step)
        if not going_on and not enough:
            self.say(f"note: {NO_CURVATURE}")
        if enough:
            self.say(f"note: the loss fell by less than {self.config.termination:.3%}; --termination asks for more")
        return going_on

    def turn(self) -> bool:
        """The next direction; False, and no step, where there is none."""
        if self.config.memory == 0:
            self.turn_conjugate()
            return True
        w, g, diagonal = self.column(0), self.column(1), self.column(3)
        pair = w - self.last[0], g - self.last[1]
        self.line += " " * 10 + "\t"
        self.weights[:, 2] = g
        both, conditioned = self.dot(*pair), self.dot(pair[1], pair[1], diagonal)
        if both <= 0 or conditioned <= 0:
            self.step = 0.0
            return False
        self.pairs = [pair, *self.pairs[: self.config.memory - 1]]
        self.weights[:, 2] = -self.two_loops(g.astype(np.float64), both / conditioned * diagonal)
        self.remember()
        return True

    def two_loops(self, q: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
        """The inverse Hessian's estimate times ``q`` (Nocedal 1980, the recursion of section 3)."""
        shares = []
        for step, change in self.pairs:
            share = self.dot(step, q) / self.dot(step, change)
            shares.append(share)
            q -= share * change
        q *= diagonal
        for (step, change), share in zip(self.pairs[::-1], shares[::-1], strict=True):
            q += (share - self.dot(change, q) / self.dot(step, change)) * step
        return q

    def turn_conjugate(self) -> None:
        g, diagonal, before = self.column(1), self.column(3), self.last[1]
        with np.errstate(all="ignore"):
            share = np.float64(self.dot(g, g - before, diagonal)) / self.dot(before, before, diagonal)
        share = share if share > 0 else 0.0
        self.weights[:, 2] = np.float32(share) * self.column(2) - diagonal * g
        self.line += f"{share:f}\t"
        self.remember()

    @classmethod
    def config_from(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> BfgsConfig:
        return restored_config(BfgsConfig, stored, changes)
