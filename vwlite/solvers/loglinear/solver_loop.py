"""The passes of a solver, with the progress table and early stopping."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vwlite.errors import DataError, Diverged
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.fista import Fista, Smooth
from vwlite.solvers.loglinear.frank_wolfe import FrankWolfe
from vwlite.solvers.loglinear.held_out import HeldOut
from vwlite.solvers.loglinear.norms import Norm, norm_of
from vwlite.solvers.loglinear.owlqn import OwlQn
from vwlite.solvers.loglinear.problems import Part
from vwlite.solvers.loglinear.sgd import Sgd
from vwlite.training.display import Steps, no_steps

HEADER = f"{'pass':>6} {'L(w)/N':>12} {'active':>10} {'seconds':>9}"


@dataclass(slots=True)
class Trained:
    """The outcome: ``table`` and ``cumulative_penalty`` as in ``sgd.Sgd``, after ``passes`` in all."""

    table: np.ndarray
    cumulative_penalty: float
    passes: int
    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def weights(self) -> np.ndarray:
        return self.table[0]


class Progress:
    """Rows of the table and entries of the history; knows the best pass by the held-out part."""

    def __init__(
        self, config: L1Config, train: Part, held: HeldOut | None, patience: int, say: Callable[[str], None],
        steps: Steps = no_steps,
    ) -> None:
        self.steps, self.norm = steps, norm_of(config, train.problem)
        self.config, self.train, self.held, self.patience, self.say = config, train, held, patience, say
        self.history: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.best: dict[str, Any] | None = None
        self.failures = 0
        steps(0, config.most_passes)
        columns = [*(["gap"] if config.l2 else []), *(held.columns if held else [])]
        say(HEADER + "".join(f" {name:>10}" for name in columns))

    def add(
        self, passes: int, weights: np.ndarray, value: float | None = None, bound: float | None = None
    ) -> bool:
        """An entry; whether it is the best so far on the held-out part (always, when there is none).

        ``bound``: what the objective cannot be above, of which the gap is told.
        """
        config, examples = self.config, len(self.train.rows)
        if value is None:
            value = self.train.value(weights)
        penalty = config.strength * self.norm.value(weights) + config.l2 / 2 * float(weights @ weights)
        objective = (value - penalty) / examples
        if not np.isfinite(objective):
            raise Diverged(f"pass {passes}: the objective is not a finite number; try a smaller learning rate (-l)")
        entry = {
            "pass": passes,
            "objective": objective,
            "active": int(np.count_nonzero(weights)),
            "seconds": round(self.seconds, 6),
        }
        line = f"{passes:6d} {objective:12.6f} {entry['active']:10d} {self.seconds:9.2f}"
        if bound is not None:
            entry["gap"] = max(bound / examples - objective, 0.0)  # below 0 by rounding alone
            line += f" {entry['gap']:10.6f}"
        if self.held:
            entry |= self.held.figures(weights)
            line += "".join(f" {figure}" for figure in self.held.cells(entry))
        self.history.append(entry)
        self.say(line)
        self.steps(len(self.history), config.most_passes)
        if not self.held:
            return True
        better = self.best is None or self.held.better(entry, self.best)
        self.best, self.failures = (entry, 0) if better else (self.best, self.failures + 1)
        return better

    def end(self, left: str = "") -> None:
        """``left``: what was not reached within as many passes as there may be; empty where nothing was asked for."""
        if left and not self.exhausted:
            self.say(f"note: {left} was not reached: --passes allows more")
        if self.best:
            self.say(f"pass {self.best['pass']} is kept, the best on the held-out part by {self.held.title}")

    @property
    def exhausted(self) -> bool:
        return self.failures >= self.patience


def run_sgd(config: L1Config, sgd: Sgd, train: Part, progress: Progress) -> Trained:
    """As many passes as the configuration asks for; with a held-out part the model of the best pass.

    Raises Diverged, MemoryError.
    """
    sgd.begin(len(train.rows))
    best = Trained(sgd.kept(), sgd.cumulative_penalty, sgd.passes)
    for _ in range(config.most_passes):
        begun = time.perf_counter()
        sgd.run_pass(train.problem, train.rows)
        progress.seconds += time.perf_counter() - begun
        if progress.add(sgd.passes, sgd.weights):
            best = Trained(sgd.kept(copy=progress.held is not None), sgd.cumulative_penalty, sgd.passes)
        elif progress.exhausted:
            break
    best.history = progress.history
    progress.end()
    return best


def run_batch(config: L1Config, sgd: Sgd, train: Part, progress: Progress) -> Trained:
    """Iterations of a solver over all data until it stops; ``sgd`` gives the start. Raises as ``run_sgd``."""
    begun = time.perf_counter()
    solver = solver_of(config, sgd.weights, train, progress.norm)
    best, kept, iteration, going = sgd.weights, sgd.passes, 0, True
    while going and iteration < config.most_passes:
        going = solver.iterate()
        iteration += 1
        progress.seconds += time.perf_counter() - begun
        if progress.add(sgd.passes + iteration, solver.weights, -solver.smooth):
            best, kept = solver.weights, sgd.passes + iteration
        elif progress.exhausted:
            break
        begun = time.perf_counter()
    table = np.zeros_like(sgd.table)
    table[0] = best
    progress.end(f"--tolerance {config.improvement:g}" if going else "")
    return Trained(table, 0.0, kept, progress.history)


def solver_of(config: L1Config, weights: np.ndarray, train: Part, norm: Norm) -> OwlQn | Fista:
    def function(weights: np.ndarray) -> tuple[float, np.ndarray]:
        gradient = np.zeros_like(weights)
        log_likelihood = train.problem.likelihood(weights, train.rows, gradient)
        return -log_likelihood, -gradient

    if config.solver == "owlqn":
        return OwlQn(function, weights, config.strength, config.improvement)
    smooth = Smooth(lambda weights: -train.value(weights), function)
    return Fista(smooth, weights, norm, config.strength, config.improvement)


def run_frank_wolfe(config: L1Config, train: Part, progress: Progress) -> Trained:
    """Passes until the gap is small enough. Raises as ``run_sgd``."""
    solver = FrankWolfe(config, train.problem, train.rows)
    best, kept = solver.weights.copy(), 0
    for number in range(1, config.most_passes + 1):
        begun = time.perf_counter()
        solver.run_pass()
        progress.seconds += time.perf_counter() - begun
        if progress.add(number, solver.weights, bound=-solver.dual):
            best, kept = solver.weights.copy(), number
        elif progress.exhausted:
            break
        if config.gap is not None and progress.history[-1]["gap"] <= config.gap:
            break
    short = config.gap is not None and progress.history[-1]["gap"] > config.gap
    progress.end(f"--gap {config.gap:g}" if short else "")
    return Trained(np.stack([best, np.zeros_like(best)]), 0.0, kept, progress.history)


def learn(config: L1Config, sgd: Sgd, train: Part, progress: Progress) -> Trained:
    """Raises DataError when there is nothing to learn from; as ``run_sgd``."""
    if not len(train.rows):
        raise DataError("there is no labelled example to learn from")
    if config.l2:
        return run_frank_wolfe(config, train, progress)
    return (run_sgd if config.solver == "sgd" else run_batch)(config, sgd, train, progress)
