"""What ``vwlite tune`` does: trials in threads, and what they found."""

import shlex
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from vwlite.cli import build
from vwlite.cli.console import Bar
from vwlite.cli.files import guard
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.handed import OF_DATA, check_varied, models_in, read_fixed
from vwlite.cli.runs.trials import TrialRunner
from vwlite.cli.runs.tuned import length
from vwlite.data.blocks import check_inputs
from vwlite.data.config import available_cores
from vwlite.errors import UsageError
from vwlite.evaluation.config import TuneConfig
from vwlite.evaluation.metric_table import canonical
from vwlite.evaluation.tuning import Dimension, Search, Trial, better_when_larger, draw
from vwlite.options import fields_of
from vwlite.storage.atomic_file import atomic_copy

OF_LOSS = ("--loss_function", "--quantile_tau", "--expectile_q", "--lp_power", "--loss_scale", "--tube")


def run(arguments: dict[str, Any]) -> int:
    config = TuneConfig(**fields_of(TuneConfig, arguments))
    config = replace(config, metric=canonical(config.metric))
    if config.scheme and (config.command, config.metric) != ("l1", "f1"):
        raise UsageError("--scheme is of phrases: it does nothing without --command l1 --metric f1")
    files = list(arguments["files"])
    if not files or "-" in files or "-" in config.tests:
        raise UsageError("tune reads its data many times: name files, not standard input")
    of_data = {name: value for name, value in build.typed().items() if name in OF_DATA}
    fixed = read_fixed(config.fixed, of_data, config.command)
    dimensions = [Dimension.read(text) for text in config.vary]
    guard(click.get_current_context(), models_in(fixed, dimensions, config.command))
    points, count = points_of(config, dimensions)
    better_when_larger(config.metric)  # or it is refused before anything is tried
    check_inputs((*files, *config.tests))
    jobs = config.jobs or available_cores()
    bar = Bar(arguments["quiet"], to_stdout=False)
    tell = (lambda line: None) if arguments["quiet"] else bar.message
    with (
        closing(bar),
        tempfile.TemporaryDirectory(prefix="vwlite-tune-") as folder,
        ThreadPoolExecutor(max(jobs, 1)) as pool,
    ):
        bench = TrialRunner(Path(folder), files, fixed, config, tell)
        search = Search(points, count, config.passes, config.metric, bench.run, pool.map, tell, bar.steps("trials"))
        with bench.stopping():
            best, passes = search.best()
        if arguments["model"]:
            atomic_copy(bench.model, arguments["model"])
    if arguments["json_path"]:
        found = {"metric": config.metric, "best": best.number, "passes": passes, "score": best.scores[passes]}
        write_json(arguments["json_path"], {**found, "trials": [entry(trial) for trial in search.trials]})
    if arguments["json_path"] != "-":
        words = ["vwlite", config.command, *files, *fixed, *best.options, *length(config.command, passes)]
        print(shlex.join([*words, "-f", arguments["model"] or "model"]))
    return 0


def entry(trial: Trial) -> dict[str, Any]:
    scores, failure = dict(sorted(trial.scores.items())), str(trial.failure or "")
    return {"trial": trial.number, "options": shlex.join(trial.options), "scores": scores, "failure": failure}


def points_of(config: TuneConfig, dimensions: list[Dimension]) -> tuple[Iterable[list[Trial]], int]:
    """The points to try, and how many. Raises UsageError, ExtraMissing."""
    for option in (dimension.option for dimension in dimensions):
        check_varied(option, config.command)
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
