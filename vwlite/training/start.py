"""What a run begins with: a new learner, or a model's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from vwlite.errors import ModelError
from vwlite.features.feature_plan import Plan
from vwlite.features.term_weights import plan_of
from vwlite.learners import learner_class
from vwlite.learners.base import Learner
from vwlite.training.config import RunConfig
from vwlite.training.model_loader import Restored, restore


def start(
    config: RunConfig,
    initial: str | None = None,
    learner_changes: Mapping[str, Any] | None = None,
    feature_changes: Mapping[str, Any] | None = None,
    loss_changes: Mapping[str, Any] | None = None,
    confident: bool = False,
    say: Callable[[str], None] | None = None,
) -> tuple[RunConfig, Restored | None]:
    """The configuration to run with and, with ``initial``, the model to go on from, some options changed.

    ``confident``: it is to tell how sure its predictions are, if it can. ``say`` tells the user of a learning rate that
    has decayed.

    Raises ModelError when it is to go on learning and cannot, and as ``vwlite.training.model_loader.restore``.
    """
    if initial is None:
        return config, None
    model = restore(
        initial,
        learning=config.learning,
        vw_compat=False,
        learner_changes=dict(learner_changes or {}),
        feature_changes=dict(feature_changes or {}),
        loss_changes=dict(loss_changes or {}),
        confident=confident,
        max_memory=config.max_memory,
    )
    if config.learning:
        go_on(initial, model, dict(learner_changes or {}))
        if model.learner.config.decay_learning_rate != 1 and say:
            rate = f"the learning rate has decayed to {model.learner.get('rate'):g}"
            say(f"{rate} over {model.passes} passes, each run being one; -l sets another")
        if model.header["names"]:
            config = replace(config, output=replace(config.output, names=True))
    return replace(config, features=model.features, learner=model.learner.config), model


def go_on(path: str, model: Restored, typed: Mapping[str, Any]) -> None:
    """Let options that differ from the model's take the place of what it had come to."""
    if not model.header["resumable"]:
        raise ModelError(f"{path} cannot go on learning: it was saved with --predict_only_model")
    config, old = model.learner.config, model.header["config"]
    if "learning_rate" in typed and typed["learning_rate"] != old["learning_rate"]:
        model.learner.set(rate=config.initial_learning_rate)
    bounds = config.prediction_bounds
    if bounds and bounds != (old["min_prediction"], old["max_prediction"]):
        model.learner.set(min_label=bounds[0], max_label=bounds[1])


def begin_learner(config: RunConfig, model: Restored | None) -> tuple[Learner, Plan]:
    """The learner of a run, and the plan of its features.

    Raises UsageError for one of more memory than allowed, and as ``Plan.read_theta``.
    """
    if model:
        model.learner.use_threads(config.input.threads)
        return model.learner, model.plan
    kind = learner_class(config.learner.learner)
    kind.check_memory(config.learner, config.features.bits, config.learning, config.max_memory)
    learner = kind(config.learner, config.features.bits, learning=config.learning, vw_compat=config.vw_compat)
    learner.use_threads(config.input.threads)
    plan = plan_of(config.features, drop_pairs=learner.drops_pairs)
    plan.read_theta()
    return learner, plan
