"""Checks for options that contradict each other or have no effect, shared by the commands and the Python interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vwlite.errors import UsageError
from vwlite.features.config import CROSSINGS
from vwlite.learners.losses import LOSSES, OF_CLASSES, LossConfig
from vwlite.options import Option

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
            raise UsageError(f"{one.display_name} does nothing without {' or '.join(displayed(needed, options))}")
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
                    f"{one.display_name} {value}: namespaces are told apart by the first byte of their names, of which "
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
            raise UsageError(f"{displayed([name], options)[0]} does nothing with --{rule}: drop one of the two")


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


def displayed(names: list[str], options: Mapping[str, Option]) -> list[str]:
    """Names of options as they are typed, by key."""
    return [options[name].display_name if name in options else f"--{name}" for name in names]
