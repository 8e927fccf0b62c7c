"""Learners: each a configuration, its state arrays and the calls into its kernel.

To add one: a line of ``CLASSES``, a module here with that class (derived from ``Learner``), one of the same name in
``configs/`` with the class of its options, and a kernel in ``cython_ext/learners/``.
"""

import importlib
from typing import TYPE_CHECKING, Any

from vwlite.errors import ModelError, UsageError

if TYPE_CHECKING:
    from vwlite.learners.base import Learner
    from vwlite.learners.configs.dyadic import DyadicConfig
    from vwlite.learners.configs.gd import GdConfig

CLASSES = {  # name in models -> module and class; that of its options has the module's name too, and ends in Config
    "gd": "gd.Gd",
    "coin": "coin.Coin",
    "many": "per_class.Many",
    "multiclass": "softmax.Multiclass",
    "log_multi": "log_multi.LogMulti",
    "ect": "ect.Ect",
    "filter_tree": "filter_tree.FilterTree",
    "bfgs": "bfgs.Bfgs",
    "active": "active.Active",
    "ldf": "multiline.Ldf",
    "lrq": "lrq.Lrq",
    "dyadic": "dyadic.Dyadic",
}
ELSEWHERE = {  # learners of other commands
    "l1": "a log-linear model with named labels is for vwlite l1, predict, evaluate and inspect",
    "aso": "a model of vwlite aso train is for vwlite predict, evaluate and inspect",
    "aso-theta": "a Theta is for vwlite aso train and vwlite aso inspect",
}


def check_as_text(config: Any) -> None:
    """Raises UsageError for a learner whose models have no place in vw's text of a model."""
    if not config.written_as_text:
        raise UsageError(f"models of --{config.asked_by[0]} are not written as vw's text: see 'vwlite inspect'")


def config_classes() -> "tuple[type[GdConfig | DyadicConfig], ...]":
    """The classes of the learners' options, in the order of ``CLASSES``; they need neither NumPy nor kernels."""
    return tuple(found("configs.", entry, "Config") for entry in CLASSES.values())


def learner_class(name: Any) -> "type[Learner]":
    """The class of a learner by name. Raises ModelError for an unknown one: a model's header names it."""
    if name in ELSEWHERE:
        raise ModelError(ELSEWHERE[name])
    if name not in CLASSES:
        raise ModelError(f"this version of vwlite knows no learner {name!r}; it has {', '.join(CLASSES)}")
    return found("", CLASSES[name], "")


def found(room: str, entry: str, ending: str) -> Any:
    """The class that an entry of ``CLASSES`` names."""
    module, _, name = entry.partition(".")
    return getattr(importlib.import_module(f"vwlite.learners.{room}{module}"), name + ending)
