"""Options typed beside ``-i`` must agree with the model's; only those that steer further learning may differ."""

from collections.abc import Mapping
from typing import Any

from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig

SHORT = {"bits": "-b", "quadratic": "-q", "constant": "-C", "learning_rate": "-l"}
SETTLED = (
    *("sgd", "adaptive", "normalized", "invariant", "initial_t", "initial_weight", "constant", "link", "sparse_l2"),
    *("ftrl", "ftrl_alpha", "ftrl_beta"),
    *("rank", "dot_init", "dot_init_kind", "dot_offset", "no_dot_linear", "random_seed"),
)  # options of the learner that are settled when a model is begun

# Options that say how many sets of weights there are, and of what.
SHAPE = ("oaa", "csoaa", "multilabel_oaa", "multiclass", "log_multi", "ect", "error", "filter_tree", "costs")


def check_features(path: str, features: FeatureConfig, typed: Mapping[str, Any]) -> None:
    """Raises UsageError when ``typed``, fields of ``FeatureConfig``, differ from those of the model ``path``."""
    for name, value in typed.items():
        check(path, name, value, getattr(features, name))


def check_learner(path: str, config: Any, typed: Mapping[str, Any]) -> None:
    """The same for options of the learner; those of the loss go by the names of ``LossConfig``."""
    for name, value in typed.items():
        if name in SETTLED and hasattr(config, name):
            check(path, name, value, getattr(config, name))


def check_shape(path: str, config: Any, typed: Mapping[str, Any]) -> None:
    """The same for options that no model can do with another value of, whoever learns on with it."""
    for name in SHAPE:
        if name in typed and hasattr(config, name):
            check(path, name, typed[name], getattr(config, name) or False)


def check_loss(path: str, config: Any, typed: Mapping[str, Any]) -> None:
    for name, value in typed.items():
        if name == "limited":
            if not config.loss.soft:
                raise UsageError(f"--logistic_min and --logistic_max contradict {path}, which was made without them")
            continue
        check(path, "loss_function" if name == "name" else name, value, getattr(config.loss, name))


def check(path: str, name: str, value: Any, old: Any) -> None:
    if value == old or (isinstance(value, tuple) and sorted(value) == sorted(old)):
        return
    option = SHORT.get(name, f"--{name}")
    made = f"with {spelled(option, old)}" if old or (old == 0 and old is not False) else "without it"
    raise UsageError(f"{spelled(option, value)} contradicts {path}, which was made {made}")


def spelled(option: str, value: Any) -> str:
    """The option as it is typed."""
    if value is True:
        return option
    values = value if isinstance(value, tuple) else (value,)
    return " ".join(f"{option} {one:g}" if isinstance(one, float) else f"{option} {one}" for one in values)
