"""Which learner the options ask for, and its configuration."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from vwlite.cli.build import loss_changes, pick
from vwlite.cli.options import HEADINGS, OF_CLASSES
from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LossConfig

if TYPE_CHECKING:
    from vwlite.learners.configs.dyadic import DyadicConfig
    from vwlite.learners.configs.filter_tree import FilterTreeConfig

# Sections of --help.
OWN_OPTIONS = (
    *("Batch optimisation", "Classes", "Groups of lines", "Low-rank quadratic interactions", "Active learning"),
)
OF_VECTORS = "Dot products of latent vectors"
OF_TREES = ("filter_tree", "costs", "named_labels", "indexing")
Kinds = dict[type[GdConfig], tuple[str, ...]]


def linear_kinds(options: dict[str, Any]) -> Kinds:
    """Kinds of learner beside the plain one, with the options that ask for each; none if no typed option is theirs."""
    if not any(HEADINGS.get(name) in OWN_OPTIONS or name in ("coin", "pistol") for name in options):
        return {}
    from vwlite.learners.configs.active import ActiveConfig
    from vwlite.learners.configs.bfgs import BfgsConfig
    from vwlite.learners.configs.coin import CoinConfig
    from vwlite.learners.configs.ect import EctConfig
    from vwlite.learners.configs.log_multi import LogMultiConfig
    from vwlite.learners.configs.lrq import LrqConfig
    from vwlite.learners.configs.multiline import LdfConfig
    from vwlite.learners.configs.per_class import KINDS, ManyConfig
    from vwlite.learners.configs.softmax import MulticlassConfig

    return {
        ManyConfig: KINDS,
        MulticlassConfig: ("multiclass",),
        LogMultiConfig: ("log_multi",),
        EctConfig: ("ect",),
        BfgsConfig: ("bfgs", "conjugate_gradient"),
        CoinConfig: ("coin", "pistol"),
        LrqConfig: ("lrq",),
        ActiveConfig: ("active", "confidence"),
        LdfConfig: ("csoaa_ldf", "wap_ldf"),
    }


def dyadic_kind() -> type[DyadicConfig]:
    from vwlite.learners.configs.dyadic import DyadicConfig

    return DyadicConfig


def tree_kind() -> type[FilterTreeConfig]:
    from vwlite.learners.configs.filter_tree import FilterTreeConfig

    return FilterTreeConfig


def learner_changes(options: dict[str, Any]) -> dict[str, Any]:
    """The options of any learner that were typed."""
    changes: dict[str, Any] = {}
    kinds: list[type] = [GdConfig]
    if any(HEADINGS.get(name) == OF_VECTORS for name in options):
        kinds.append(dyadic_kind())
    kinds += linear_kinds(options)
    if options.get("filter_tree") or options.get("costs"):
        kinds.append(tree_kind())
    for kind in kinds:
        changes |= pick(kind, options)
    if options.get("multiclass") and "loss_function" in options:
        changes["class_loss"] = options["loss_function"]
    return changes


def learner_config(options: dict[str, Any], **defaults: Any) -> GdConfig | DyadicConfig:
    """A new learner's configuration: dyadic with ``--dotproduct``, with classes, or plain gradient descent."""
    if options.get("filter_tree"):
        return tree_config(options, defaults)
    loss = LossConfig(**loss_changes(options))
    pairs = len(options.get("dotproduct", ()))
    kind = dyadic_kind() if pairs else kind_of(options)
    if kind.learner != "multiclass" and options.get("loss_function") in OF_CLASSES:
        raise UsageError(f"--loss_function {options['loss_function']} needs --multiclass")
    if "loss_function" not in options:
        loss = replace(loss, name=kind.default_loss)
    changes = learner_changes(options)
    if options.get("costs"):
        raise UsageError("--costs needs --filter_tree")
    if kind is GdConfig:
        changes.pop("random_seed", None)  # the order of --shuffle follows it too
    known = {field.name for field in fields(kind)}
    for name in changes:
        if name not in known:
            reason = "does not go with --dotproduct" if pairs else f"needs {needed_by(name, options)}"
            raise UsageError(f"--{name} {reason}")
    return kind(loss=loss, **({"pairs": pairs} if pairs else {}), **{**defaults, **changes})


def tree_config(options: dict[str, Any], defaults: dict[str, Any]) -> GdConfig:
    """Of ``--filter_tree``: all options but its own are those of the nodes."""
    own = {name: options[name] for name in OF_TREES if name in options}
    base = learner_config({name: value for name, value in options.items() if name not in OF_TREES}, **defaults)
    return tree_kind()(loss=base.loss, base=base, pairs=getattr(base, "pairs", 0), **own)


def kind_of(options: dict[str, Any]) -> type[GdConfig]:
    """Of a learner without dot products."""
    kinds = linear_kinds(options)
    asked = [kind for kind, names in kinds.items() if any(name in options for name in names)]
    if len(asked) > 1:
        typed = [f"--{name}" for kind in asked for name in kinds[kind] if name in options]
        raise UsageError(f"{' and '.join(typed)} do not go together")
    return asked[0] if asked else GdConfig


def needed_by(name: str, options: dict[str, Any]) -> str:
    """What an option makes sense with."""
    for kind, names in linear_kinds(options).items():
        if name in {field.name for field in fields(kind)}:
            return " or ".join(f"--{one}" for one in names)
    return "--dotproduct"
