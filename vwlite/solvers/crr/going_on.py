"""A model of combined regression and ranking that is to make more steps: ``vwlite crr -i``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from vwlite.errors import ModelError, UsageError
from vwlite.features.config import QueryConfig
from vwlite.options import check_needs
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.labels import GradedLabels
from vwlite.solvers.crr.weights import Weights
from vwlite.storage import model_file
from vwlite.training.model_loader import Restored, restore
from vwlite.training.option_agreement import check_learner


class Begun(NamedTuple):
    """The model, its options with those that were typed, and what its steps have left beside the weights."""

    model: Restored
    config: CrrConfig
    arrays: Mapping[str, Any]

    @property
    def steps(self) -> int:
        """How many it has made."""
        return int(self.model.header["crr"]["steps"])

    def labels(self) -> GradedLabels:
        """To check labels against those that the model has met."""
        labels = GradedLabels(self.model.learner.config.loss)
        labels.low, labels.zero = self.model.negative_label == -1, self.model.negative_label == 0
        return labels

    def load(self, weights: Weights) -> None:
        """Raises ModelError."""
        try:
            weights.load(self.arrays)
        except (KeyError, ValueError) as error:
            raise ModelError(f"the state of the model's steps is damaged ({error})") from error


def go_on(
    path: str, changes: Mapping[str, Any], feature_changes: dict[str, Any], loss_changes: dict[str, Any]
) -> Begun:
    """Open a model; options that contradict it are refused, others replace its own: its steps, their share on examples,
    their seed, and how pairs are drawn.

    Raises ModelError where ``vwlite crr`` did not write it, UsageError.
    """
    model = restore(
        path, learning=True, vw_compat=False, learner_changes={}, feature_changes=feature_changes,
        loss_changes=loss_changes, max_memory=changes.get("max_memory"),
    )
    if "crr" not in model.header:
        raise ModelError(f"{path} was not made by 'vwlite crr', which alone can go on with its models")
    own = config_of(model)
    if "average_after" in changes:
        raise UsageError(f"--average_after contradicts {path}, whose mean goes on as it began: drop it")
    check_learner(path, replace(own, rate=own.schedule, average=own.averages), changes)
    config = replace(own, **{"steps": None, "average_after": None, **changes})
    check_needs(config, changes)
    arrays = model_file.load(path, want=Weights.names(config)).arrays
    return Begun(model, config, arrays)


def config_of(model: Restored) -> CrrConfig:
    """The options that a model records; those that have their defaults are not given."""
    told, known = model.header["crr"], {one.name for one in fields(CrrConfig)} - {"queries"}
    options = {name: value for name, value in told.items() if name in known}
    usual = CrrConfig(pairing=options.get("pairing", "random"))
    for name, default in (("alpha", usual.share), ("rate", usual.schedule), ("average", usual.averages)):
        if options.get(name) == default:
            del options[name]
    return CrrConfig(
        loss=model.learner.config.loss, penalty=told["lambda"], queries=QueryConfig(told["qid"]), **options
    )
