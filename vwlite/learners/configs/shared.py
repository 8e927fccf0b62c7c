"""Options that several learners have."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from vwlite.errors import UsageError
from vwlite.options import option, options_of

WHY_NOT = {  # what options of gradient descent say that another update leaves no room for
    **dict.fromkeys(("sgd", "adaptive", "normalized", "invariant", "initial_t", "power_t"), "it has rates of its own"),
    **dict.fromkeys(("l1", "l2", "sparse_l2"), "it has no such penalty"),
    **dict.fromkeys(("min_prediction", "max_prediction", "binary"), "it answers with classes"),
    **dict.fromkeys(("initial_weight", "constant"), "it has start values of its own"),
    "ftrl": "it has an update of its own",
    "oaa_subsample": "every example is learned by all classes",
    "cs_absolute_loss": "its labels have no costs; --csoaa takes it",
}


def refuse(config: Any, names: Iterable[str], beside: str, instead: str) -> None:
    """Raises UsageError for the first of these options that is set; ``instead`` says which learner takes it."""
    for name in names:
        if getattr(config, name) != options_of(type(config))[name].default:
            way = "" if name in ("binary", "cs_absolute_loss") else f"; {instead}"
            raise UsageError(f"--{name} does not go with {beside}: {WHY_NOT[name]}{way}")


def random_seed() -> Any:
    return option(
        0,
        "Seed of start values, of --shuffle, --shuffle-first, --dual, --ksvm, --oaa_subsample, --active and --bag.",
        section="Passes",
        spelled=("--random_seed", "--seed"),
        settled=True,
    )


def levels() -> Any:
    return option(
        (), "Labels are these numbers, and so are predictions: the nearest one.", section="Update",
        metavar="A..B|A,B,...", read_as="levels", settled=True,
    )


def check_levels(config: Any) -> None:
    """Raises UsageError for levels that are none, and beside options of which the answer is another."""
    values = config.levels
    if not values:
        return
    if not config.takes_levels:
        raise UsageError(f"--levels does not go with --{config.option}: its predictions are no numbers near a level")
    if len(values) < 2 or not all(low < high for low, high in pairwise(values)):
        shown = ",".join(f"{value:g}" for value in values)
        raise UsageError(f"--levels takes two numbers or more, ascending and each once, not {shown}")
    if config.binary:
        raise UsageError("--levels and --binary do not go together: the answer is one or the other")
    if config.loss.loss.two_classes and not config.loss.soft:
        raise UsageError(f"--levels goes with losses of numbers, not --loss_function {config.loss.name} of two classes")
