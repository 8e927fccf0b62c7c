"""The commands that ``vwlite tune`` can tune: how a model of theirs is made and measured, in this process."""

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import click

from vwlite.api.option_rules import check_effects
from vwlite.api.train_files import train_files
from vwlite.cli import build
from vwlite.cli.files import guard
from vwlite.cli.root import cli
from vwlite.cli.runs.answers import to_measure
from vwlite.data.config import BadLinesConfig, InputConfig, available_cores, kind_by_name
from vwlite.data.malformed_lines import BadLines
from vwlite.evaluation.config import STEPS_PER_PASS
from vwlite.evaluation.measure import measure
from vwlite.evaluation.metric_report import finite
from vwlite.solvers.loglinear import model_file, tagger
from vwlite.storage.model_file import learner_name_of
from vwlite.training.config import RunConfig
from vwlite.training.display import Display
from vwlite.training.output_config import OutputConfig
from vwlite.training.run_files import be_silent
from vwlite.training.start import start

Interrupts = Callable[[], AbstractContextManager[Any]]


def command_of(name: str) -> click.Command:
    command: click.Command = importlib.import_module(f"vwlite.cli.{name}").command
    return command


def length(name: str, passes: int) -> list[str]:
    """The words by which training takes so many passes."""
    if name == "crr":
        return ["--steps", str(passes * STEPS_PER_PASS)]
    return ["--passes", str(passes), *(["--holdout_off"] if name == "train" else [])]


def train(name: str, words: list[str], interrupts: Interrupts) -> None:
    """Raises what the command would end with."""
    with command_of(name).make_context(name, words, parent=click.Context(cli, info_name="vwlite")) as context:
        guard(context)
        if name != "train":
            importlib.import_module(f"vwlite.cli.runs.{name}").run(context.params)
            return
        arguments, typed, options = context.params, build.typed(), build.declared()
    check_effects(typed, options)
    train_files(arguments, typed, options, say=be_silent, display=lambda output: Display(), interrupts=interrupts)


def score(path: str, tests: list[str], metric: str, scheme: str | None = None) -> tuple[Any, str]:
    """The metric of the model ``path`` on these files, and how phrases were counted, if they were.

    Raises what 'vwlite evaluate' would end with.
    """
    input = InputConfig(tuple(tests), kind_by_name(tests), threads=available_cores())
    if learner_name_of(path) == model_file.CHAIN:
        report = score_of_names(path, input, metric, scheme)
        return finite(report)[metric], f"{report['scheme']}, {report['counting']}" if "counting" in report else ""
    run = RunConfig(input=input, output=OutputConfig(quiet=True), learning=False)
    config, model = start(run, path, to_measure(path))
    config = build.read_alike(config, model)
    return finite(measure(config, model, BadLinesConfig(), asked=metric, quiet=True))[metric], ""


def score_of_names(path: str, input: InputConfig, metric: str, scheme: str | None) -> dict[str, Any]:
    """Of a model of named labels; ``f1`` is that of phrases."""
    model = model_file.load(path)
    alike = input.like({"kind": model.past.kind, "columns": model.past.columns}, ())
    made = tagger.Tagger(model, tagger.read_batches(model, alike, BadLines(None, None)))
    crf = bool(made.pairs.transitions)
    return tagger.measure(made, tagger.choose("conll" if crf and metric == "f1" else metric, crf), scheme)
