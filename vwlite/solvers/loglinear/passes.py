"""The passes of the solvers of log-linear models, with the progress table, early stopping and what is kept of them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict

import numpy as np

from vwlite.config_check import Double, JsonObject, require
from vwlite.errors import DataError, Diverged
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.frank_wolfe import FrankWolfe
from vwlite.solvers.loglinear.held_out import HeldOut, Part
from vwlite.solvers.loglinear.minimisers import Fista, Norm, OwlQn, Smooth, norm_of
from vwlite.solvers.loglinear.sgd import Sgd, warm_start
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural

HEADER = f"{'pass':>6} {'L(w)/N':>12} {'active':>10} {'seconds':>9}"
Arrays = dict[str, np.ndarray]


class Entry(TypedDict):
    """A pass."""

    objective: Double
    active: Natural
    seconds: Double
    held_out: NotRequired[Double]
    f1: NotRequired[Double]
    accuracy: NotRequired[Double]
    gap: NotRequired[Double]


class ProgressState(TypedDict):
    """See ``Progress.state``."""

    history: list[dict]
    seconds: Double
    failures: Natural
    best: Natural | None


@dataclass(slots=True)
class Trained:
    """The outcome: ``table`` and ``cumulative_penalty`` as in ``sgd.Sgd``, after ``passes`` in all."""

    table: np.ndarray
    cumulative_penalty: float
    passes: int
    history: list[JsonObject] = field(default_factory=list)

    @property
    def weights(self) -> np.ndarray:
        return self.table[0]


class Progress:
    """Rows of the table and entries of the history; knows the best pass by the held-out part."""

    def __init__(
        self, config: L1Config, train: Part, held: HeldOut | None = None, patience: int = 0,
        monitor: Monitor | None = None,
    ) -> None:
        self.monitor, self.norm = monitor or Monitor(), norm_of(config, train.problem)
        self.config, self.train, self.held, self.patience = config, train, held, patience
        self.history: list[JsonObject] = []
        self.seconds = 0.0
        self.best: JsonObject | None = None
        self.failures = 0

    def begin(self) -> None:
        """The heading of the table."""
        self.monitor.step(len(self.history), self.config.most_passes)
        columns = [*(["gap"] if self.config.dual else []), *(self.held.columns if self.held else [])]
        self.monitor.line(HEADER + "".join(f" {name:>10}" for name in columns))

    def add(
        self, passes: int, weights: np.ndarray, value: float | None = None, bound: float | None = None
    ) -> bool:
        """An entry; whether it is the best so far on the held-out part (always, when there is none).

        ``bound``: what the objective cannot be above, from which the gap is reported.
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
        self.monitor.row(line, **entry)
        self.monitor.step(len(self.history), config.most_passes)
        if not self.held:
            return True
        better = self.best is None or self.held.better(entry, self.best)
        self.best, self.failures = (entry, 0) if better else (self.best, self.failures + 1)
        return better

    def end(self, left: str = "") -> None:
        """``left``: what was not reached within as many passes as there may be; empty where nothing was asked for."""
        if left and not self.exhausted:
            self.monitor.note(f"{left} was not reached: --passes allows more")
        if self.best:
            self.monitor.line(f"pass {self.best['pass']} is kept, the best on the held-out part by {self.held.title}")

    @property
    def exhausted(self) -> bool:
        return self.failures >= self.patience

    def state(self) -> JsonObject:
        """The figures as JSON data."""
        return {
            "history": list(self.history), "seconds": self.seconds, "failures": self.failures,
            "best": self.best and self.best["pass"],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Raises KeyError, ValueError."""
        require(dict(state), ProgressState, "progress")
        self.history, self.seconds, self.failures = list(state["history"]), state["seconds"], state["failures"]
        best = [entry for entry in self.history if entry["pass"] == state["best"]]
        if state["best"] is not None and not best:
            raise ValueError("its best pass")
        self.best = best[-1] if best else None


class Passes:
    """The passes that a solver makes over ``train``. ``sgd`` has the weights that they begin with.

    ``kept``: the ``state`` of the last finished pass, if it is needed for a checkpoint.
    """

    def __init__(self, config: L1Config, sgd: Sgd, train: Part, progress: Progress) -> None:
        self.config, self.sgd, self.train, self.progress = config, sgd, train, progress
        self.made, self.over = 0, False
        self.near = False  # to the optimum, as near as was asked for
        self.best: Trained | None = None
        self.kept: tuple[JsonObject, Arrays] | None = None
        self.stopped: tuple[Mapping[str, Any], Arrays] | None = None

    def run(self) -> Trained:
        """Run the passes of the configuration, or fewer; with a held-out part the model of the best pass.

        Raises DataError where there is nothing to learn from, Diverged, MemoryError, Interrupted.
        """
        if not len(self.train.rows):
            raise DataError("there is no labelled example to learn from")
        progress, monitor = self.progress, self.progress.monitor
        progress.begin()
        begun = time.perf_counter()
        self.begin()
        if self.stopped:
            self.take_up(*self.stopped)
        if self.best is None:
            self.best = self.trained()
        while self.made < self.config.most_passes and not self.over:
            going = self.make_pass()
            progress.seconds += time.perf_counter() - begun
            better = self.judge()
            best = self.trained() if better else self.best
            with monitor.update():
                self.best, self.made = best, self.made + 1
                self.over = not going or self.near or (not better and progress.exhausted)
                self.kept = self.snapshot() if monitor.saves else None
            begun = time.perf_counter()
        progress.end("" if self.over else self.goal)
        self.best.history = progress.history
        return self.best

    @property
    def goal(self) -> str:
        """What ends the passes before there are as many as there may be; empty where nothing does."""
        return ""

    def begin(self) -> None:
        """Get ready."""

    def make_pass(self) -> bool:
        """False: nothing is left to be gained."""
        raise NotImplementedError

    def judge(self) -> bool:
        """Whether the pass is the best so far; it is in the history from now on."""
        raise NotImplementedError

    def trained(self) -> Trained:
        """What the passes have come to."""
        raise NotImplementedError

    def snapshot(self) -> tuple[JsonObject, Arrays]:
        header, arrays = self.solver_state()
        header = {"made": self.made, "over": self.over, "progress": self.progress.state(), **header}
        if self.progress.held:
            best = self.best
            header["kept"] = {"passes": best.passes, "cumulative_penalty": best.cumulative_penalty}
            arrays["best"] = best.table
        return header, arrays

    def solver_state(self) -> tuple[JsonObject, Arrays]:
        """What ``take_up`` takes; arrays that will change are copied."""
        raise NotImplementedError

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Go on from a ``snapshot``. Raises KeyError, ValueError."""
        require(header["made"], Natural, "made")
        require(header["over"], bool, "over")
        self.made, self.over = header["made"], header["over"]
        self.progress.restore(header["progress"])
        if self.progress.held:
            require(header["kept"], Kept, "kept")
            table = np.array(numbers(arrays, "best", np.float64, (2, self.train.problem.weights)))
            self.best = Trained(table, header["kept"]["cumulative_penalty"], header["kept"]["passes"])
        self.check(header, arrays)
        self.stopped = header, arrays
        self.kept = dict(header), dict(arrays)

    def check(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Raises KeyError, ValueError for what ``take_up`` does not take."""
        raise NotImplementedError

    def take_up(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        raise NotImplementedError

    def vector(self, arrays: Mapping[str, Any], name: str, *rows: int) -> np.ndarray:
        """float64[rows, weights]. Raises KeyError, ValueError."""
        return np.array(numbers(arrays, name, np.float64, (*rows, self.train.problem.weights)))


class Kept(TypedDict):
    """The best pass."""

    passes: Natural
    cumulative_penalty: Double


class SgdState(TypedDict):
    """See ``vwlite.solvers.loglinear.sgd.Sgd``."""

    cumulative_penalty: Double
    passes: Natural
    number: Natural
    steps: Natural
    averaged: Natural


class StochasticPasses(Passes):
    """Each a step for every example."""

    def begin(self) -> None:
        self.sgd.begin(len(self.train.rows))

    def make_pass(self) -> bool:
        self.sgd.run_pass(self.train.problem, self.train.rows)
        return True

    def judge(self) -> bool:
        return self.progress.add(self.sgd.passes, self.sgd.weights)

    def trained(self) -> Trained:
        sgd = self.sgd
        return Trained(sgd.kept(copy=self.progress.held is not None), sgd.cumulative_penalty, sgd.passes)

    def solver_state(self) -> tuple[JsonObject, Arrays]:
        return {"sgd": {name: getattr(self.sgd, name) for name in SgdState.__annotations__}}, {
            "table": self.sgd.table.copy()
        }

    def check(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        require(header["sgd"], SgdState, "sgd")
        self.vector(arrays, "table", 2)

    def take_up(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        self.sgd.table = self.vector(arrays, "table", 2)
        for name, value in header["sgd"].items():
            setattr(self.sgd, name, value)
        self.best = self.best or self.trained()


class BatchPasses(Passes):
    """Iterations of a solver over all data, until it stops."""

    solver: OwlQn | Fista

    @property
    def goal(self) -> str:
        return f"--tolerance {self.config.improvement:g}"

    def begin(self) -> None:
        weights = self.sgd.weights
        if self.stopped:
            weights = self.vector(self.stopped[1], "weights")
        elif self.config.warm_passes:
            weights = warm_start(self.config, weights, self.train)
        self.solver = solver_of(self.config, weights, self.train, self.progress.norm)

    def make_pass(self) -> bool:
        return self.solver.iterate()

    def judge(self) -> bool:
        passes = self.sgd.passes + self.made + 1
        weights = self.solver.weights
        return self.progress.add(passes, weights, self.config.l2 / 2 * float(weights @ weights) - self.solver.smooth)

    def trained(self) -> Trained:
        table = np.zeros_like(self.sgd.table)
        table[0] = self.solver.weights
        return Trained(table, 0.0, self.sgd.passes + len(self.progress.history))

    def solver_state(self) -> tuple[JsonObject, Arrays]:
        return self.solver.state()

    def check(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        (OwlQn if self.config.solver == "owlqn" else Fista).check(header, arrays, self.train.problem.weights)

    def take_up(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        self.solver.restore(header, arrays)


class FrankWolfePasses(Passes):
    """Until the gap is small enough."""

    solver: FrankWolfe

    @property
    def goal(self) -> str:
        return "" if self.config.gap is None else f"--gap {self.config.gap:g}"

    def begin(self) -> None:
        self.solver = FrankWolfe(self.config, self.train.problem, self.train.rows)

    def make_pass(self) -> bool:
        self.solver.run_pass()
        return True

    def judge(self) -> bool:
        better = self.progress.add(self.made + 1, self.solver.weights, bound=-self.solver.dual)
        gap = self.config.gap
        self.near = gap is not None and self.progress.history[-1]["gap"] <= gap
        return better

    def trained(self) -> Trained:
        weights = self.solver.weights.copy()
        return Trained(np.stack([weights, np.zeros_like(weights)]), 0.0, self.solver.passes)

    def solver_state(self) -> tuple[JsonObject, Arrays]:
        return {}, self.solver.state()

    def check(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        FrankWolfe.check(arrays, self.train.problem)

    def take_up(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        self.solver.restore(arrays)
        self.solver.passes = self.made


def passes_of(config: L1Config, sgd: Sgd, train: Part, progress: Progress) -> Passes:
    """The passes that the options ask for."""
    if config.dual:
        return FrankWolfePasses(config, sgd, train, progress)
    return (StochasticPasses if config.solver == "sgd" else BatchPasses)(config, sgd, train, progress)


def solver_of(config: L1Config, weights: np.ndarray, train: Part, norm: Norm) -> OwlQn | Fista:
    def square(weights: np.ndarray) -> float:
        return config.l2 / 2 * float(weights @ weights)

    def function(weights: np.ndarray) -> tuple[float, np.ndarray]:
        log_likelihood, gradient = train.gradient(weights)
        return square(weights) - log_likelihood, config.l2 * weights - gradient

    if config.solver == "owlqn":
        return OwlQn(function, weights, config.strength, config.improvement)
    smooth = Smooth(lambda weights: square(weights) - train.value(weights), function)
    return Fista(smooth, weights, norm, config.strength, config.improvement)
