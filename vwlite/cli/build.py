"""From parsed options to the configurations of the library."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import click

from vwlite.api.run_configs import bad_lines_config, input_config
from vwlite.data.block_parser import Parsed
from vwlite.data.malformed_lines import BadLines, Labels
from vwlite.learners.losses import spelled_out
from vwlite.options import Option, Request
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.model_loader import Restored, start


def typed_options() -> dict[str, Any]:
    """The current command's options that stand on the command line; for ``--transfer``, those that it stands for."""
    context = click.get_current_context()
    on_line = click.core.ParameterSource.COMMANDLINE
    given = {name: value for name, value in context.params.items() if context.get_parameter_source(name) == on_line}
    return spelled_out(given)


def request() -> Request:
    """The request of the current command."""
    return Request(click.get_current_context().params, typed_options(), declared_options())


def declared_options() -> dict[str, Option]:
    """The options of the current command that fields of configurations declare."""
    params = click.get_current_context().command.params
    return {param.name or "": param.declared for param in params if hasattr(param, "declared")}


def spelling_of(name: str) -> str:
    """An option of the current command as it is typed."""
    params = click.get_current_context().command.params
    return next((param.opts[0] for param in params if param.name == name), f"--{name}")


def bad_lines_policy(
    arguments: Mapping[str, Any],
    say: Callable[[str], None],
    labels: Labels | None = None,
    *,
    to_the_end: bool = False,
    watch: Callable[[Parsed], None] | None = None,
) -> BadLines:
    """The policy for malformed lines by the options; ``say`` prints, unless ``--quiet`` was typed."""
    say_line = None if arguments.get("quiet") else say
    return BadLines(labels, say_line, bad_lines_config(arguments), to_the_end=to_the_end, watch=watch)


def open_model(
    arguments: dict[str, Any], changes: dict[str, Any] | None = None, confident: bool = False, with_rates: bool = False
) -> tuple[RunConfig, Restored]:
    """To predict or to measure: the model brings the features, the learner and, unless typed, the text's format."""
    output = OutputConfig(
        predictions=arguments.get("predictions"),
        raw_predictions=arguments.get("raw_predictions"),
        audit=arguments.get("audit", False),
        quiet=True,
    )
    run = RunConfig(input=input_config(arguments), output=output, learning=False, max_memory=arguments["memory"])
    config, model = start(run, arguments["initial"], changes, confident=confident, with_rates=with_rates)
    return read_alike(config, model, typed_options()), model


def over_files(
    config: RunConfig, model: Restored, arguments: Mapping[str, Any], paths: tuple[str, ...], predictions: str | None
) -> RunConfig:
    """The run of ``open_model``, over other files and with its predictions in another one."""
    input, output = input_config({**arguments, "files": paths}), replace(config.output, predictions=predictions)
    return read_alike(replace(config, input=input, output=output), model, typed_options())


def read_alike(config: RunConfig, model: Restored, typed: Collection[str] = ()) -> RunConfig:
    """The run over data of the format and the columns that the model has learned, but for what was typed."""
    return replace(config, input=config.input.like(model.header, typed))
