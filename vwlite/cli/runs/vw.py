"""What ``vwlite vw`` does: the library with Vowpal Wabbit's defaults and manners."""

import os
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from vwlite import model as model_file
from vwlite.cli import build
from vwlite.config import OutputConfig, RunConfig
from vwlite.counters import Counters, ProgressRule, parse_progress
from vwlite.errors import UsageError, VwliteError
from vwlite.expand import FeatureConfig, Plan
from vwlite.learners import learner_class
from vwlite.learners.base import Learner
from vwlite.learners.gd import GdConfig
from vwlite.loop import run as run_loop
from vwlite.losses import LossConfig
from vwlite.restore import Restored, restore
from vwlite.session import Session
from vwlite.vwlog import VwLog

LEVELS = {"info": 0, "warning": 1, "error": 2, "critical": 3}
NOT_KEPT = ("decay_learning_rate", "l1", "l2", "sparse_l2", "min_prediction", "max_prediction")
KEPT_IF_RESUMABLE = ("learning_rate", "power_t", "sgd", "adaptive", "normalized", "invariant")
CROSSINGS = ("quadratic", "cubic", "interactions")


class Log:
    """Messages like ``[warning] ...``, by level, at most so many."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        level = {"warn": "warning", "off": "off"}.get(arguments["log_level"], arguments["log_level"] or "info")
        self.least = len(LEVELS) if level == "off" or arguments["quiet"] else LEVELS[level]
        self.left = arguments["limit_output"] or None
        self.to_stderr = arguments["log_output"] == "stderr"

    def __call__(self, message: str) -> None:
        if LEVELS[message[1 : message.index("]")]] < self.least or self.left == 0:
            return
        if self.left:
            self.left -= 1
        print(message, file=sys.stderr if self.to_stderr else sys.stdout)


def run(arguments: dict[str, Any]) -> int:
    """Like vw: a failure is one ``[critical]`` line on standard output and exit status 1."""
    try:
        return vw_run(arguments, build.typed())
    except VwliteError as error:
        print(f"[critical] vw: {error}")
        return 1


def vw_run(arguments: dict[str, Any], typed: dict[str, Any]) -> int:
    log = Log(arguments)
    config = vw_config(arguments, typed, log)
    model = restore_like_vw(arguments["initial"], config, typed, log) if arguments["initial"] else None
    if model:
        config = replace(config, features=model.features, learner=model.learner.config)
        learner, plan = model.learner, model.plan
    else:
        kind = learner_class(config.learner.learner)
        learner = kind(config.learner, config.features.bits, learning=config.learning, strict=False)
        plan = Plan(config.features, drop_pairs=learner.drops_pairs)
    for name, scalar in (("l1_state", "gravity"), ("l2_state", "contraction")):
        if arguments[name] is not None:
            require_gd(learner, name).set(**{scalar: arguments[name]})
    if arguments["feature_mask"]:
        require_gd(learner, "feature_mask")
        learner.mask_with(feature_mask(arguments["feature_mask"], config))
    counters = Counters(config.output.progress)
    if model and arguments["preserve_performance_counters"]:
        counters.restore(model.counters)
    manners = VwLog(log, strict_parse=arguments["strict_parse"])
    with Session(config, learner, plan, manners, counters) as session:
        if model and arguments["preserve_performance_counters"]:
            session.earlier_passes = session.saver.passes = model.passes
        run_loop(session, config.output.audit)
    return 141 if session.broken else 0


def require_gd(learner: Learner, option: str) -> Learner:
    if learner.name != "gd":
        raise UsageError(f"--{option} does not go with --dotproduct")
    return learner


def vw_config(arguments: dict[str, Any], typed: dict[str, Any], log: Callable[[str], None]) -> RunConfig:
    options = dict(arguments)
    input = build.input_config(options)
    if arguments["no_stdin"] and input.paths == ("-",):
        input = replace(input, paths=())
    if arguments["passes"] > 1 and not input.cache:
        raise UsageError("need a cache file for multiple passes : try using  --cache or --cache_file <name>")
    rule, warning = parse_progress(arguments["progress"]) if arguments["progress"] else (ProgressRule(), None)
    if warning:
        log(f"[warning] {warning}")
    names = {field.name for field in fields(OutputConfig)} - {"progress", "quiet", "model_id"}
    output = OutputConfig(
        **{name: value for name, value in options.items() if name in names},
        progress=rule,
        quiet=arguments["quiet"] or arguments["driver_output_off"],
        best_constant=not arguments["dont_output_best_constant"],
        to_stdout=arguments["driver_output"] == "stdout",
        bar=False,
        model_id=arguments["model_id"] or "",
    )
    return RunConfig(
        input=input,
        features=FeatureConfig(**build.feature_changes(typed)),
        learner=build.learner_config(no_negative_penalty(typed, log)),
        output=output,
        holdout=build.holdout_config(options),
        passes=arguments["passes"],
        learning=not arguments["testonly"],
        strict=False,
    )


def no_negative_penalty(typed: dict[str, Any], log: Callable[[str], None]) -> dict[str, Any]:
    for name in ("l1", "l2"):
        if typed.get(name, 0) < 0:
            log(f"[warning] {name}_lambda should be nonnegative: resetting from {typed[name]:g} to 0")
            typed = {**typed, name: 0.0}
    return typed


def restore_like_vw(path: str, config: RunConfig, typed: dict[str, Any], log: Callable[[str], None]) -> Restored:
    """The model, with those options that vw does not keep as typed or at their default.

    A learner that vw does not have keeps all of them.
    """
    if model_file.read_header(path).get("learner") != "gd":
        typed_changes = build.learner_changes(typed), build.feature_changes(typed)
        kept = {"learner_changes": typed_changes[0], "feature_changes": typed_changes[1]}
        return restore(path, learning=config.learning, strict=False, **kept)
    default, given = GdConfig(), config.learner
    changes = {name: getattr(given, name) for name in NOT_KEPT}
    changes |= build.learner_changes(typed)
    changes["loss"] = LossConfig(**build.loss_changes(typed))
    features = {"permutations": False, "leave_duplicate_interactions": False, **build.feature_changes(typed)}
    if any(name in typed for name in CROSSINGS):
        features |= {name: () for name in CROSSINGS if name not in typed}
        log("[warning] the interactions typed replace those of the model")
    model = restore(
        path,
        learning=config.learning,
        strict=False,
        learner_changes=changes,
        feature_changes=features,
        dropped={name: getattr(default, name) for name in KEPT_IF_RESUMABLE if name not in typed},
    )
    model.learner.set(held_weight=0, unlabeled_weight=0, rate=model.learner.config.start_rate)
    model.plan = Plan(model.features)
    return model


def feature_mask(path: str, config: RunConfig) -> Any:
    """uint8[slots], 1 where the model ``path`` has a weight."""
    import numpy as np

    weights = model_file.load(path, want=("weights.w",)).arrays["weights.w"]
    if len(weights) != 1 << config.features.bits:
        raise UsageError(f"{os.path.basename(path)} has another -b than this run")
    return (weights != 0).astype(np.uint8)
