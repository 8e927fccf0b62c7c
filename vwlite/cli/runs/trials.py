"""A trial of ``vwlite tune``: ``vwlite train`` and ``vwlite evaluate``, as functions of this process."""

import gc
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import Any

import click

from vwlite.api.configs import available_cores
from vwlite.api.option_rules import check_effects
from vwlite.api.train_files import silent, train_files
from vwlite.cli import build
from vwlite.cli.files import guard
from vwlite.cli.root import cli, sentence_of
from vwlite.cli.runs.answers import to_measure
from vwlite.cli.train import command as train_command
from vwlite.data.config import BadLinesConfig, InputConfig, kind_by_name
from vwlite.evaluation.measure import measure
from vwlite.evaluation.metric_report import finite
from vwlite.evaluation.tuning import Outcome, Trial
from vwlite.interrupts import SIGINT, Guard, Interrupted
from vwlite.training.config import RunConfig
from vwlite.training.display import Display
from vwlite.training.output_config import OutputConfig
from vwlite.training.start import start


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

    def __init__(self, folder: Path, files: list[str], tests: list[str], fixed: list[str], metric: str) -> None:
        self.folder, self.files, self.tests, self.fixed, self.metric = folder, files, tests, fixed, metric
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
        """Raises RuntimeError, with what the command would say, when it fails or the metric is no number."""
        model = str(self.folder / f"{trial.number}-{passes}.model")
        words = [*self.files, *self.fixed, *trial.options, "--passes", str(passes), "--holdout_off"]
        reason, score = "", None
        try:
            self.train([*words, "-f", model, "--quiet", "--threads", "1"])
            score = self.score_of(model)
        except Exception as error:
            reason = failure(error)
        if reason:
            gc.collect()  # the error's frames hold the tables of the run, in circles
            raise RuntimeError(reason)
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise RuntimeError(f"{self.metric} is {score}")
        self.keep(model, Outcome.of(self.metric, float(score), passes, trial.number))
        return float(score)

    def train(self, words: list[str]) -> None:
        with train_command.make_context("train", words, parent=click.Context(cli, info_name="vwlite")) as context:
            guard(context)
            arguments, typed, options = context.params, build.typed(), build.declared()
        check_effects(typed, options)
        interrupts = partial(nullcontext, self.halt)
        train_files(arguments, typed, options, say=silent, display=lambda output: Display(), interrupts=interrupts)

    def score_of(self, path: str) -> Any:
        self.halt.check()
        input = InputConfig(tuple(self.tests), kind_by_name(self.tests), threads=available_cores())
        run = RunConfig(input=input, output=OutputConfig(quiet=True), learning=False)
        config, model = start(run, path, to_measure(path))
        config = build.read_alike(config, model)
        return finite(measure(config, model, BadLinesConfig(), asked=self.metric, quiet=True))[self.metric]

    def keep(self, model: str, outcome: Outcome) -> None:
        with self.choosing:
            if self.best is None or outcome < self.best:
                self.best = outcome
                os.replace(model, self.model)
            else:
                os.unlink(model)


def failure(error: Exception) -> str:
    """The line that the command would have ended with."""
    try:
        return f"vwlite: {sentence_of(error)[0]}"
    except Exception:
        return f"{type(error).__name__}: {error}"
