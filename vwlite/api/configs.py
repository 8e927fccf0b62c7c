"""From options by name to the configurations of the library."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from vwlite.features.config import FeatureConfig
from vwlite.learners.losses import OF_CLASSES, LossConfig
from vwlite.options import options_of


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
