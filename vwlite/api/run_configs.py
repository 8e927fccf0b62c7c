"""From the options of a model in memory to the configurations of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vwlite.api.configs import available_cores, chosen
from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig
from vwlite.features.config import FeatureConfig
from vwlite.training.config import CurriculumConfig, OutputConfig, RunConfig


def run_config(typed: Mapping[str, Any], learner: Any, features: FeatureConfig) -> RunConfig:
    """The configuration of a run over data in memory. Raises UsageError."""
    shuffle, passes = typed.get("shuffle"), typed.get("passes", 1)
    changes = {
        "threads": available_cores(),
        **chosen(InputConfig, dict(typed)),
        "shuffle": bool(features.dotproduct) and passes > 1 if shuffle is None else shuffle,
        "seed": typed.get("random_seed") or 0,
    }
    return RunConfig(
        input=InputConfig(("the data",), **changes),
        features=features,
        learner=learner,
        output=OutputConfig(names=typed.get("names", False)),
        holdout=HoldoutConfig(**chosen(HoldoutConfig, dict(typed))),
        curriculum=CurriculumConfig(**chosen(CurriculumConfig, dict(typed))),
        passes=passes,
    )


def bad_lines_config(typed: Mapping[str, Any], max_ratio: float | None) -> BadLinesConfig:
    config = BadLinesConfig(**chosen(BadLinesConfig, dict(typed)))
    return config if max_ratio is None else replace(config, max_ratio=max_ratio)
