"""From a model file back to a learner, its options and its plan."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vwlite import model
from vwlite.errors import ModelError, UsageError
from vwlite.expand import FeatureConfig, Plan
from vwlite.learners.gd import SCALARS, Gd, config_from_header


@dataclass(slots=True)
class Restored:
    """A model's learner and everything a run has to know of it."""

    learner: Gd
    features: FeatureConfig
    plan: Plan
    counters: dict[str, Any]
    negative_label: float | None
    passes: int
    kind: str
    header: dict[str, Any]


def restore(
    path: str,
    *,
    learning: bool,
    strict: bool,
    learner_changes: dict[str, Any],
    feature_changes: dict[str, Any],
    dropped: dict[str, Any] | None = None,
) -> Restored:
    """Open the model ``path`` to go on learning or to predict, with some options changed.

    ``dropped`` replaces options of the update that a model without its adaptive sums does not keep.
    Raises ModelError for a damaged or foreign file, UsageError for an option that contradicts the model.
    """
    resumable = bool(model.read_header(path).get("resumable")) if learning else False
    want = None if resumable else ("weights.w",)
    loaded = model.load(path, want=want)
    header = loaded.header
    try:
        features = FeatureConfig(**{key: _frozen(value) for key, value in header["features"].items()})
        forgotten = {} if header["resumable"] else (dropped or {})
        config = config_from_header(header, **{**forgotten, **learner_changes})
        scalars = header["scalars"]
        features = change_features(path, features, feature_changes)
        learner = Gd(config, features.bits, learning=learning, strict=strict, start=False)
        fill(learner, loaded, scalars, resumable=resumable or not learning)
        return Restored(
            learner=learner,
            features=features,
            plan=Plan(features, header["seen"]),
            counters=header["counters"],
            negative_label=header["negative_label"],
            passes=header["passes"],
            kind=header["kind"],
            header=header,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path} is no model of this version's learners ({error})") from error


def change_features(path: str, features: FeatureConfig, changes: dict[str, Any]) -> FeatureConfig:
    """Options typed beside ``-i``: those that would make the weights meaningless are refused."""
    for name, value in changes.items():
        old = getattr(features, name)
        if name in ("bits", "hash", "hash_seed") and value != old:
            option = "-b" if name == "bits" else f"--{name}"
            raise UsageError(f"{option} {value} contradicts {path}, which was made with {option} {old}")
    return replace(features, **changes)


def fill(learner: Gd, loaded: model.Model, scalars: dict[str, float], *, resumable: bool) -> None:
    """Put the saved numbers into the learner's arrays."""
    for name in SCALARS:
        if resumable or name in ("gravity", "contraction", "min_label", "max_label"):
            learner.set(**{name: float(scalars[name])})
    if "weights" in loaded.arrays:
        table = loaded.arrays["weights"].values
        if table.shape == learner.weights.shape:
            learner.weights = table
        else:
            columns = min(table.shape[1], learner.stride)
            learner.weights[:, :columns] = table[:, :columns]
        return
    column = loaded.arrays["weights.w"]
    if learner.stride == 1:
        learner.weights = column.reshape(-1, 1)
        if learner.get("gravity") or learner.get("contraction") != 1:
            learner.weights = np.array(learner.weights)
            learner.apply_shrinkage()
    else:
        learner.weights[:, 0] = column


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

