"""Stochastic gradient steps with an L1 penalty, or an L2 one, and the stages of a curriculum."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from vwlite._native.logistic_l1 import settle_table
from vwlite.data.shuffle import order_of
from vwlite.errors import Diverged, UsageError
from vwlite.learners.base import NO_MEMORY, UNSTABLE
from vwlite.solvers.loglinear.config import PENALTIES, RATES, L1Config
from vwlite.solvers.loglinear.examples import BREAK, LINE, Lines, sequences_of
from vwlite.solvers.loglinear.held_out import Part, usable
from vwlite.solvers.loglinear.minimisers import norm_of
from vwlite.solvers.loglinear.problems import Problem
from vwlite.training.config import CurriculumConfig
from vwlite.training.curriculum import Curriculum, StepRanking, easiest_first, fill_missing


@dataclass(slots=True)
class Stage:
    """The examples of a pass: ``places`` int64[steps] among the rows of the training part, in the order of the steps.

    ``weights``: by what the importance of each step's row is multiplied, float32[steps]; None: by 1.
    """

    places: np.ndarray
    weights: np.ndarray | None = None

    @property
    def mean_weight(self) -> float:
        return 1.0 if self.weights is None or not len(self.weights) else float(self.weights.mean(dtype=np.float64))

    def of(self, problem: Any, rows: np.ndarray) -> tuple[Problem, np.ndarray]:
        """The problem with these weights, and int64[steps], which of ``rows`` its steps take."""
        order = rows[self.places]
        if self.weights is None:
            return problem, order
        weight = problem.weight.copy()
        weight[order] *= self.weights
        return replace(problem, weight=weight), order


class Stages(Protocol):
    """The examples of the passes of a run; ``places`` int64[examples]: all of them, in the order of a pass."""

    def stage(self, number: int, places: np.ndarray) -> Stage:
        """The stage of pass ``number``, from 1."""

    def steps(self, passes: int, places: np.ndarray) -> int:
        """The number of steps of ``passes`` passes; ``places`` are the examples of the first pass."""


class Everything:
    """All examples in every pass."""

    def stage(self, number: int, places: np.ndarray) -> Stage:
        return Stage(places)

    def steps(self, passes: int, places: np.ndarray) -> int:
        return passes * len(places)


EVERYTHING = Everything()


class StagesByPass:
    """Each pass admits more of the examples, those of least ``difficulty`` first, float64[examples]."""

    def __init__(
        self, config: CurriculumConfig, difficulty: np.ndarray, seed: int, passes: int, note: Callable[[str], None]
    ) -> None:
        """``passes``: most that there are; ``note`` hears what each is made of."""
        order, self.passes = easiest_first(config, difficulty, seed), passes
        self.noted, self.silent = (Curriculum(config, order, seed, tell) for tell in (note, no_note))

    def stage(self, number: int, places: np.ndarray) -> Stage:
        admitted = self.noted.admitted(number, self.passes, None)
        taken = np.zeros(len(places), bool)
        taken[admitted.rows] = True
        places = places[taken[places]]
        return Stage(places, None if admitted.weights is None else admitted.weights[places])

    def steps(self, passes: int, places: np.ndarray) -> int:
        return sum(len(self.silent.admitted(number, self.passes, None).rows) for number in range(1, passes + 1))


class StagesWithin:
    """Stages within the first pass: its share grows after every N examples, which are ranked among themselves."""

    def __init__(
        self, config: CurriculumConfig, difficulty: np.ndarray, seed: int, note: Callable[[str], None]
    ) -> None:
        """As of ``StagesByPass``."""
        self.config, self.difficulty, self.seed, self.note = config, difficulty, seed, note

    def stage(self, number: int, places: np.ndarray) -> Stage:
        return self.first(places, self.note) if number == 1 else Stage(places)

    def steps(self, passes: int, places: np.ndarray) -> int:
        return len(self.first(places, no_note).places) + (passes - 1) * len(places)

    def first(self, places: np.ndarray, note: Callable[[str], None]) -> Stage:
        ranking, size, begin = StepRanking(self.config, self.seed, note), int(self.config.steps or 0), 0
        taken, weights = [], []
        while ranking.share < 1 and begin < len(places):
            step = places[begin : begin + size]
            admitted = ranking.admit(self.difficulty[step])
            taken.append(step[admitted.rows])
            weights.append(np.ones(len(step), np.float32) if admitted.weights is None else admitted.weights)
            weights[-1] = weights[-1][admitted.rows]
            begin += size
        if taken:
            ranking.report_all_admitted()
        rest = places[begin:]
        return Stage(
            np.concatenate([*taken, rest]),
            None if self.config.weights == "step" else np.concatenate([*weights, np.ones(len(rest), np.float32)]),
        )


def no_note(text: str) -> None:
    """For what is looked at ahead."""


def check_curriculum(config: L1Config, curriculum: CurriculumConfig) -> None:
    """Raises UsageError for a curriculum that does not go with what is learned, or how."""
    if not curriculum.order:
        return
    if config.dual:
        raise UsageError(
            "--curriculum does not go with --loss margin --l2, which needs the same examples in every pass: drop it, "
            "or take --l1 in place of --l2"
        )
    if config.solver != "sgd":
        raise UsageError(
            f"--curriculum does not go with --solver {config.solver}, which needs the same examples in every pass: "
            "drop one of the two"
        )
    curriculum.check_passes(config.most_passes)
    if config.words and curriculum.needs_numbers:
        raise UsageError(
            f"--curriculum-by {curriculum.by} needs labels that are numbers; with --model {config.model} take length, "
            "rarest or value:NAMESPACE"
        )


def stages_of(
    config: L1Config, curriculum: CurriculumConfig, difficulty: np.ndarray, note: Callable[[str], None]
) -> Stages:
    """The stages for difficulties of the training part, float64[examples], NaN where one has no such namespace.
    Raises UsageError where none has."""
    fill_missing(difficulty, curriculum.by, note, "sequences" if config.sequences else "lines")
    if curriculum.by_pass:
        return StagesByPass(curriculum, difficulty, config.seed, config.most_passes, note)
    return StagesWithin(curriculum, difficulty, config.seed, note)


def difficulty_of(config: L1Config, by: str, values: np.ndarray, lines: Lines) -> np.ndarray:
    """float64[examples] of the problem that ``split`` makes of ``lines``, whose difficulties are ``values``.

    A sequence is as long as its lines are many, as hard as its hardest by ``rarest``, and has the sum of their values.
    """
    if config.model == "binary":
        return values[usable(lines)]
    values = values[lines.kind[lines.kind != BREAK] == LINE]
    if not config.sequences or not len(values):
        return values
    sequence = sequences_of(lines.kind)
    if by == "length":
        return np.diff(sequence).astype(float)
    if by == "rarest":
        return np.maximum.reduceat(values, sequence[:-1])
    summed = np.add.reduceat(np.nan_to_num(values), sequence[:-1])
    return np.where(np.logical_and.reduceat(np.isnan(values), sequence[:-1]), np.nan, summed)


CHUNK = 1 << 14  # steps between looks at signals


@dataclass(slots=True)
class Schedule:
    """Step sizes and penalties of one pass, in the words of ``cython_ext/solvers/l1_penalties.pxd``."""

    penalty: int
    rate: int
    start: float
    decay: float
    begin: float  # passes before
    examples: float  # of the pass
    share: float  # C / N, or lambda / N, of a step
    cumulative_penalty: float  # u
    mean_begins: float  # update of the pass that the mean begins with; infinite: there is no mean


class Sgd:
    """``table`` float64[2, weights]: weights, and what they remember of penalties; ``cumulative_penalty`` is u_k."""

    def __init__(
        self,
        config: L1Config,
        table: np.ndarray,
        cumulative_penalty: float = 0.0,
        passes: int = 0,
        stages: Stages = EVERYTHING,
    ) -> None:
        self.config, self.table, self.cumulative_penalty, self.passes = config, table, cumulative_penalty, passes
        self.stages = stages
        self.number, self.steps = 0, 0  # passes and steps since ``begin``
        self.before_mean, self.averaged = 0, 0  # steps before the mean, in it

    def begin(self, examples: int) -> None:
        """The passes begin, over a number of examples."""
        config = self.config
        if config.penalty_applied == "none":
            self.table[1] = 0
        if config.averaged:
            self.before_mean = config.steps_before_mean(self.stages.steps(config.most_passes, self.places(examples)))

    def places(self, examples: int) -> np.ndarray:
        """int64[examples], in the order of the next pass."""
        if self.config.shuffle:
            return order_of(examples, self.config.seed, self.passes)
        return np.arange(examples, dtype=np.int64)

    @property
    def weights(self) -> np.ndarray:
        """float64[weights]: the very ones, or their mean."""
        return self.table[0] - self.table[1] / self.averaged if self.averaged else self.table[0]

    def kept(self, *, copy: bool = False) -> np.ndarray:
        """float64[2, weights]: the table that a model has; of a mean that and the last weights."""
        if self.config.averaged:
            return np.stack([self.weights, self.table[0]])
        return self.table.copy() if copy else self.table

    @property
    def penalty_code(self) -> int:
        config = self.config
        if config.l2:
            return len(PENALTIES) + 1
        return len(PENALTIES) if config.group else PENALTIES.index(config.penalty_applied)

    def schedule(self, steps: int, share: float) -> Schedule:
        """The schedule of a pass of ``steps`` steps, each with ``share`` of the penalty."""
        config = self.config
        return Schedule(
            self.penalty_code,
            RATES.index(config.rate),
            config.initial_learning_rate,
            config.decay,
            float(self.passes),
            float(steps),
            share,
            self.cumulative_penalty,
            float(self.before_mean - self.steps) if config.averaged else math.inf,
        )

    def run_pass(self, problem: Problem, rows: np.ndarray) -> None:
        """A step for each of ``rows``, int64[examples], that takes part; in the end every weight receives what is
        outstanding.

        Raises Diverged, MemoryError.
        """
        self.number += 1
        stage = self.stages.stage(self.number, self.places(len(rows)))
        problem, order = stage.of(problem, rows)
        share = (self.config.l2 or self.config.strength) / len(rows) * stage.mean_weight
        for first in range(0, len(order), CHUNK):
            schedule = self.schedule(len(order), share)
            last = min(first + CHUNK, len(order))
            status, self.cumulative_penalty = problem.steps(self.table, order, schedule, first, last)
            if status == NO_MEMORY:
                raise MemoryError("a sequence is too long for the memory there is")
            if status == UNSTABLE:
                raise Diverged(self.sentence())
        self.settle(problem, self.schedule(max(len(order), 1), share))
        if not np.isfinite(self.table).all():
            raise Diverged(self.sentence())
        self.passes += 1
        self.steps += len(order)
        self.averaged = max(0, self.steps - self.before_mean) if self.config.averaged else 0

    def settle(self, problem: Problem, schedule: Schedule) -> None:
        """Apply the outstanding penalties at the end."""
        if not self.config.group:
            settle_table(self.table, schedule)
            return
        weights, memory = self.table
        unpenalised = weights - memory
        weights[:] = norm_of(self.config, problem).shrunk(unpenalised, schedule.cumulative_penalty)
        memory[:] = weights - unpenalised

    def sentence(self) -> str:
        return (
            f"pass {self.passes + 1}: the weights are not finite numbers; "
            "try a smaller learning rate (-l) or scale the features"
        )


def warm_start(config: L1Config, weights: np.ndarray, part: Part) -> np.ndarray:
    """Return the weights that a batch solver begins with, float64[n]: those that ``config.warm_passes`` make of
    ``weights`` at the rates of ``--solver sgd``; ``weights`` where the objective is no better there, or they diverge.
    """
    l2 = 0.0 if config.l1 else config.l2
    steps = replace(config, solver="sgd", passes=config.warm_passes, tolerance=None, warm_passes=0, l2=l2)
    sgd = Sgd(steps, np.stack((weights, np.zeros_like(weights))))
    sgd.begin(len(part.rows))
    try:
        for _ in range(config.warm_passes):
            sgd.run_pass(part.problem, part.rows)
    except Diverged:
        return weights

    def cost(weights: np.ndarray) -> float:
        penalty = config.strength * float(np.abs(weights).sum()) + config.l2 / 2 * float(weights @ weights)
        return penalty - part.value(weights)

    return min(weights, sgd.weights, key=cost)
