"""Which learner the options ask for, and its configuration."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from vwlite.api.run_configs import loss_changes, pick
from vwlite.errors import UsageError
from vwlite.learners import OVER, config_class, config_classes, goes_over
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import KINDS, ClassLearnersConfig, PerClassConfig
from vwlite.learners.configs.trees import FilterTreeConfig
from vwlite.learners.losses import LOSSES, OF_CLASSES, LossConfig, with_free_bound
from vwlite.options import options_of

if TYPE_CHECKING:
    from vwlite.learners.configs.base import LearnerConfig
    from vwlite.learners.configs.dyadic import DyadicConfig

OF_CLASSES_OF_ANY = ("named_labels", "indexing")
OF_TREES = ("filter_tree", "costs", *OF_CLASSES_OF_ANY)
OF_CLASS_LEARNERS = (
    *KINDS, *OF_CLASSES_OF_ANY, "probabilities", "scores",
    "oaa_subsample", "sequential", "set_loss", "label_order", "cs_absolute_loss",
)


def learner_changes(options: dict[str, Any]) -> dict[str, Any]:
    """The options of any learner that were typed."""
    changes: dict[str, Any] = {}
    for kind in config_classes():
        changes |= pick(kind, options)
    if options.get("multiclass") and "loss_function" in options:
        changes["class_loss"] = options["loss_function"]
    return changes


def new_learner_config(options: dict[str, Any]) -> GdConfig | DyadicConfig:
    """As ``learner_config``, with the link and the limits that the loss brings, and the usual units of labels."""
    changes = loss_changes(options)
    link = LOSSES[changes.get("name", "squared")].link
    config = learner_config(with_free_bound(options, LossConfig(**changes)), link=link)
    if "label_units" in options or options.get("then_bfgs") or not isinstance(config, GdConfig):
        return config
    return replace(config, label_units=config.usual_label_units)


def learner_config(options: dict[str, Any], **defaults: Any) -> GdConfig | DyadicConfig:
    """The configuration of a new learner: of the one that the options ask for, else of plain gradient descent."""
    if options.get("dual") and options.get("multiclass"):
        options = of_one_machine(options)
    if options.get("filter_tree") and not options.get("scoring"):
        return of_any_base(FilterTreeConfig, OF_TREES, options, defaults)
    if wants_class_learners(options):
        return of_any_base(ClassLearnersConfig, OF_CLASS_LEARNERS, options, {**defaults, "link": "identity"})
    loss = LossConfig(**loss_changes(options))
    kind = kind_of(options)
    own: dict[str, Any] = {"pairs": len(options["dotproduct"])} if options.get("dotproduct") else {}
    if "class_loss" not in {field.name for field in fields(kind)} and options.get("loss_function") in OF_CLASSES:
        raise UsageError(f"--loss_function {options['loss_function']} needs --multiclass")
    if "loss_function" not in options:
        loss = replace(loss, name=kind.default_loss)
    changes = learner_changes(options)
    for name in ("costs", "scoring"):
        if options.get(name) and not options.get("filter_tree"):
            raise UsageError(f"--{name} needs --filter_tree")
    known = {field.name for field in fields(kind)}
    orders = options.get("folds") or not kind.needs_full_passes
    if issubclass(kind, GdConfig) and orders and "random_seed" not in known:
        changes.pop("random_seed", None)  # the order of --shuffle and the choice of --folds follow it too
    for name in changes:
        if name not in known:
            asking = " and ".join(f"--{one}" for one in kind.selected_together) or "--dotproduct"
            lacking = [f"--{one}" for one in selected_with(name, "dotproduct") if one not in options]
            reason = f"does not go with {asking}" if own else f"needs {needed_by(name)}"
            if own and lacking:
                reason = f"needs {' and '.join(lacking)} beside --dotproduct"
            raise UsageError(f"{typed_as(name)} {reason}")
        if name in kind.needs_pairs and not own:
            raise UsageError(f"{typed_as(name)} needs --dotproduct")
    return kind(loss=loss, **own, **{**defaults, **changes})


def of_one_machine(options: dict[str, Any]) -> dict[str, Any]:
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
    options: dict[str, Any],
    defaults: dict[str, Any],
) -> PerClassConfig:
    """The configuration of classes over learners of numbers, which have all options but ``names``."""
    own = {name: options[name] for name in names if name in options}
    base = learner_config({name: value for name, value in options.items() if name not in names}, **defaults)
    return kind(loss=base.loss, base=base, pairs=getattr(base, "pairs", 0), **own)


def wants_class_learners(options: dict[str, Any]) -> bool:
    """Whether classes are asked for over a learner that cannot share their table."""
    asked = [kind for kind in config_classes() if any(name in options for name in kind.selected_by)]
    others = [kind for kind in asked if kind is not PerClassConfig]
    if PerClassConfig not in asked or len(others) != 1:
        return False
    return others[0].supports_oaa or (others[0].supports_trees and not others[0].is_base)


def kind_of(options: dict[str, Any]) -> type[GdConfig | DyadicConfig]:
    asked = asked_for(options)
    included = {name for kind in asked for name in kind.includes}
    asked = [kind for kind in asked if kind.learner not in included]
    upper_first = sorted(asked, key=lambda kind: kind.is_base)
    if len(asked) == 2 and goes_over(*(kind.learner for kind in upper_first)):
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


def asked_for(options: dict[str, Any]) -> list[type[LearnerConfig]]:
    """The options of the learners that are asked for."""
    together = [kind for kind in config_classes() if kind.selected_with(options)]
    taken = {name for kind in together for name in kind.selected_together}
    others = [kind for kind in config_classes() if any(one in options for one in {*kind.selected_by} - taken)]
    return [*together, *others]


def selected_with(name: str, other: str) -> Collection[str]:
    """The options that together ask for the first learner with the option ``name``, where ``other`` is among them."""
    together = kind_with(name).selected_together
    return together if other in together else ()


def kind_with(name: str) -> type[LearnerConfig]:
    """The options of the first learner that has this one."""
    return next(kind for kind in config_classes() if name in {field.name for field in fields(kind)})


def needed_by(name: str) -> str:
    """The options that select the first learner with the option ``name``."""
    kind = kind_with(name)
    others = [f"--{one}" for one in kind.selected_together if one != name]
    return " or ".join(f"--{one}" for one in kind.selected_by) or " and ".join(others)


def typed_as(name: str) -> str:
    """How the option is spelled that sets a field, where that is not the field's name."""
    declared = next((options_of(kind)[name] for kind in config_classes() if name in options_of(kind)), None)
    spelled = declared.display_name if declared else f"--{name}"
    return f"--{name}" if spelled.replace("-", "_") == f"__{name}" else spelled
