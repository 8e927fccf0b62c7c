"""From options to the configurations of a run, and checks that none of them would have no effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from vwlite.data import config as data_config
from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig
from vwlite.errors import UsageError
from vwlite.features.config import CROSSINGS, FeatureConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LOSSES, OF_CLASSES, LossConfig
from vwlite.options import Option, fields_of, options_of
from vwlite.training.config import CurriculumConfig, OutputConfig, RunConfig
from vwlite.training.counters import parse_progress

if TYPE_CHECKING:
    from vwlite.learners.configs.dyadic import DyadicConfig
    from vwlite.learners.configs.gd import GdConfig


def input_config(options: Mapping[str, Any]) -> InputConfig:
    """Where the data come from; ``options`` are all, typed or not."""
    return data_config.input_config(options, shuffle=shuffles(options))


def shuffles(options: Mapping[str, Any]) -> bool:
    """Whether the run shuffles; by default where it helps and no output shows the order.

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
    output = OutputConfig(**fields_of(OutputConfig, {**options, "progress": None}))
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
        holdout=HoldoutConfig(**fields_of(HoldoutConfig, options)),
        curriculum=CurriculumConfig(**fields_of(CurriculumConfig, options)),
        passes=options.get("passes", 1),
        max_memory=options.get("memory"),
    )


def memory_run_config(
    options: Mapping[str, Any], learner: GdConfig | DyadicConfig, features: FeatureConfig
) -> RunConfig:
    """The configuration of a run over data in memory. Raises UsageError."""
    shuffle, passes = options.get("shuffle"), options.get("passes", 1)
    if shuffle is None:
        shuffle = bool(features.dotproduct) and passes > 1 and not options.get("curriculum_order")
    return run_config({**options, "files": ("the data",), "shuffle": shuffle}, learner, features)


def bad_lines_config(options: Mapping[str, Any], max_ratio: float | None = None) -> BadLinesConfig:
    """``max_ratio`` None: as the options have it."""
    config = BadLinesConfig(**fields_of(BadLinesConfig, options))
    return config if max_ratio is None else replace(config, max_ratio=max_ratio)


def pick(kind: type, options: dict[str, Any]) -> dict[str, Any]:
    """The options that are fields of a configuration class."""
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


HOLDOUT_OPTIONS = ("holdout_after", "holdout_period", "early_terminate")


def check_option_effects(typed: Mapping[str, Any], options: Mapping[str, Option], continuing: bool = False) -> None:
    """Raises UsageError for the first option among ``typed`` that has no effect, or contradicts another one.

    ``options``: all options of the command by key; needs outside of them are ignored. ``continuing``: training starts
    from a model, whose stored options may satisfy needs.
    """
    for name, one in options.items():
        needed = [need for need in one.needs if need in options]
        allowed = continuing and any(options[other].settled for other in needed)
        if name in typed and needed and not allowed and not any(other in typed for other in needed):
            raise UsageError(f"{one.display_name} does nothing without {' or '.join(display_names(needed, options))}")
    check_namespace_letters(typed, options)
    for off, others in (("holdout_off", HOLDOUT_OPTIONS), ("holdout", ("holdout_off", *HOLDOUT_OPTIONS[:2]))):
        for name in others if typed.get(off) else ():
            if name in typed:
                raise UsageError(f"--{off} and --{name} contradict each other: drop one")
    if "loss_function" in typed or not continuing:
        check_loss(typed)


def check_namespace_letters(typed: Mapping[str, Any], options: Mapping[str, Option]) -> None:
    """Raises UsageError for a multi-byte character in an option that identifies namespaces by their first byte."""
    for name, one in options.items():
        given = typed.get(name) or () if one.letters else ()
        for value in (given,) if isinstance(given, str) else given:
            whole = one.name in CROSSINGS and "," in value  # whole names, not first bytes
            size, wide = max(((len(c.encode("utf-8", "surrogateescape")), c) for c in value), default=(1, ""))
            if size > 1 and not whole:
                instead = " and whole names may be given, with a comma between" if one.name in CROSSINGS else ""
                raise UsageError(
                    f"{one.display_name} {value}: namespaces are distinguished by the first byte of their names, of "
                    f"which "
                    f"{wide} has {size}: names that begin with an ASCII character will do{instead}"
                )


def check_unused_options(typed: Mapping[str, Any], options: Mapping[str, Option], learner: Any) -> None:
    """Raises UsageError for a typed option that the learner with the configuration ``learner`` does not use, or has for
    ``vwlite vw`` alone.
    """
    if learner.only_in_vw and {"probabilities", "cb_type"} & typed.keys():
        raise UsageError(learner.only_in_vw)
    rule, names = learner.unused_options
    for name in names:
        if name in typed:
            raise UsageError(f"{display_names([name], options)[0]} does nothing with --{rule}: drop one of the two")


def check_loss(typed: Mapping[str, Any]) -> None:
    """Raises UsageError for parameters of a loss other than the one typed."""
    loss = typed.get("loss_function", "squared")
    loss = OF_CLASSES.get(loss, (loss,))[0]
    for other in LOSSES.values():
        for name in other.parameters:
            if name in typed and name not in LOSSES[loss].parameters:
                raise UsageError(f"--{name} does nothing without --loss_function {other.name}")
    if loss == "lp" and "loss_scale" in typed and typed.get("lp_power", LossConfig().lp_power) >= 1:
        raise UsageError("--loss_scale does nothing with the lp loss unless --lp_power is below 1: drop it")


def display_names(names: list[str], options: Mapping[str, Option]) -> list[str]:
    """Names of options as they are typed, by key."""
    return [options[name].display_name if name in options else f"--{name}" for name in names]
