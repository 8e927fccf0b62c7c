"""What ``vwlite tune`` does: processes of ``vwlite train`` and ``vwlite evaluate``, and a table of what they found."""

import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import vwlite
from vwlite.api import configs
from vwlite.cli.console import say
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.handed import check_varied, read_fixed
from vwlite.data.blocks import check_inputs
from vwlite.errors import UsageError
from vwlite.evaluation.config import TuneConfig
from vwlite.evaluation.metric_table import canonical
from vwlite.evaluation.tuning import Dimension, Outcome, Search, Trial, better_when_larger, draw
from vwlite.storage.atomic_file import atomic_copy

PYTHON = (sys.executable, "-P", "-m", "vwlite")  # -P: the current folder is no place to import from
OF_LOSS = ("--loss_function", "--quantile_tau", "--expectile_q", "--lp_power", "--loss_scale")


def run(arguments: dict[str, Any]) -> int:
    config = TuneConfig(**configs.chosen(TuneConfig, arguments))
    config = replace(config, metric=canonical(config.metric))
    files = list(arguments["files"])
    if not files or "-" in files or "-" in config.tests:
        raise UsageError("tune reads its data many times: name files, not standard input")
    fixed = read_fixed(config.fixed)
    points, count = points_of(config)
    better_when_larger(config.metric)  # or it is refused before anything is tried
    check_inputs((*files, *config.tests))
    jobs = config.jobs or configs.available_cores()
    tell = (lambda line: None) if arguments["quiet"] else say
    with tempfile.TemporaryDirectory(prefix="vwlite-tune-") as folder, ThreadPoolExecutor(max(jobs, 1)) as pool:
        bench = TrialRunner(Path(folder), files, list(config.tests), fixed, config.metric)
        search = Search(points, count, config.passes, config.metric, bench.run, pool.map, tell)
        best, passes = search.best()
        if arguments["model"]:
            atomic_copy(bench.model, arguments["model"])
    if arguments["json_path"]:
        found = {"metric": config.metric, "best": best.number, "passes": passes, "score": best.scores[passes]}
        write_json(arguments["json_path"], {**found, "trials": [entry(trial) for trial in search.trials]})
    if arguments["json_path"] != "-":
        words = ["vwlite", "train", *files, *fixed, *best.options, "--passes", str(passes), "--holdout_off"]
        print(shlex.join([*words, "-f", arguments["model"] or "model"]))
    return 0


def entry(trial: Trial) -> dict[str, Any]:
    scores = dict(sorted(trial.scores.items()))
    return {"trial": trial.number, "options": shlex.join(trial.options), "scores": scores, "failure": trial.failure}


def points_of(config: TuneConfig) -> tuple[Iterable[list[Trial]], int]:
    """The points to try, and how many. Raises UsageError, ExtraMissing."""
    dimensions = [Dimension.read(text) for text in config.vary]
    for option in (dimension.option for dimension in dimensions):
        check_varied(option)
        if config.metric == "loss" and spelled(option) in OF_LOSS:
            raise UsageError(f"--vary: losses of different {option} do not compare; measure by another --metric")
    if config.sampler == "random":
        trials = draw(dimensions, config.trials, config.seed)
        if not trials:
            raise UsageError("--vary leaves nothing to try but the defaults: give an option more than one value")
        return [trials], len(trials)
    from vwlite.evaluation.estimation import estimated

    return estimated(dimensions, config.trials, config.seed, config.metric), config.trials


def spelled(option: str) -> str:
    """``-`` within a long option's name is ``_``."""
    return "--" + option[2:].replace("-", "_") if option.startswith("--") else option


class TrialRunner:
    """Trains and measures; keeps the best model, ``model``.

    Every score is that of one training from the start: not all learners go on as if they had never stopped.
    """

    def __init__(self, folder: Path, files: list[str], tests: list[str], fixed: list[str], metric: str) -> None:
        self.folder, self.files, self.tests, self.fixed, self.metric = folder, files, tests, fixed, metric
        self.model = str(folder / "best.model")
        self.best: Outcome | None = None
        self.choosing = Lock()

    def run(self, trial: Trial, passes: int) -> float:
        """Raises RuntimeError when a process fails or the metric is no number."""
        model = str(self.folder / f"{trial.number}-{passes}.model")
        learn = ["train", *self.files, *self.fixed, *trial.options, "--passes", str(passes), "--holdout_off"]
        call([*learn, "-f", model, "--quiet", "--threads", "1"])
        measure = ["evaluate", "-i", model, *self.tests, "--metric", self.metric]
        score = json.loads(call([*measure, "--json", "-", "--quiet"]))[self.metric]
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise RuntimeError(f"{self.metric} is {score}")
        self.keep(model, Outcome.of(self.metric, float(score), passes, trial.number))
        return float(score)

    def keep(self, model: str, outcome: Outcome) -> None:
        with self.choosing:
            if self.best is None or outcome < self.best:
                self.best = outcome
                os.replace(model, self.model)
            else:
                os.unlink(model)


def call(arguments: list[str]) -> str:
    """What a process of its own prints. Raises RuntimeError with the last of what it says when it fails."""
    done = subprocess.run([*PYTHON, *arguments], capture_output=True, text=True, env=environment())
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}")
    return done.stdout


def environment() -> dict[str, str]:
    """In which the same package and libraries are found as here, and none in the current folder, beside the data."""
    package = str(Path(vwlite.__file__).resolve().parent.parent)
    places = [place for place in sys.path if os.path.isabs(place)]
    if package not in places:
        places.insert(0, package)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
