"""From a model file back to a learner, its options and its plan."""

from dataclasses import dataclass, replace
from typing import Any

from vwlite import model
from vwlite.errors import ModelError, UsageError
from vwlite.expand import FeatureConfig, Plan
from vwlite.learners import learner_class
from vwlite.learners.base import Learner


@dataclass(slots=True)
class Restored:
    """A model's learner and everything a run has to know of it."""

    learner: Learner
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
    try:
        header = model.read_header(path)
        kind = learner_class(header["learner"])
        loaded = model.load(path, want=kind.wanted(header, learning))
        features = FeatureConfig(**{key: _frozen(value) for key, value in header["features"].items()})
        forgotten = {} if header["resumable"] else (dropped or {})
        config = kind.config_from(header["config"], {**forgotten, **learner_changes})
        features = change_features(path, features, feature_changes)
        learner = kind(config, features.bits, learning=learning, strict=strict, start=False)
        learner.load(loaded.arrays, header["scalars"], whole=header["resumable"] or not learning)
        return Restored(
            learner=learner,
            features=features,
            plan=Plan(features, header["seen"], learner.drops_pairs),
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


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

