"""Options that would do nothing are refused, with what they lack (outside of ``vwlite vw``)."""

from collections.abc import Mapping
from typing import Any

import click

from vwlite.errors import UsageError
from vwlite.learners.losses import LOSSES, OF_CLASSES
from vwlite.options import Option

AGAINST_HOLDING_OUT = ("holdout_after", "holdout_period", "early_terminate")


def spelled(name: str) -> str:
    """An option of the current command as it is typed."""
    params = click.get_current_context().command.params
    return next((param.opts[0] for param in params if param.name == name), f"--{name}")


def declared() -> dict[str, Option]:
    """The options of the current command that fields of configurations declare."""
    params = click.get_current_context().command.params
    return {param.name or "": param.declared for param in params if hasattr(param, "declared")}


def check_effects(typed: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raises UsageError for the first option among ``typed`` that would be without effect."""
    options = declared()
    for name, one in options.items():
        needed = [need for need in one.needs if "=" not in need]
        allowed = arguments["initial"] and any(other in options and options[other].settled for other in needed)
        if name in typed and needed and not allowed and not any(other in typed for other in needed):
            raise UsageError(f"{one.display_name} does nothing without {' or '.join(map(spelled, needed))}")
    if typed.get("holdout_off"):
        for name in AGAINST_HOLDING_OUT:
            if name in typed:
                raise UsageError(f"--holdout_off and --{name} contradict each other: drop one")
    if "loss_function" in typed or not arguments["initial"]:
        check_loss(typed)


def check_idle(typed: Mapping[str, Any], learner: Any) -> None:
    """Raises UsageError for an option that ``learner``, a configuration, has no use for."""
    rule, names = getattr(learner, "idle", ("", ()))
    for name in names:
        if name in typed:
            raise UsageError(f"{spelled(name)} does nothing with --{rule}: drop one of the two")


def check_loss(typed: Mapping[str, Any]) -> None:
    """Parameters of another loss."""
    loss = typed.get("loss_function", "squared")
    loss = OF_CLASSES.get(loss, (loss,))[0]
    for other in LOSSES.values():
        for name in other.parameters:
            if name in typed and name not in LOSSES[loss].parameters:
                raise UsageError(f"--{name} does nothing without --loss_function {other.name}")
