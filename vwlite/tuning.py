"""Searching options: random points of a space, the better third of which goes on with three times as many passes."""

import math
import random
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vwlite.errors import UsageError

LARGER = frozenset({"accuracy", "auc", "r2", "macro_f1", "map", "micro_f1"})  # metrics of which more is better
KEPT = 3  # one in so many goes on, with so many times the passes
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


def better_when_larger(metric: str) -> bool:
    return metric in LARGER or metric.startswith("ndcg")


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
            if match := re.fullmatch(rf"({NUMBER})\.\.({NUMBER})", words[1]):
                low, high = float(match[1]), float(match[2])
                whole = all(re.fullmatch(r"[+-]?\d+", part) for part in match.groups())
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
        """Of a command line, for a value of this dimension."""
        if value in ("on", "off"):
            return [self.option] if value == "on" else []
        return [self.option, f"{value:.4g}" if isinstance(value, float) else str(value)]


@dataclass
class Trial:
    """A point of the space; ``scores`` by passes made."""

    number: int
    options: list[str]
    passes: int = 0
    scores: dict[int, float] = field(default_factory=dict)
    failure: str = ""

    @property
    def text(self) -> str:
        return shlex.join(self.options)


def draw(dimensions: Sequence[Dimension], count: int, seed: int) -> list[Trial]:
    """Different points, as many as there are up to ``count``."""
    rng, seen, trials = random.Random(seed), set(), []
    for _ in range(20 * count):
        options = [word for dimension in dimensions for word in dimension.words(dimension.draw(rng))]
        if tuple(options) not in seen and len(trials) < count:
            seen.add(tuple(options))
            trials.append(Trial(len(trials) + 1, options))
    return trials


def rungs(trials: int, passes: int) -> list[int]:
    """Passes made in all by the end of each rung: the last has all, the first few enough to begin with."""
    steps = [passes]
    while steps[0] >= KEPT and trials >= KEPT ** len(steps):
        steps.insert(0, steps[0] // KEPT)
    return steps


Run = Callable[[Trial, int], float]  # brings a trial to so many passes; its score


def search(
    points: Iterable[list[Trial]],
    count: int,
    passes: int,
    metric: str,
    run: Run,
    mapped: Callable[[Callable[[Trial], Any], list[Trial]], Any] = map,
    say: Callable[[str], None] = lambda line: None,
) -> Trial:
    """Successive halving (Jamieson and Talwalkar, 2016) by thirds. Raises UsageError when every trial failed.

    ``points`` are ``count`` trials in portions; the next is asked for when those before it have their first scores.
    """
    sign = -1 if better_when_larger(metric) else 1
    left: list[Trial] = []
    steps = rungs(count, passes)
    for place, step in enumerate(steps):

        def attempt(trial: Trial, step: int = step) -> None:
            try:
                trial.scores[step] = run(trial, step)
                trial.passes = step
            except RuntimeError as error:
                trial.failure = str(error)

        for portion in [left] if place else points:
            for _ in mapped(attempt, portion):
                pass
            left = left if place else [*left, *portion]
        alive = [trial for trial in left if not trial.failure]
        if not alive:
            raise UsageError(f"every trial failed; the first: {left[0].failure}")
        left = sorted(alive, key=lambda trial: (sign * trial.scores[step], trial.number))
        best = left[0]
        say(f"{step} passes: {len(alive)} trials, best {metric} {best.scores[step]:.6g} with {best.text}")
        if place + 1 < len(steps):
            left = left[: max(len(left) // KEPT, 1)]
    return left[0]
