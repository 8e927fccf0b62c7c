"""From options to the configurations of runs, over files and over data in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vwlite.api.configs import available_cores, chosen
from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig, kind_by_name
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.storage.named_files import cache_of
from vwlite.training.config import RunConfig
from vwlite.training.counters import parse_progress
from vwlite.training.curriculum_config import CurriculumConfig
from vwlite.training.output_config import OutputConfig

if TYPE_CHECKING:
    from vwlite.learners.configs.dyadic import DyadicConfig
    from vwlite.learners.configs.gd import GdConfig


def input_config(options: Mapping[str, Any]) -> InputConfig:
    """Where the data come from; ``options`` are all, typed or not."""
    paths = tuple(options.get("files", ())) or ("-",)  # with files of -d, in the order typed
    changes = {
        "kind": kind_by_name(paths),
        "threads": available_cores(),
        **chosen(InputConfig, options),
        "cache": cache_of(options),
        "kill_cache": bool(options.get("kill_cache") or options.get("bad_lines")),  # only the text shows bad lines
        "shuffle": shuffles(options),
        "seed": options.get("random_seed") or 0,
    }
    return InputConfig(paths, **changes)


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
    output = OutputConfig(**chosen(OutputConfig, {**options, "progress": None}))
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
        holdout=HoldoutConfig(**chosen(HoldoutConfig, options)),
        curriculum=CurriculumConfig(**chosen(CurriculumConfig, options)),
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
    config = BadLinesConfig(**chosen(BadLinesConfig, options))
    return config if max_ratio is None else replace(config, max_ratio=max_ratio)
