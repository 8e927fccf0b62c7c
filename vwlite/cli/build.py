"""From parsed options to the configurations of the library, and how commands treat a model file by the learner that
made it: which module runs them, and which options change.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType, ModuleType
from typing import Any

import click

from vwlite.api.run_configs import bad_lines_config, input_config
from vwlite.data.block_parser import Parsed
from vwlite.data.malformed_lines import BadLines, Labels, reading_policy
from vwlite.errors import UsageError
from vwlite.learners import ELSEWHERE, NAMED
from vwlite.learners.configs.base import shown_kind
from vwlite.learners.losses import spelled_out
from vwlite.options import GIB, Option, OptionValues, Request, check_memory
from vwlite.storage.model_file import learner_name_of
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.model_header import read_stored
from vwlite.training.model_loader import Restored, start


def typed_options() -> OptionValues:
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
    say: Callable[[str], None] | None = None,
    labels: Labels | None = None,
    *,
    to_the_end: bool = False,
    watch: Callable[[Parsed], None] | None = None,
) -> BadLines:
    """Return what becomes of malformed lines by the options, if any; ``say`` prints, unless ``--quiet`` was typed."""
    config, quiet = bad_lines_config(arguments), bool(arguments.get("quiet"))
    return reading_policy(config, say, labels, quiet=quiet, to_the_end=to_the_end, watch=watch)


def open_model(
    arguments: OptionValues, changes: OptionValues | None = None, confident: bool = False, with_rates: bool = False
) -> tuple[RunConfig, Restored]:
    """Open a model to predict or to measure: it brings the features, the learner and, unless typed, the format."""
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


MODULES = {  # module of ``vwlite.cli.runs`` by learner of ``ELSEWHERE``, where it is not of the same name; "": none
    "l1": "tagging",
    "aso": "classes",
    "aso-tasks": "tasks",
    "aso-theta": "",
}
RANKING_OPTIONS = ("qid", "gain", "discount", "bootstrap", "against")
UNSUPPORTED = (
    "confidence", "importance_to", "raw", "answer", "levels", "jsonl", "examples", "audit",
    "readable_model", "invert_hash", "factors", "out", "most", "by_class",
    "dot_unseen", "min_updates", "scheme", "value", "cost_range", "regressor", "with_labels", "nbest",
)


def module_for(path: str, max_memory: float | None = None) -> ModuleType | None:
    """The module whose ``predict``, ``evaluate`` and ``inspect`` handle this model; None for models of numeric labels.

    Raises UsageError for a model file larger than ``max_memory`` GiB, and as ``vwlite.storage.model_file.load`` does.
    """
    learner = learner_name_of(path)
    name = MODULES.get(learner, learner if learner in ELSEWHERE else "")
    if name and max_memory is not None:  # these models are uncompressed and read into memory whole
        check_memory(os.path.getsize(path), max_memory * GIB, path, "a model of fewer weights needs less")
    return importlib.import_module(f"vwlite.cli.runs.{name}") if name else None


def describe_model(path: str) -> str:
    """The noun phrase that error messages use for a model that ``module_for`` has a module for."""
    return ELSEWHERE[learner_name_of(path)].what


def refuse_options(*more: str, model: str = NAMED, supported: tuple[str, ...] = ()) -> None:
    """Raises UsageError for the first typed option among ``UNSUPPORTED``, ``RANKING_OPTIONS`` and ``more``.

    Options in ``supported`` are accepted nevertheless. ``model`` describes the model in the message.
    """
    for name in (*UNSUPPORTED, *RANKING_OPTIONS, *more):
        if name in typed_options() and name not in supported:
            raise UsageError(f"{spelling_of(name)} does not go with {model}")


EMPTY: Mapping[str, Any] = MappingProxyType({})
VECTOR_OPTIONS = ("dot_unseen", "min_updates", "confidence_rate")


def prediction_changes(path: str, asked: OptionValues) -> OptionValues:
    """The changes to the learner's options that produce the requested kind of prediction.

    ``as_raw`` is among them when predictions are written in the format of ``--raw_predictions``. Raises UsageError
    when the model does not support the kind, or when two kinds are requested.
    """
    kind, answer = shown_kind(asked), asked["answer"]
    if kind and answer:
        raise UsageError(f"--{kind} and --predict do not go together: each takes the place of the answers")
    levels = typed_levels(asked)
    if (kind or answer) and levels:
        raise UsageError(f"--{kind or 'predict'} and --levels do not go together: each takes the place of the answers")
    if not (kind or answer):
        return levels
    config = read_stored(path).config
    return config.to_answer(answer) if answer else config.to_show(kind)


def class_limit(asked: Mapping[str, Any], kind: str) -> int | None:
    """The number of classes to show per example (``--top``), None for all.

    Raises UsageError when it is below 1, or when ``kind`` is neither ``scores`` nor ``probabilities``.
    """
    most: int | None = asked["most"]
    if most is not None and kind not in ("scores", "probabilities"):
        raise UsageError("--top goes with --scores or --probabilities")
    if most is not None and most < 1:
        raise UsageError("--top takes 1 or more")
    return most


def typed_levels(asked: Mapping[str, Any]) -> OptionValues:
    """``--levels`` as a change of options; empty when it was not typed."""
    return {"levels": asked["levels"]} if asked.get("levels") else {}


def evaluation_changes(path: str, asked: Mapping[str, Any] = EMPTY) -> OptionValues:
    """The changes to the learner's options for evaluation: class probabilities where available, for their log loss."""
    return {**read_stored(path).config.shows_probabilities_of_classes, **typed_levels(asked)}


def typed_vector_options() -> OptionValues:
    """The typed options that say how latent vectors enter predictions."""
    return {name: value for name, value in typed_options().items() if name in VECTOR_OPTIONS}
