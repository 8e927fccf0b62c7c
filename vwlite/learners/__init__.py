"""Learners: each a configuration, its state arrays and the calls into its kernel.

To add one: a module here with a ``Learner`` class named in ``CLASSES``, and a kernel in ``cython_ext/learners/``.
"""

import importlib
from typing import TYPE_CHECKING, Any

from vwlite.errors import ModelError, UsageError

if TYPE_CHECKING:
    from vwlite.learners.base import Learner

CLASSES = {  # name in models and options -> module and class
    "gd": "gd.Gd",
    "dyadic": "dyadic.Dyadic",
    "many": "per_class.Many",
    "multiclass": "softmax.Multiclass",
    "bfgs": "bfgs.Bfgs",
    "coin": "coin.Coin",
    "lrq": "lrq.Lrq",
    "active": "active.Active",
    "filter_tree": "filter_tree.FilterTree",
    "log_multi": "log_multi.LogMulti",
    "ect": "ect.Ect",
    "ldf": "multiline.Ldf",
}
ELSEWHERE = {  # learners of other commands
    "l1": "a log-linear model with named labels is for vwlite l1, predict, evaluate and inspect",
    "aso": "a model of vwlite aso train is for vwlite predict, evaluate and inspect",
    "aso-theta": "a Theta is for vwlite aso train and vwlite aso inspect",
}


NOT_AS_TEXT = {"dyadic": "dotproduct", "filter_tree": "filter_tree", "multiclass": "multiclass"}  # learner, its option


def check_as_text(name: str) -> None:
    """Raises UsageError for a learner whose models have no place in vw's text of a model."""
    if name in NOT_AS_TEXT:
        raise UsageError(f"models of --{NOT_AS_TEXT[name]} are not written as vw's text: see 'vwlite inspect'")


def learner_class(name: Any) -> "type[Learner]":
    """The class of a learner by name. Raises ModelError for an unknown one: a model's header names it."""
    if name in ELSEWHERE:
        raise ModelError(ELSEWHERE[name])
    if name not in CLASSES:
        raise ModelError(f"this version of vwlite knows no learner {name!r}; it has {', '.join(CLASSES)}")
    module, _, kind = CLASSES[name].partition(".")
    return getattr(importlib.import_module(f"vwlite.learners.{module}"), kind)
