"""Learners: each a configuration, its state arrays and the calls into its kernel.

To add one: a line of ``CLASSES``, a module here with that class (derived from ``Learner``), one of the same name in
``configs/`` with the class of its options, and a kernel in ``cython_ext/learners/``.
"""

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

from vwlite.errors import ModelError
from vwlite.options import config

if TYPE_CHECKING:
    from vwlite.learners.base import Learner
    from vwlite.learners.configs.base import LearnerConfig

CLASSES = {  # name in models -> module and class; that of its options has the module's name too, and ends in Config
    "gd": "gd.Gd",
    "average": "average.Average",
    "coin": "coin.Coin",
    "many": "per_class.PerClass",
    "multiclass": "softmax.Multiclass",
    "log_multi": "log_multi.LogMulti",
    "ect": "ect.Ect",
    "filter_tree": "filter_tree.FilterTree",
    "class_learners": "class_learners.ClassLearners",
    "bfgs": "bfgs.Bfgs",
    "dual": "dual.Dual",
    "ksvm": "ksvm.Ksvm",
    "active": "active.Active",
    "ldf": "multiline.Multiline",
    "cb": "bandit.Bandit",
    "cb_adf": "bandit_groups.BanditGroups",
    "cb_explore": "explore.Explore",
    "cb_explore_adf": "explore_groups.ExploreGroups",
    "cbify": "simulate.Simulate",
    "cbify_ldf": "simulate_groups.SimulateGroups",
    "lrq": "lrq.Lrq",
    "dyadic": "dyadic.Dyadic",
    "active_dyadic": "active_dyadic.ActiveDyadic",
    "lfl": "lfl.Lfl",
    "nn": "nn.Nn",
    "nn_classes": "nn_classes.NnClasses",
    "scoring_tree": "scoring_tree.ScoringTree",
    "outputs": "outputs.Outputs",
    "factored": "factored.Factored",
    "vw_nn": "vw_nn.VwNn",
    "bfgs_outputs": "bfgs_outputs.BfgsOutputs",
    "bfgs_multiclass": "bfgs_multiclass.BfgsMulticlass",
}
ELSEWHERE = {  # learners of other commands
    "l1": "a log-linear model with named labels is for vwlite l1, predict, evaluate and inspect",
    "aso": "a model of vwlite aso train is for vwlite predict, evaluate and inspect",
    "aso-theta": "a Theta is for vwlite aso train and vwlite aso inspect",
    "pca": "a model of vwlite pca is for vwlite project and inspect",
    "cluster": "a model of vwlite cluster is for vwlite predict, evaluate and inspect",
    "lm": "a model of vwlite lm train is for vwlite lm rank, vectors and features, and vwlite inspect",
}


OVER = "+"  # between a learner and that which it is put over, as in many+coin


def learner_class(name: Any) -> "type[Learner]":
    """The class of a learner by name. Raises ModelError for an unknown one: a model's header names it.

    ``many+coin`` is both: what ``many`` asks of ``super()``, which else is gradient descent, is answered by ``coin``.
    """
    if name in ELSEWHERE:
        raise ModelError(ELSEWHERE[name])
    upper, over, lower = str(name).partition(OVER)
    if upper not in CLASSES or (over and not goes_over(upper, lower)):
        raise ModelError(f"this version of vwlite knows no learner {name!r}; it has {', '.join(CLASSES)}")
    learner = found("", CLASSES[upper], "")
    return put_over(learner, learner_class(lower)) if lower else learner


def config_class(name: str) -> "type[LearnerConfig]":
    """The class of a learner's options; needs neither NumPy nor a kernel."""
    upper, _, lower = name.partition(OVER)
    options = found("configs.", CLASSES[upper], "Config")
    return put_options_over(options, config_class(lower)) if lower else options


def config_classes() -> "tuple[type[LearnerConfig], ...]":
    """The classes of the learners' options, in the order of ``CLASSES``."""
    return tuple(map(config_class, CLASSES))


def goes_over(upper: str, lower: str) -> bool:
    """Whether one learner can be put over another."""
    known = upper in CLASSES and lower in CLASSES
    return known and config_class(upper).goes_over_bases and config_class(lower).is_base


@cache
def put_over(upper: "type[Learner]", lower: "type[Learner]") -> "type[Learner]":
    name = f"{upper.__name__}Over{lower.__name__}"
    kernel_config = type(f"{name}KernelConfig", (upper.kernel_config, lower.kernel_config), {"__module__": __name__})
    members = {"name": upper.name + OVER + lower.name, "kernel_config": kernel_config, "__module__": __name__}
    members["config_type"] = put_options_over(upper.config_type, lower.config_type)
    return type(name, (upper, lower), members)


@cache
def put_options_over(upper: "type[LearnerConfig]", lower: "type[LearnerConfig]") -> "type[LearnerConfig]":
    members = {"learner": upper.learner + OVER + lower.learner, "__module__": __name__}
    return config(type(f"{upper.__name__}Over{lower.__name__}", (upper, lower), members))


def found(room: str, entry: str, ending: str) -> Any:
    """The class that an entry of ``CLASSES`` names."""
    module, _, name = entry.partition(".")
    return getattr(importlib.import_module(f"vwlite.learners.{room}{module}"), name + ending)
