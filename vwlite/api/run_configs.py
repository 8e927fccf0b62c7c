"""From options to the configurations of a run and of the learner that they ask for, and checks that none of them would
have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from vwlite.data import config as data_config
from vwlite.data.config import BadLinesConfig, HoldoutConfig, InputConfig
from vwlite.errors import UsageError
from vwlite.features.config import CROSSINGS, FeatureConfig
from vwlite.learners import OVER, config_class, config_classes, goes_over
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LOSSES, OF_CLASSES, LossConfig, with_free_bound
from vwlite.options import Option, OptionValues, fields_of, options_of
from vwlite.training.config import CurriculumConfig, OutputConfig, RunConfig
from vwlite.training.counters import parse_progress

if TYPE_CHECKING:
    from vwlite.learners.configs.base import LearnerConfig
    from vwlite.learners.configs.dyadic import DyadicConfig
    from vwlite.learners.configs.per_class import ClassLearnersConfig, PerClassConfig
    from vwlite.learners.configs.trees import FilterTreeConfig


def input_config(options: Mapping[str, Any]) -> InputConfig:
    """Make the configuration of where the data come from; ``options`` are all, typed or not."""
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
    in_steps = bool(options.get("dotproduct")) and not options.get("als")
    return in_steps and not shows_order and not options.get("curriculum_order")


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
        in_steps = bool(features.dotproduct) and not learner.fixed_passes
        shuffle = in_steps and passes > 1 and not options.get("curriculum_order")
    return run_config({**options, "files": ("the data",), "shuffle": shuffle}, learner, features)


def bad_lines_config(options: Mapping[str, Any], max_ratio: float | None = None) -> BadLinesConfig:
    """``max_ratio`` None: as the options have it."""
    config = BadLinesConfig(**fields_of(BadLinesConfig, options))
    return config if max_ratio is None else replace(config, max_ratio=max_ratio)


FIELD_NAMES: dict[type, frozenset[str]] = {}  # of the configuration classes that were asked for


def field_names(kind: type) -> frozenset[str]:
    """The names of the fields of a configuration class."""
    if kind not in FIELD_NAMES:
        FIELD_NAMES[kind] = frozenset(field.name for field in fields(kind))
    return FIELD_NAMES[kind]


def pick(kind: type, options: OptionValues) -> OptionValues:
    """The options that are fields of a configuration class."""
    names = field_names(kind)
    return {name: value for name, value in options.items() if name in names}


def loss_changes(options: OptionValues) -> OptionValues:
    """The fields of ``LossConfig`` that were typed."""
    changes = {option.name: options[option.key] for option in options_of(LossConfig).values() if option.key in options}
    if "logistic_min" in changes or "logistic_max" in changes:
        changes["limited"] = True
    if changes.get("name") in OF_CLASSES:
        changes["name"] = OF_CLASSES[changes["name"]][0]
    return changes


def feature_changes(options: OptionValues) -> OptionValues:
    return pick(FeatureConfig, options)


HOLDOUT_OPTIONS = ("holdout_after", "holdout_period", "early_terminate")


def check_option_effects(typed: Mapping[str, Any], options: Mapping[str, Option], continuing: bool = False) -> None:
    """Raises UsageError for the first option among ``typed`` that has no effect, or contradicts another one.

    ``options``: all options of the command by key; needs outside of them are ignored. ``continuing``: training starts
    from a model, whose stored options may satisfy needs.
    """
    for name, option in options.items():
        if name not in typed:
            continue
        needed = [need for need in option.needs if need in options]
        allowed = continuing and any(options[other].settled for other in needed)
        if needed and not allowed and not any(other in typed for other in needed):
            needed_names = " or ".join(display_names(needed, options))
            raise UsageError(f"{option.display_name} does nothing without {needed_names}")
    check_namespace_letters(typed, options)
    for off, others in (("holdout_off", HOLDOUT_OPTIONS), ("holdout", ("holdout_off", *HOLDOUT_OPTIONS[:2]))):
        for name in others if typed.get(off) else ():
            if name in typed:
                raise UsageError(f"--{off} and --{name} contradict each other: drop one")
    if "loss_function" in typed or not continuing:
        check_loss(typed)


def check_namespace_letters(typed: Mapping[str, Any], options: Mapping[str, Option]) -> None:
    """Raises UsageError for a multi-byte character in an option that identifies namespaces by their first byte."""
    for name, option in options.items():
        given = typed.get(name) or () if option.letters else ()
        for value in (given,) if isinstance(given, str) else given:
            whole = option.name in CROSSINGS and "," in value  # whole names, not first bytes
            size, wide = max(((len(c.encode("utf-8", "surrogateescape")), c) for c in value), default=(1, ""))
            if size > 1 and not whole:
                instead = " and whole names may be given, with a comma between" if option.name in CROSSINGS else ""
                raise UsageError(
                    f"{option.display_name} {value}: namespaces are distinguished by the first byte of their names, of "
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


OF_CLASSES_OF_ANY = ("named_labels", "indexing")
OF_TREES = ("filter_tree", "costs", *OF_CLASSES_OF_ANY)
OF_CLASS_LEARNERS = (
    *OF_CLASSES_OF_ANY, "probabilities", "scores",
    "oaa_subsample", "sequential", "set_loss", "label_order", "cs_absolute_loss",
)


def learner_changes(options: OptionValues) -> OptionValues:
    """The options of any learner that were typed."""
    changes: dict[str, object] = {}
    for kind in config_classes():
        changes |= pick(kind, options)
    if options.get("multiclass") and "loss_function" in options:
        changes["class_loss"] = options["loss_function"]
    return changes


def new_learner_config(options: OptionValues) -> GdConfig | DyadicConfig:
    """Make a configuration as ``learner_config``, with the link and the limits that the loss brings, and the usual
    units of labels.
    """
    changes = loss_changes(options)
    link = LOSSES[changes.get("name", "squared")].link
    config = learner_config(with_free_bound(options, LossConfig(**changes)), link=link)
    if "label_units" in options or options.get("then_bfgs") or not isinstance(config, GdConfig):
        return config
    return replace(config, label_units=config.usual_label_units)


def learner_config(options: OptionValues, **defaults: Any) -> GdConfig | DyadicConfig:
    """The configuration of a new learner: of the one that the options ask for, else of plain gradient descent."""
    if options.get("dual") and options.get("multiclass"):
        options = of_one_machine(options)
    if options.get("filter_tree") and not options.get("scoring"):
        from vwlite.learners.configs.trees import FilterTreeConfig  # which runs that begin from a model need not

        return of_any_base(FilterTreeConfig, OF_TREES, options, defaults)
    if wants_class_learners(options):
        from vwlite.learners.configs.per_class import KINDS, ClassLearnersConfig

        return of_any_base(ClassLearnersConfig, (*KINDS, *OF_CLASS_LEARNERS), options, {**defaults, "link": "identity"})
    loss = LossConfig(**loss_changes(options))
    kind = kind_of(options)
    own: OptionValues = {"pairs": len(options["dotproduct"])} if options.get("dotproduct") else {}
    if "class_loss" not in field_names(kind) and options.get("loss_function") in OF_CLASSES:
        raise UsageError(f"--loss_function {options['loss_function']} needs --multiclass")
    if "loss_function" not in options:
        loss = replace(loss, name=kind.default_loss)
    changes = dict(learner_changes(options))
    for name in ("costs", "scoring"):
        if options.get(name) and not options.get("filter_tree"):
            raise UsageError(f"--{name} needs --filter_tree")
    known = field_names(kind)
    orders = options.get("folds") or not kind.needs_full_passes
    if issubclass(kind, GdConfig) and orders and "random_seed" not in known:
        changes.pop("random_seed", None)  # the order of --shuffle and the choice of --folds follow it too
    for name in changes:
        if name not in known:
            asking = " and ".join(f"--{name}" for name in kind.selected_together) or "--dotproduct"
            lacking = [f"--{other}" for other in selected_with(name, "dotproduct") if other not in options]
            reason = f"does not go with {asking}" if own else f"needs {needed_by(name)}"
            if own and lacking:
                reason = f"needs {' and '.join(lacking)} beside --dotproduct"
            raise UsageError(f"{typed_as(name)} {reason}")
        if name in kind.needs_pairs and not own:
            raise UsageError(f"{typed_as(name)} needs --dotproduct")
    return kind(loss=loss, **own, **{**defaults, **changes})


def of_one_machine(options: OptionValues) -> OptionValues:
    """The options of ``--multiclass --dual``: one learner for each class, as with ``--oaa``, fitted together."""
    loss = options.get("loss_function", "crammer_singer")
    if loss != "crammer_singer":
        instead = "--oaa has one machine for each class"
        raise UsageError(f"--multiclass with --dual takes --loss_function crammer_singer, not {loss}: {instead}")
    others = {name: value for name, value in options.items() if name not in ("multiclass", "loss_function")}
    return {**others, "oaa": options["multiclass"], "joint": True}


def of_any_base(
    kind: type[FilterTreeConfig | ClassLearnersConfig],
    names: Collection[str],
    options: OptionValues,
    defaults: OptionValues,
) -> PerClassConfig:
    """The configuration of classes over learners of numbers, which have all options but ``names``."""
    own = {name: options[name] for name in names if name in options}
    base = learner_config({name: value for name, value in options.items() if name not in names}, **defaults)
    return kind(loss=base.loss, base=base, pairs=getattr(base, "pairs", 0), **own)


def wants_class_learners(options: OptionValues) -> bool:
    """Whether classes are asked for over a learner that cannot share their table."""
    from vwlite.learners.configs.per_class import PerClassConfig

    asked = [kind for kind in config_classes() if any(name in options for name in kind.selected_by)]
    others = [kind for kind in asked if kind is not PerClassConfig]
    if PerClassConfig not in asked or len(others) != 1:
        return False
    return others[0].supports_oaa or (others[0].supports_trees and not others[0].is_base)


def kind_of(options: OptionValues) -> type[GdConfig | DyadicConfig]:
    asked = asked_for(options)
    included = {name for kind in asked for name in kind.includes}
    asked = [kind for kind in asked if kind.learner not in included]
    upper_first = sorted(asked, key=lambda kind: kind.is_base)
    if len(asked) == 2 and goes_over(upper_first[0].learner, upper_first[1].learner):
        return cast("type[GdConfig]", config_class(OVER.join(kind.learner for kind in upper_first)))
    if len(asked) > 1:
        typed = {
            kind: [f"--{name}" for name in (*kind.selected_by, *kind.selected_together) if name in options]
            for kind in asked
        }
        reasons = (
            f"; with {' and '.join(names)} {kind.exclusivity}" for kind, names in typed.items() if kind.exclusivity
        )
        together = " and ".join(dict.fromkeys(name for names in typed.values() for name in names))
        raise UsageError(f"{together} do not go together{''.join(reasons)}")
    return cast("type[GdConfig | DyadicConfig]", asked[0]) if asked else GdConfig


def asked_for(options: OptionValues) -> list[type[LearnerConfig]]:
    """The options of the learners that are asked for."""
    together = [kind for kind in config_classes() if kind.selected_with(options)]
    taken = {name for kind in together for name in kind.selected_together}
    others = [kind for kind in config_classes() if any(option in options for option in {*kind.selected_by} - taken)]
    return [*together, *others]


def selected_with(name: str, other: str) -> Collection[str]:
    """The options that together ask for the first learner with the option ``name``, where ``other`` is among them."""
    together = kind_with(name).selected_together
    return together if other in together else ()


def kind_with(name: str) -> type[LearnerConfig]:
    """The options of the first learner that has this one."""
    return next(kind for kind in config_classes() if name in field_names(kind))


def needed_by(name: str) -> str:
    """The options that select the first learner with the option ``name``, or those that do so together with it."""
    kind = kind_with(name)
    beside = [one for one in config_classes() if name in one.selected_together] or [kind]
    others = [" and ".join(f"--{option}" for option in one.selected_together if option != name) for one in beside]
    return " or ".join([f"--{option}" for option in kind.selected_by] or others)


def typed_as(name: str) -> str:
    """Return how the option is spelled that sets a field, where that is not the field's name."""
    declared = next((options_of(kind)[name] for kind in config_classes() if name in options_of(kind)), None)
    spelled = declared.display_name if declared else f"--{name}"
    return f"--{name}" if spelled.replace("-", "_") == f"__{name}" else spelled
