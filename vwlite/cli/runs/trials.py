"""A trial of ``vwlite tune``: a command that learns and ``vwlite evaluate``, as functions of this process."""

import gc
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event, Lock

from vwlite.cli.root import sentence_of
from vwlite.cli.runs import tuned
from vwlite.errors import DataError
from vwlite.evaluation.config import TuneConfig
from vwlite.evaluation.tuning import Outcome, Trial, TrialFailed
from vwlite.interrupts import SIGINT, Guard, Interrupted


class Halt(Guard):
    """Stops trials in other threads: signals are heard by the main one alone, and kernels need not hear them."""

    def __init__(self) -> None:
        self.event = Event()

    def check(self) -> None:
        if self.event.is_set():
            raise Interrupted(SIGINT)


class TrialRunner:
    """Trains and measures; keeps the best model, ``model``.

    Every score is that of one training from the start: not all learners go on as if they had never stopped. Trials of
    different threads share nothing but the data and the table of the best.
    """

    def __init__(
        self, folder: Path, files: list[str], fixed: list[str], config: TuneConfig, tell: Callable[[str], None]
    ) -> None:
        self.folder, self.files, self.tests, self.fixed = folder, files, list(config.tests), fixed
        self.metric, self.scheme, self.command = config.metric, config.scheme, config.command
        self.tell, self.counting = tell, ""
        self.model = str(folder / "best.model")
        self.best: Outcome | None = None
        self.choosing = Lock()
        self.halt = Halt()

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """What ends the block with an error ends the trials that still run."""
        try:
            yield
        except BaseException:
            self.halt.event.set()
            raise

    def run(self, trial: Trial, passes: int) -> float:
        """Raises TrialFailed, with what the command would say, when it fails or the metric is no number."""
        model = str(self.folder / f"{trial.number}-{passes}.model")
        words = [*self.files, *self.fixed, *trial.options, *tuned.length(self.command, passes)]
        failed, score = None, None
        try:
            self.train([*words, "-f", model, "--quiet", "--threads", "1"])
            self.halt.check()
            score, counting = tuned.score(model, self.tests, self.metric, self.scheme)
            self.tell_counting(counting)
        except Exception as error:
            failed = failure(error)
        if failed:
            gc.collect()  # the error's frames hold the tables of the run, in circles
            raise failed
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise TrialFailed(f"{self.metric} is {score}", DataError.exit_code)
        self.keep(model, Outcome.of(self.metric, float(score), passes, trial.number))
        return float(score)

    def tell_counting(self, counting: str) -> None:
        """Once: what a guess makes of the labels is the same for all trials."""
        with self.choosing:
            if counting and not self.counting:
                self.tell(f"note: {self.metric} is that of phrases ({counting})")
                self.counting = counting

    def train(self, words: list[str]) -> None:
        tuned.train(self.command, words, partial(nullcontext, self.halt))

    def keep(self, model: str, outcome: Outcome) -> None:
        with self.choosing:
            if self.best is None or outcome < self.best:
                self.best = outcome
                os.replace(model, self.model)
            else:
                os.unlink(model)


def failure(error: Exception) -> TrialFailed:
    """What the command would have ended with."""
    try:
        line, status = sentence_of(error)
    except Exception:
        return TrialFailed(f"{type(error).__name__}: {error}", 1)
    return TrialFailed(f"vwlite: {line}", status)
