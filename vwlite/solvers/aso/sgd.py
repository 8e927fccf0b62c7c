"""Many binary problems over the same rows, each pass one pass over the data."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from vwlite._native import batch_rows
from vwlite._native import one_vs_rest_sgd as kernel
from vwlite.data.batch import Csr, offsets
from vwlite.errors import Diverged
from vwlite.features.sparse_rows import Rows, Weights
from vwlite.interrupts import STOP, raise_if_stopped
from vwlite.solvers.aso.config import LOSSES, SolverConfig
from vwlite.training.listener import Monitor


@dataclass(slots=True)
class Targets:
    """Row ``i`` of ``positive`` has the problems that example ``i`` is positive for, ascending."""

    positive: Csr
    names: list[str]
    feature: np.ndarray | None = None  # int64[problems], the features that are predicted; None: other problems


def targets(owner: np.ndarray, problem: np.ndarray, rows: int, names: list[str]) -> Targets:
    """Targets from pairs of row and problem, in any order; a pair given twice counts once."""
    pairs = np.unique(owner.astype(np.int64) * max(len(names), 1) + problem)
    owner, problem = np.divmod(pairs, max(len(names), 1))
    indptr = offsets(np.bincount(owner, minlength=rows))
    return Targets(Csr(indptr, problem.astype(np.uint32), np.ones(len(problem), np.float32)), names)


def side_by_side(several: list[Targets]) -> Targets:
    """Join several sets of problems over the same rows into one."""
    if len(several) == 1:
        return several[0]
    names, owners, problems = [], [], []
    for one in several:
        owners.append(one.positive.owner)
        problems.append(one.positive.indices.astype(np.int64) + len(names))
        names += one.names
    return targets(np.concatenate(owners), np.concatenate(problems), len(several[0].positive), names)


def zero_weights(features: int, shared: int, problems: int) -> Weights:
    w, v, bias = (np.zeros(shape, np.float32) for shape in ((features, problems), (shared, problems), problems))
    return Weights(w, v, bias)


@dataclass(slots=True)
class Rates:
    """The settings of a SolverConfig for the kernel."""

    loss: int
    penalty: float
    start: float
    bias: float
    shared: float
    scale: float = 1.0


@dataclass(slots=True)
class Position:
    """Where learning stopped: passes, which choose the orders, and steps, which choose the rates."""

    passes: int = 0
    steps: int = 0


@dataclass(slots=True)
class Stopped:
    """A copy of the weights after a whole pass, and where that was; None before the first."""

    weights: Weights | None = None
    at: Position = field(default_factory=Position)

    def keep(self, weights: Weights, at: Position) -> None:
        self.weights = Weights(weights.w.copy(), weights.v.copy(), weights.bias.copy())
        self.at = replace(at)

    def take_up(self, weights: Weights, at: Position) -> int:
        """Copy weights and position to ``weights`` and ``at``. Returns the passes since ``at``, 0 before the first.

        Raises ValueError for weights of another shape.
        """
        if not self.weights:
            return 0
        made = self.at.passes - at.passes
        for name in ("w", "v", "bias"):
            array, kept = getattr(weights, name), getattr(self.weights, name)
            if array.shape != kept.shape or made < 0:
                raise ValueError("the weights have another shape")
            array[:] = kept
        at.passes, at.steps = self.at.passes, self.at.steps
        return made


class Passes:
    """Threads that learn a part of ``problems`` each; what they learn does not depend on their number."""

    def __init__(self, config: SolverConfig, problems: int) -> None:
        loss = LOSSES.index(config.loss)
        self.rates = Rates(loss, config.penalty, config.rate, config.bias_rate, config.shared_rate)
        self.scratch = np.empty((2, problems), np.float32)
        self.cuts = np.linspace(0, problems, min(config.threads, max(problems // 16, 1)) + 1).astype(int).tolist()
        self.pool = ThreadPoolExecutor(len(self.cuts) - 1)

    def __enter__(self) -> "Passes":
        return self

    def __exit__(self, *error: object) -> None:
        self.pool.shutdown()

    def make(
        self, rows: Rows, targets: Targets, weights: Weights, order: np.ndarray, step: int, scale: float = 1.0
    ) -> tuple[int, float]:
        """Learn the rows of ``order``; arguments and results are those of the kernel."""
        rates = replace(self.rates, scale=scale)

        def part(first: int, last: int) -> tuple[int, float]:
            return kernel.learn(rows, targets, weights, rates, order, step, first, last, self.scratch)

        ends = list(self.pool.map(part, self.cuts[:-1], self.cuts[1:]))
        if weights.stop is STOP:  # the other parts have been learned to the end
            raise_if_stopped()
        return ends[0]


def solve(
    config: SolverConfig, rows: Rows, targets: Targets, weights: Weights, monitor: Monitor | None = None,
    at: Position | None = None, made: int = 0, stopped: Stopped | None = None,
) -> Weights:
    """Continue from ``weights`` and ``at``, both changed in place, after ``made`` of the passes.

    ``stopped`` keeps the state from which a run can be resumed. The result does not depend on the number of threads.
    Raises Diverged.
    """
    at, monitor = at or Position(), monitor or Monitor()
    monitor.step(made, config.passes)
    with Passes(config, weights.w.shape[1]) as passes:
        for number in range(made, config.passes):
            order = np.arange(len(rows))
            batch_rows.shuffle(order, (config.seed * 0x9E3779B97F4A7C15 + at.passes) % 2**64)
            at.steps, scale = passes.make(rows, targets, weights, order, at.steps)
            at.passes += 1
            weights.w *= np.float32(scale)
            if not np.isfinite(weights.bias).all():
                raise Diverged(f"the weights are not finite numbers after pass {number + 1}; try a smaller -l")
            monitor.step(number + 1, config.passes)
            if not stopped:
                done = f"pass {number + 1} of {config.passes}"
                monitor.remark(f"{done} over {len(rows)} examples, {weights.w.shape[1]} problems")
            elif monitor.saves:
                with monitor.update():
                    stopped.keep(weights, at)
    return weights


def losses(name: str, scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The losses' values, float64, for scores and signs (-1, 1) of the same shape."""
    margin = scores.astype(np.float64) * signs
    if name == "modified_huber":
        return np.where(margin >= -1, np.maximum(0, 1 - margin) ** 2, -4 * margin)
    if name == "logistic":
        return np.logaddexp(0, -margin)
    return np.maximum(0, 1 - margin) if name == "hinge" else (1 - margin) ** 2


def objective(config: SolverConfig, rows: Rows, targets: Targets, weights: Weights) -> float:
    """Sum over problems of lambda |w|^2 and the mean loss (Ando and Zhang 2005, equation 7)."""
    signs = np.full((len(rows), weights.w.shape[1]), -1.0)
    signs[targets.positive.owner, targets.positive.indices] = 1.0
    fit = losses(config.loss, weights.scores(rows), signs).sum() / max(len(rows), 1)
    return float(config.penalty * np.square(weights.w, dtype=np.float64).sum() + fit)
