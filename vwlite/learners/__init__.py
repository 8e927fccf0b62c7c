"""Learners: each a configuration, its state arrays and the calls into its kernel.

To add one: a line of ``CLASSES``, that class (derived from ``Learner``) in a module here, the class of its options in a
module of ``configs/``, which needs no NumPy, and a kernel in ``cython_ext/learners/``.
"""

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from vwlite.errors import ModelError
from vwlite.options import config

if TYPE_CHECKING:
    from vwlite.learners.base import Learner
    from vwlite.learners.configs.base import LearnerConfig

CLASSES = {  # name in models -> its class, in a module here, and that of its options, in a module of configs/
    "gd": ("gd.Gd", "gd.GdConfig"),
    "average": ("average.Average", "gd.AverageConfig"),
    "coin": ("coin.Coin", "gd.CoinConfig"),
    "passive_aggressive": ("coin.PassiveAggressive", "gd.PassiveAggressiveConfig"),
    "many": ("per_class.PerClass", "per_class.PerClassConfig"),
    "multiclass": ("softmax.Multiclass", "per_class.MulticlassConfig"),
    "log_multi": ("trees.LogMulti", "trees.LogMultiConfig"),
    "ect": ("trees.Ect", "trees.EctConfig"),
    "filter_tree": ("trees.FilterTree", "trees.FilterTreeConfig"),
    "class_learners": ("ensemble.ClassLearners", "per_class.ClassLearnersConfig"),
    "bfgs": ("bfgs.Bfgs", "bfgs.BfgsConfig"),
    "dual": ("dual.Dual", "dual.DualConfig"),
    "ksvm": ("ksvm.Ksvm", "dual.KsvmConfig"),
    "active": ("active.Active", "active.ActiveConfig"),
    "ldf": ("multiline.Multiline", "per_class.MultilineConfig"),
    "cb": ("bandit.Bandit", "bandit.BanditConfig"),
    "cb_adf": ("explore.BanditGroups", "bandit.BanditGroupsConfig"),
    "cb_explore": ("explore.Explore", "explore.ExploreConfig"),
    "cb_explore_adf": ("explore.ExploreGroups", "explore.ExploreGroupsConfig"),
    "cbify": ("simulate.Simulate", "explore.SimulateConfig"),
    "cbify_ldf": ("simulate.SimulateGroups", "explore.SimulateGroupsConfig"),
    "lrq": ("lrq.Lrq", "lrq.LrqConfig"),
    "dyadic": ("dyadic.Dyadic", "dyadic.DyadicConfig"),
    "active_dyadic": ("active.ActiveDyadic", "active.ActiveDyadicConfig"),
    "als": ("lrq.Als", "lrq.AlsConfig"),
    "lfl": ("label_vectors.Lfl", "label_vectors.LflConfig"),
    "nn": ("nn.Nn", "nn.NnConfig"),
    "nn_classes": ("nn.NnClasses", "nn.NnClassesConfig"),
    "scoring_tree": ("trees.ScoringTree", "trees.ScoringTreeConfig"),
    "outputs": ("outputs.Outputs", "outputs.OutputsConfig"),
    "factored": ("factored.Factored", "outputs.FactoredConfig"),
    "factored_classes": ("factored.FactoredClasses", "outputs.FactoredClassesConfig"),
    "vw_rank": ("lrq.VwRank", "lrq.VwRankConfig"),
    "vw_nn": ("nn.VwNn", "nn.VwNnConfig"),
    "bfgs_outputs": ("bfgs.BfgsOutputs", "bfgs.BfgsOutputsConfig"),
    "bfgs_multiclass": ("bfgs.BfgsMulticlass", "bfgs.BfgsMulticlassConfig"),
}


class Elsewhere(NamedTuple):
    what: str
    belongs: str  # whose it is, and what it is for


NAMED = "a model of named labels"
ELSEWHERE = {  # learner in models of other commands
    "l1": Elsewhere(NAMED, "a log-linear model with named labels is for vwlite l1, predict, evaluate and inspect"),
    "aso": Elsewhere(NAMED, "a model of vwlite aso train is for vwlite predict, evaluate and inspect"),
    "aso-tasks": Elsewhere(
        "a model of tasks", "a model of vwlite aso tasks is for vwlite predict, evaluate and inspect"
    ),
    "aso-theta": Elsewhere("a Theta", "a Theta is for vwlite aso train and vwlite aso inspect"),
    "pca": Elsewhere("a model of principal components", "a model of vwlite pca is for vwlite project and inspect"),
    "cluster": Elsewhere(
        "a model of clusters", "a model of vwlite cluster is for vwlite predict, evaluate and inspect"
    ),
    "lm": Elsewhere(
        "a language model",
        "a model of vwlite lm train is for vwlite lm rank, vectors and features, and vwlite inspect",
    ),
}


OVER = "+"  # between a learner and that which it is put over, as in many+coin


def check_name(name: Any) -> None:
    """Raises ModelError for a name of no learner here, such as the header of a model may have."""
    if name in ELSEWHERE:
        raise ModelError(ELSEWHERE[name].belongs)
    upper, over, lower = str(name).partition(OVER)
    if upper not in CLASSES or (over and not goes_over(upper, lower)):
        raise ModelError(f"this version of vwlite knows no learner {name!r}; it has {', '.join(CLASSES)}")


def learner_class(name: Any) -> "type[Learner]":
    """The class of a learner by name. Raises ModelError as ``check_name``.

    ``many+coin`` is both: what ``many`` asks of ``super()``, which else is gradient descent, is answered by ``coin``.
    """
    check_name(name)
    upper, _, lower = name.partition(OVER)
    learner = load_class("vwlite.learners", CLASSES[upper][0])
    return put_over(learner, learner_class(lower)) if lower else learner


def config_class(name: str) -> "type[LearnerConfig]":
    """The class of a learner's options; needs neither NumPy nor a kernel. The name is a known one."""
    upper, _, lower = name.partition(OVER)
    options = load_class("vwlite.learners.configs", CLASSES[upper][1])
    return put_options_over(options, config_class(lower)) if lower else options


def config_classes() -> "tuple[type[LearnerConfig], ...]":
    """The classes of the learners' options, in the order of ``CLASSES``."""
    return tuple(map(config_class, CLASSES))


def goes_over(upper: str, lower: str) -> bool:
    """Whether one learner can be put over another."""
    known = upper in CLASSES and lower in CLASSES
    return known and config_class(upper).is_reduction and config_class(lower).is_base


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


@cache
def load_class(package: str, entry: str) -> Any:
    """The class that an entry of ``CLASSES`` names."""
    module, _, name = entry.partition(".")
    return getattr(importlib.import_module(f"{package}.{module}"), name)
