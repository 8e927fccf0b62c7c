"""A search for options: random points; the best third of them is tried again with three times as many passes.

The defaults are tried with every number of passes as well. The result is the best of all trials.
"""

import math
import random
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vwlite.errors import ExtraMissing, UsageError, VwliteError
from vwlite.evaluation.metric_table import TABLE, row_of
from vwlite.options import DECIMAL, WHOLE
from vwlite.training.listener import Steps, no_steps

REDUCTION = 3  # one trial of this number goes on, with this number times the passes


def better_when_larger(metric: str) -> bool:
    """Raises UsageError for what is neither better nor worse when there is more of it."""
    row = row_of(metric)
    if row is None or row.larger is None:
        known = ", ".join(row.name for row in TABLE if row.larger is not None)
        raise UsageError(f"--metric {metric} does not say which of two models is better: take one of {known}")
    return row.larger


@dataclass(frozen=True, slots=True)
class Dimension:
    """``option values``, the option with or without dashes.

    Values are ``low..high`` (whole numbers stay whole; others are drawn by their logarithm if above 0), or ``a|b|c``.

    The choice ``off`` leaves the option out, ``on`` is a flag without a value.
    """

    option: str
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    whole: bool = False

    @classmethod
    def read(cls, text: str) -> "Dimension":
        """Raises UsageError."""
        words = text.split()
        if len(words) == 2 and words[0].strip("-"):
            if not words[0].startswith("-"):
                words[0] = ("-" if len(words[0]) == 1 else "--") + words[0]
            if match := re.fullmatch(rf"({DECIMAL})\.\.({DECIMAL})", words[1]):
                low, high = float(match[1]), float(match[2])
                whole = all(re.fullmatch(WHOLE, part) for part in match.groups())
                if low < high:
                    return cls(words[0], low=low, high=high, whole=whole)
            elif choices := tuple(filter(None, words[1].split("|"))):
                return cls(words[0], choices)
        raise UsageError(f"--vary takes an option and its values, like '-l 0.01..10' or '-b 18|22', not {text!r}")

    @property
    def logarithmic(self) -> bool:
        return self.low > 0 and not self.whole

    def draw(self, rng: random.Random) -> str | float:
        if self.choices:
            return rng.choice(self.choices)
        if self.whole:
            return rng.randint(int(self.low), int(self.high))
        if self.logarithmic:
            return math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        return rng.uniform(self.low, self.high)

    def words(self, value: str | float) -> list[str]:
        """The words of a command line for a value of this dimension."""
        if value in ("on", "off"):
            return [self.option] if value == "on" else []
        return [self.option, f"{value:.4g}" if isinstance(value, float) else str(value)]


class TrialFailed(VwliteError):
    """A trial without a score; ``exit_code`` is what its command ends with."""

    def __init__(self, reason: str, exit_code: int) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


@dataclass
class Trial:
    """A point of the space; ``scores`` and ``failures`` by passes made."""

    number: int
    options: list[str]
    scores: dict[int, float] = field(default_factory=dict)
    failures: dict[int, TrialFailed] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return shlex.join(self.options) or "the defaults"

    @property
    def failure(self) -> TrialFailed | None:
        """The first."""
        return self.failures[min(self.failures)] if self.failures else None


class Outcome(NamedTuple):
    """An outcome. The least is the best; of equal ones the one with fewer passes, then the defaults."""

    loss: float  # the score; negative where more is better
    passes: int
    number: int  # of the trial

    @classmethod
    def of(cls, metric: str, score: float, passes: int, number: int) -> "Outcome":
        return cls(-score if better_when_larger(metric) else score, passes, number)


def draw(dimensions: Sequence[Dimension], count: int, seed: int) -> list[Trial]:
    """Different points, as many as there are up to ``count``; none is the defaults."""
    rng, seen, trials = random.Random(seed), {()}, []
    for _ in range(20 * count):
        options = [word for dimension in dimensions for word in dimension.words(dimension.draw(rng))]
        if tuple(options) not in seen and len(trials) < count:
            seen.add(tuple(options))
            trials.append(Trial(len(trials) + 1, options))
    return trials


def passes_of_rungs(trials: int, passes: int) -> list[int]:
    """Passes of each rung: the last has all, the first few enough to begin with."""
    steps = [passes]
    while steps[0] >= REDUCTION and trials >= REDUCTION ** len(steps):
        steps.insert(0, steps[0] // REDUCTION)
    return steps


Run = Callable[[Trial, int], float]  # the score of a trial trained for a number of passes


@dataclass
class Search:
    """Successive halving (Jamieson and Talwalkar, 2016) by thirds.

    ``points`` are ``count`` trials in portions; the next is asked for when those before it have their first scores.
    """

    points: Iterable[list[Trial]]
    count: int
    passes: int
    metric: str
    run: Run
    mapped: Callable[[Callable[[tuple[Trial, int]], Any], list[tuple[Trial, int]]], Any] = map
    say: Callable[[str], None] = lambda line: None
    steps: Steps = no_steps  # trials, and passes of each

    def __post_init__(self) -> None:
        self.defaults = Trial(0, [])
        self.trials = [self.defaults]

    def best(self) -> tuple[Trial, int]:
        """The trial and the passes that gave the best score of all. Raises TrialFailed when all points failed."""
        left = self.first_rung()
        for step in passes_of_rungs(self.count, self.passes)[1:]:
            self.attempt([(trial, step) for trial in left])
            left = self.better(left, step)
            if not left:
                break
        _, passes, number = min(self.outcome(trial, step) for trial in self.trials for step in trial.scores)
        self.tell(self.trials[number], passes)
        return self.trials[number], passes

    def outcome(self, trial: Trial, passes: int) -> Outcome:
        return Outcome.of(self.metric, trial.scores[passes], passes, trial.number)

    def first_rung(self) -> list[Trial]:
        """Scores for the defaults, with any number of passes, and for all points; the better of these."""
        steps = passes_of_rungs(self.count, self.passes)
        attempts = [(self.defaults, step) for step in sorted({1, *steps}, reverse=True)]
        for portion in self.points:
            self.trials += portion
            self.attempt([*attempts, *((trial, steps[0]) for trial in portion)])
            attempts = []
        points = self.trials[1:]
        failures = [trial.failure for trial in points if trial.failure]
        if len(failures) == len(points):
            raise TrialFailed(f"every trial failed; the first: {failures[0]}", failures[0].exit_code)
        return self.better(points, steps[0])

    def attempt(self, wanted: list[tuple[Trial, int]]) -> None:
        def attempt_one(attempt: tuple[Trial, int]) -> None:
            trial, passes = attempt
            try:
                trial.scores[passes] = self.run(trial, passes)
            except TrialFailed as error:
                trial.failures[passes] = error.with_traceback(None)

        self.steps(0, len(wanted))
        for done, _ in enumerate(self.mapped(attempt_one, wanted), 1):
            self.steps(done, len(wanted))

    def better(self, trials: list[Trial], passes: int) -> list[Trial]:
        """The third that goes on."""
        alive = [trial for trial in trials if passes in trial.scores]
        failed = [trial for trial in trials if passes in trial.failures]
        line = f"{count_of(passes)}: {len(alive)} trial{'s' * (len(alive) != 1)}"
        alive.sort(key=lambda trial: self.outcome(trial, passes))
        if alive:
            line += f", best {self.metric} {alive[0].scores[passes]:.6g} with {alive[0].text}"
        if failed:
            line += f"; {len(failed)} failed, the first: {failed[0].failures[passes]}"
        self.say(line)
        return alive[: max(len(alive) // REDUCTION, 1)]

    def tell(self, best: Trial, passes: int) -> None:
        scores, failure = sorted(self.defaults.scores.items()), self.defaults.failure
        given = ", ".join(f"{score:.6g} after {count_of(step)}" for step, score in scores) or f"no score: {failure}"
        if best is self.defaults:
            self.say(f"nothing did better than the defaults: {self.metric} {given}")
        else:
            self.say(f"best {self.metric} {best.scores[passes]:.6g} after {count_of(passes)} with {best.text}")
            self.say(f"the defaults: {self.metric} {given}")


def count_of(passes: int) -> str:
    return "1 pass" if passes == 1 else f"{passes} passes"


BATCH_SIZE = 4  # trials asked for at once, independent of the number of jobs so that results are too


def propose_trials(dimensions: Sequence[Dimension], count: int, seed: int, metric: str) -> Iterator[list[Trial]]:
    """``count`` trials, a portion at a time; each portion follows from the first scores of those before it.

    Raises ExtraMissing.
    """
    try:
        import optuna
    except ImportError:
        raise ExtraMissing("--sampler tpe needs optuna: pip install 'vwlite[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    direction = "maximize" if better_when_larger(metric) else "minimize"
    study = optuna.create_study(direction=direction, sampler=optuna.samplers.TPESampler(seed=seed))
    space = {str(number): distribution(optuna, dimension) for number, dimension in enumerate(dimensions)}
    return _portions(study, space, dimensions, count)


def distribution(optuna: Any, dimension: Dimension) -> Any:
    if dimension.choices:
        return optuna.distributions.CategoricalDistribution(dimension.choices)
    if dimension.whole:
        return optuna.distributions.IntDistribution(int(dimension.low), int(dimension.high))
    return optuna.distributions.FloatDistribution(dimension.low, dimension.high, log=dimension.logarithmic)


def _portions(
    study: Any, space: Mapping[str, object], dimensions: Sequence[Dimension], count: int
) -> Iterator[list[Trial]]:
    taken = 0
    while taken < count:
        asked = [study.ask(space) for _ in range(min(BATCH_SIZE, count - taken))]
        trials = []
        for index, question in enumerate(asked):
            values = [question.params[name] for name in space]
            words = [word for d, value in zip(dimensions, values, strict=True) for word in d.words(value)]
            trials.append(Trial(taken + index + 1, words))
        yield trials
        for question, trial in zip(asked, trials, strict=True):
            score = next(iter(trial.scores.values()), None)
            study.tell(question, score, state=None if score is not None else _failed())
        taken += len(asked)


def _failed() -> Any:
    from optuna.trial import TrialState

    return TrialState.FAIL
