"""What ``vwlite l1`` does."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite.api import configs
from vwlite.api.option_rules import check_effects
from vwlite.api.run_configs import bad_lines_config, input_config
from vwlite.cli import build
from vwlite.cli.console import Reading
from vwlite.cli.jsonfile import write_json
from vwlite.cli.run_record import effective
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig, check_plan
from vwlite.features.theta_config import ApplyConfig
from vwlite.features.theta_map import FeatureMap, check_same
from vwlite.memory_limit import GIB
from vwlite.options import check_needs
from vwlite.solvers.loglinear import model_file
from vwlite.solvers.loglinear.config import BITS, INSTEAD_OF_L1, HeldOutConfig, L1Config, check_idle
from vwlite.solvers.loglinear.split import read_holdout
from vwlite.solvers.loglinear.train import TrainJob, TrainResult, fit
from vwlite.storage.file_lock import lock
from vwlite.training.curriculum_config import CurriculumConfig
from vwlite.training.option_agreement import check_features, check_learner


def run(arguments: dict[str, Any]) -> int:
    typed = build.typed()
    check_effects(typed, build.declared(), going_on=bool(arguments["initial"]))
    with ExitStack() as held:
        if arguments["model"]:
            held.enter_context(lock(arguments["model"], arguments["lock_wait"]))
        reading = held.enter_context(Reading(arguments["quiet"], input_config(arguments).paths))
        done = fit(job(arguments, typed, reading), (lambda line: None) if arguments["quiet"] else reading.bar.tell)
        if arguments["model"]:
            done.save(arguments["model"])
    if arguments["json_path"]:
        write_json(arguments["json_path"], report(done), options_of(done.job, arguments))
    return 0


def job(arguments: dict[str, Any], typed: dict[str, Any], reading: Reading) -> TrainJob:
    initial = model_file.load(arguments["initial"]) if arguments["initial"] else None
    config = configured(typed, initial)
    input = input_config({**arguments, "shuffle": None})
    held = HeldOutConfig(**configs.chosen(HeldOutConfig, arguments))
    if arguments["names"] and input.cache:
        raise UsageError("--names needs the names in the text, which a cache does not keep: drop -c")
    features = features_of(typed, config, initial)
    return TrainJob(
        config=config,
        features=features,
        theta=theta_of(arguments, config, features, initial),
        input=input,
        bad_lines=bad_lines_config(arguments),
        holdout=read_holdout(held),
        patience=held.early_terminate,
        names=arguments["names"],
        initial=initial,
        say=None if arguments["quiet"] else reading.say,
        watch=reading.part,
        steps=reading.bar.steps("passes"),
        memory=arguments["memory"] * GIB,
        curriculum=CurriculumConfig(**configs.chosen(CurriculumConfig, arguments)),
    )


def options_of(made: TrainJob, arguments: dict[str, Any]) -> dict[str, Any]:
    """Those in effect."""
    held = HeldOutConfig(**configs.chosen(HeldOutConfig, arguments))
    options = effective(made.config, made.features, made.input, held, made.curriculum)
    return {**options, "learning_rate": made.config.initial_learning_rate}


def configured(typed: dict[str, Any], initial: model_file.LoadedModel | None) -> L1Config:
    """Typed options over the model's, if there is one. Raises UsageError for those that would do nothing."""
    changes = configs.chosen(L1Config, typed)
    if initial:
        check_learner(initial.path, initial.config, changes)
    if {"trace", "l1"} <= changes.keys():
        raise UsageError(INSTEAD_OF_L1)
    config = replace(initial.config, **{**displaced(changes), **changes}) if initial else L1Config(**changes)
    check_needs(config, changes)
    if config.loss == "margin" and not (config.l2 or initial or "l1" in changes or config.penalty == "none"):
        raise UsageError("--loss margin needs --l2 above 0, or --l1")
    check_idle(config, changes)
    return config


def displaced(changes: dict[str, Any]) -> dict[str, Any]:
    """What of a model's options the typed ones take the place of."""
    no_mean = {"average": False, "average_after": None} if {"penalty", "solver"} & changes.keys() else {}
    no_trace = {"trace": 0.0} if {"l1", "group"} & changes.keys() else {}
    return {**no_mean, **no_trace, **({"l1": 1.0, "group": False} if "trace" in changes else {})}


def features_of(typed: dict[str, Any], config: L1Config, initial: model_file.LoadedModel | None) -> FeatureConfig:
    of_theta = [one.key for one in ApplyConfig.OPTIONS.values()]  # which ``theta_of`` reads
    changes = configs.feature_changes({name: typed[name] for name in typed if name not in ("theta", *of_theta)})
    if not initial:
        return FeatureConfig(**{"bits": BITS[config.model], **changes})
    check_features(initial.path, initial.features, changes)
    return initial.features


def theta_of(
    arguments: dict[str, Any], config: L1Config, features: FeatureConfig, initial: model_file.LoadedModel | None
) -> FeatureMap | None:
    """The Theta that was typed, or the model's. Raises UsageError where these are not the same."""
    apply = ApplyConfig(**configs.chosen(ApplyConfig, arguments))
    typed = [one for one in ApplyConfig.OPTIONS.values() if one.key in build.typed()]
    if not arguments["theta"]:
        if typed:
            raise UsageError(f"{typed[0].display_name} does nothing without --theta")
        return initial.theta if initial else None
    if config.model == "binary":
        raise UsageError("--theta is for --model multinomial and crf; 'vwlite aso apply' adds the features to any text")
    check_plan(features, apply.unit)
    if initial is None:
        return FeatureMap.read(arguments["theta"], apply)
    check_same(initial.path, initial.theta and initial.theta.digest, arguments["theta"])
    for one in typed:
        if getattr(initial.theta.config, one.name) != getattr(apply, one.name):
            raise UsageError(f"{initial.path} was trained with another {one.display_name}: drop it")
    return initial.theta


def method(config: L1Config) -> dict[str, Any]:
    """The options that make the steps."""
    costs = {"loss": config.loss, "cost": config.cost_applied}
    if config.loss == "perceptron":
        return {"loss": config.loss}
    if config.loss == "mira":
        return {**costs, "aggressiveness": config.aggressiveness}
    if config.l2:
        return {**costs, "l2": config.l2}
    steps = {} if config.loss == "log" else costs
    steps |= {name: getattr(config, name) for name in ("solver", "penalty", "rate", "decay")}
    return {**steps, "trace" if config.trace else "l1": config.strength, "learning_rate": config.initial_learning_rate}


def report(done: TrainResult) -> dict[str, Any]:
    """Options, and the figures of every pass, as JSON data."""
    config, history = done.job.config, done.trained.history
    kept = next(entry for entry in history if entry["pass"] == done.trained.passes)
    return {
        "model": config.model,
        **method(config),
        "examples": done.examples,
        "weights": done.trained.table.shape[1],
        "lines": done.lines,
        "bad_lines": done.bad,
        "passes": done.trained.passes,
        **{name: kept[name] for name in ("objective", "active")},
        "seconds": history[-1]["seconds"],
        "history": history,
    }
