"""From parsed options to the configurations of the library."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from vwlite.cli.console import say
from vwlite.cli.files import cache_of
from vwlite.data.blocks import BLOCK_SIZE
from vwlite.data.dataset import InputConfig
from vwlite.data.holdout import HoldoutConfig
from vwlite.data.malformed_lines import BadLinesConfig
from vwlite.errors import UsageError
from vwlite.features.feature_plan import FeatureConfig
from vwlite.learners.losses import OF_CLASSES, LossConfig
from vwlite.options import options_of
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.counters import parse_progress
from vwlite.training.curriculum import CurriculumConfig
from vwlite.training.model_loader import Restored
from vwlite.training.start import start

if TYPE_CHECKING:
    from vwlite.learners.configs.dyadic import DyadicConfig
    from vwlite.learners.configs.gd import GdConfig



def typed() -> dict[str, Any]:
    """The current command's options that stand on the command line."""
    context = click.get_current_context()
    on_line = click.core.ParameterSource.COMMANDLINE
    return {name: value for name, value in context.params.items() if context.get_parameter_source(name) == on_line}


def pick(kind: type, options: dict[str, Any]) -> dict[str, Any]:
    """Those options that are fields of a configuration class."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in options.items() if name in names}


def loss_changes(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of ``LossConfig`` that were typed."""
    changes = {one.name: options[one.key] for one in options_of(LossConfig).values() if one.key in options}
    if "logistic_min" in changes or "logistic_max" in changes:
        changes["limited"] = True
    if changes.get("name") in OF_CLASSES:
        changes["name"] = OF_CLASSES[changes["name"]][0]
    return changes


def feature_changes(options: dict[str, Any]) -> dict[str, Any]:
    return pick(FeatureConfig, options)


def input_config(options: dict[str, Any]) -> InputConfig:
    """Where the data come from; ``options`` are all, typed or not."""
    paths = tuple(options.get("files", ())) or ("-",)  # those of -d among them, in the order typed
    for name in ("threads", "examples", "block_size"):
        least = 0 if name == "examples" else 1
        if options.get(name) is not None and options[name] < least:
            raise UsageError(f"--{name} takes {least} or more, not {options[name]}")
    return InputConfig(
        paths=paths,
        kind=options.get("kind", "vw"),
        threads=options.get("threads") or available_cores(),
        block_size=options.get("block_size") or BLOCK_SIZE,
        cache=cache_of(options),
        kill_cache=bool(options.get("kill_cache") or options.get("bad_lines")),  # only the text shows bad lines
        examples=options.get("examples") or 0,
        shuffle=shuffles(options),
        shuffle_first=bool(options.get("shuffle_first")),
        seed=options.get("random_seed") or 0,
        class_weights=options.get("classweight") or (),
    )


def shuffles(options: dict[str, Any]) -> bool:
    """By default where it helps and no output shows the order."""
    shows_order = options.get("predictions") or options.get("raw_predictions") or options.get("audit")
    if options.get("shuffle_first") and shows_order:
        raise UsageError("--shuffle-first puts the predictions out of order: drop -p and -r, or --shuffle-first")
    later = (options.get("passes") or 1) > 1 or options.get("initial")
    if options.get("shuffle") and shows_order and later:
        raise UsageError("--shuffle puts the predictions of later passes out of order: drop -p and -r, or --shuffle")
    if options.get("shuffle") is not None:
        return bool(options["shuffle"])
    return bool(options.get("dotproduct")) and not shows_order


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def holdout_config(options: dict[str, Any]) -> HoldoutConfig:
    return HoldoutConfig(
        off=options["holdout_off"],
        period=options["holdout_period"],
        after=options["holdout_after"],
        early_terminate=options["early_terminate"],
    )


def curriculum_config(options: dict[str, Any]) -> CurriculumConfig:
    names = ("order", "by", "start", "passes")
    given = {name: options.get(f"curriculum_{name}") for name in names}
    changes = {name: value for name, value in given.items() if value is not None}
    if changes and not given["order"]:
        raise UsageError(f"--curriculum-{next(iter(changes))} needs --curriculum")
    if given["passes"] == 0:
        raise UsageError("--curriculum-passes takes 1 or more, not 0")
    return CurriculumConfig(**changes)


def output_config(options: dict[str, Any], **more: Any) -> OutputConfig:
    output = OutputConfig(**{**pick(OutputConfig, {k: v for k, v in options.items() if k != "progress"}), **more})
    if not options.get("progress"):
        return output
    rule, warning = parse_progress(options["progress"])
    if warning and not output.quiet:
        say(warning)
    return replace(output, progress=rule)


def run_config(
    options: dict[str, Any], learner: GdConfig | DyadicConfig, features: FeatureConfig, **more: Any
) -> RunConfig:
    return RunConfig(
        input=input_config(options),
        features=features,
        learner=learner,
        output=output_config(options),
        holdout=holdout_config(options),
        curriculum=curriculum_config(options),
        passes=options["passes"],
        **more,
    )


def open_model(
    arguments: dict[str, Any], changes: dict[str, Any] | None = None, confident: bool = False
) -> tuple[RunConfig, Restored]:
    """To predict or to measure: the model brings the features, the learner and, unless typed, the text's format."""
    output = OutputConfig(
        predictions=arguments.get("predictions"),
        raw_predictions=arguments.get("raw_predictions"),
        audit=arguments.get("audit", False),
        quiet=True,
    )
    run = RunConfig(input=input_config(arguments), output=output, learning=False)
    config, model = start(run, arguments["initial"], changes, confident=confident)
    if "kind" not in typed():
        config = replace(config, input=replace(config.input, kind=model.header["kind"]))
    return config, model


def bad_lines_config(arguments: dict[str, Any]) -> BadLinesConfig:
    return BadLinesConfig(arguments["max_bad_ratio"], arguments["strict"], arguments["bad_lines"])
