"""What a model says of itself: options, classes, slots of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.evaluation import latent_factors
from vwlite.evaluation.inspect_model import Inspection
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.learners.base import Learner
from vwlite.options import Config
from vwlite.options import options_of as declared_options
from vwlite.training.config import RunConfig
from vwlite.training.model_loader import Restored


def options_of(config: RunConfig) -> dict[str, Any]:
    """The options that differ from their defaults."""
    found: dict[str, Any] = {}
    for part in (config.learner, config.learner.loss, config.features, config.holdout, config.curriculum, config):
        found |= changed(part)
    return found


def changed(config: Config) -> dict[str, Any]:
    declared = declared_options(type(config)).items()
    return {one.key: getattr(config, name) for name, one in declared if getattr(config, name) != one.default}


def classes_of(learner: Learner) -> list[int | str]:
    """The classes of a model in the order of its scores; empty for models of numbers."""
    config = learner.config
    if learner.simple_labels or learner.multiline or learner.outputs:
        return []
    if config.named_labels:
        return list(config.named_labels)
    first = max(int(learner.get("first")), 0) if learner.get("first") >= 0 else 1
    return list(range(first, first + config.count))


def slot_of(learner: Learner, features: FeatureConfig, name: str, namespace: str) -> int:
    """The slot of a feature in the table of weights. Raises UsageError for a name that text cannot hold."""
    if not name or any(one in name + namespace for one in " |:\n\r\t"):
        raise UsageError(f"{name!r} is no feature's name")
    text = f"|{namespace} {name}".encode("utf-8", "surrogateescape")
    batch = parse_text(text, text_format(features, skip_malformed=True))
    shift, _ = learner.layout
    return (int(batch.feature_hash[0]) << shift) & ((1 << learner.bits) - 1)


def is_learned(learner: Learner, slot: int) -> bool:
    """Whether training has changed what the learner has for a feature."""
    tables = [table for one in getattr(learner, "latent", ()) for table in one]
    return bool(learner.weights[slot].any() or any(table[slot].any() for table in tables))


def factors_of(model: Restored, namespace: str) -> dict[str, np.ndarray]:
    """As ``latent_factors.arrays_of``. Raises UsageError."""
    names = model.names.names if model.names else {}
    return latent_factors.arrays_of(latent_factors.factors_of(Inspection("the model", model, names), namespace))
