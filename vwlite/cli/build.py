"""From parsed options to the configurations of the library."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from vwlite.api.configs import available_cores, chosen
from vwlite.cli.console import say
from vwlite.cli.files import cache_of
from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig
from vwlite.errors import UsageError
from vwlite.options import Option
from vwlite.training.config import CurriculumConfig, RunConfig
from vwlite.training.counters import parse_progress
from vwlite.training.model_loader import Restored
from vwlite.training.output_config import OutputConfig
from vwlite.training.start import start

if TYPE_CHECKING:
    from vwlite.features.config import FeatureConfig
    from vwlite.learners.configs.dyadic import DyadicConfig
    from vwlite.learners.configs.gd import GdConfig



def typed() -> dict[str, Any]:
    """The current command's options that stand on the command line."""
    context = click.get_current_context()
    on_line = click.core.ParameterSource.COMMANDLINE
    return {name: value for name, value in context.params.items() if context.get_parameter_source(name) == on_line}


def declared() -> dict[str, Option]:
    """The options of the current command that fields of configurations declare."""
    params = click.get_current_context().command.params
    return {param.name or "": param.declared for param in params if hasattr(param, "declared")}


def spelled(name: str) -> str:
    """An option of the current command as it is typed."""
    params = click.get_current_context().command.params
    return next((param.opts[0] for param in params if param.name == name), f"--{name}")


def input_config(options: dict[str, Any]) -> InputConfig:
    """Where the data come from; ``options`` are all, typed or not."""
    changes = {
        "threads": available_cores(),
        **chosen(InputConfig, options),
        "cache": cache_of(options),
        "kill_cache": bool(options.get("kill_cache") or options.get("bad_lines")),  # only the text shows bad lines
        "shuffle": shuffles(options),
        "seed": options.get("random_seed") or 0,
    }
    return InputConfig(tuple(options.get("files", ())) or ("-",), **changes)  # with files of -d, in the order typed


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


def output_config(options: dict[str, Any], **more: Any) -> OutputConfig:
    output = OutputConfig(**{**chosen(OutputConfig, {**options, "progress": None}), **more})
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
        holdout=HoldoutConfig(**chosen(HoldoutConfig, options)),
        curriculum=CurriculumConfig(**chosen(CurriculumConfig, options)),
        passes=options["passes"],
        max_memory=options["memory"],
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
    run = RunConfig(input=input_config(arguments), output=output, learning=False, max_memory=arguments["memory"])
    config, model = start(run, arguments["initial"], changes, confident=confident)
    if "kind" not in typed():
        config = replace(config, input=replace(config.input, kind=model.header["kind"]))
    return config, model


def bad_lines_config(arguments: dict[str, Any]) -> BadLinesConfig:
    return BadLinesConfig(**chosen(BadLinesConfig, arguments))
