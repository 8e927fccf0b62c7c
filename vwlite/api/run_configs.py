"""From options to the configurations of runs, over files and over data in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from vwlite.data import config as data_config
from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners.losses import OF_CLASSES, LossConfig
from vwlite.options import fields_of, options_of
from vwlite.training.config import CurriculumConfig, OutputConfig, RunConfig
from vwlite.training.counters import parse_progress

if TYPE_CHECKING:
    from vwlite.learners.configs.dyadic import DyadicConfig
    from vwlite.learners.configs.gd import GdConfig


def input_config(options: Mapping[str, Any]) -> InputConfig:
    """Where the data come from; ``options`` are all, typed or not."""
    return data_config.input_config(options, shuffle=shuffles(options))


def shuffles(options: Mapping[str, Any]) -> bool:
    """By default where it helps and no output shows the order.

    Predictions are those of the run's first pass, which is in order unless the run goes on from a model.
    """
    predicts = options.get("predictions") or options.get("raw_predictions")
    if options.get("shuffle_first") and (predicts or options.get("audit")):
        raise UsageError("--shuffle-first puts the predictions out of order: drop -p and -r, or --shuffle-first")
    shows_order = options.get("audit") or (predicts and options.get("initial"))
    if options.get("shuffle") and shows_order and ((options.get("passes") or 1) > 1 or options.get("initial")):
        raise UsageError("--shuffle puts the predictions of later passes out of order: drop -p and -r, or --shuffle")
    if options.get("shuffle") is not None:
        return bool(options["shuffle"])
    return bool(options.get("dotproduct")) and not shows_order and not options.get("curriculum_order")


def output_config(options: Mapping[str, Any], say: Callable[[str], None] | None = None) -> OutputConfig:
    output = OutputConfig(**fields_of(OutputConfig, {**options, "progress": None}))
    if not options.get("progress"):
        return output
    rule, warning = parse_progress(options["progress"])
    if warning and say and not output.quiet:
        say(warning)
    return replace(output, progress=rule)


def run_config(
    options: Mapping[str, Any],
    learner: GdConfig | DyadicConfig,
    features: FeatureConfig,
    say: Callable[[str], None] | None = None,
) -> RunConfig:
    """``options`` are all, typed or not, by their keys; ``say`` tells the user of odd ones. Raises UsageError."""
    return RunConfig(
        input=input_config(options),
        features=features,
        learner=learner,
        output=output_config(options, say),
        holdout=HoldoutConfig(**fields_of(HoldoutConfig, options)),
        curriculum=CurriculumConfig(**fields_of(CurriculumConfig, options)),
        passes=options.get("passes", 1),
        max_memory=options.get("memory"),
    )


def memory_run_config(
    options: Mapping[str, Any], learner: GdConfig | DyadicConfig, features: FeatureConfig
) -> RunConfig:
    """Of a run over data in memory. Raises UsageError."""
    shuffle, passes = options.get("shuffle"), options.get("passes", 1)
    if shuffle is None:
        shuffle = bool(features.dotproduct) and passes > 1 and not options.get("curriculum_order")
    return run_config({**options, "files": ("the data",), "shuffle": shuffle}, learner, features)


def bad_lines_config(options: Mapping[str, Any], max_ratio: float | None = None) -> BadLinesConfig:
    """``max_ratio`` None: as the options have it."""
    config = BadLinesConfig(**fields_of(BadLinesConfig, options))
    return config if max_ratio is None else replace(config, max_ratio=max_ratio)


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
