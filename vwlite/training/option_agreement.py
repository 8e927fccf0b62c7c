"""Options typed beside ``-i`` must agree with the model's, where their declarations say that they are settled."""

from collections.abc import Mapping
from typing import Any

from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.options import Config, Option, options_of


def check_features(path: str, features: FeatureConfig, typed: Mapping[str, Any]) -> None:
    """Raises UsageError when ``typed``, fields of ``FeatureConfig``, differ from those of the model ``path``."""
    for name, value in typed.items():
        check(path, options_of(FeatureConfig)[name], value, getattr(features, name))


def check_learner(path: str, config: Config, typed: Mapping[str, Any]) -> None:
    """The same for options of the learner, for a model that is to learn on."""
    for name, one in options_of(type(config)).items():
        if one.settled and name in typed:
            check(path, one, typed[name], getattr(config, name))


def check_shape(path: str, config: Config, typed: Mapping[str, Any]) -> None:
    """The same for options that say what the weights are of, which no model can do with another value of."""
    for name, one in options_of(type(config)).items():
        if one.shape and name in typed:
            check(path, one, typed[name], getattr(config, name) or False)


def check_loss(path: str, config: Any, typed: Mapping[str, Any]) -> None:
    """The same for options of the loss, by the names of the fields of ``LossConfig``."""
    for name, value in typed.items():
        if name == "limited":
            if not config.loss.soft:
                raise UsageError(f"--logistic_min and --logistic_max contradict {path}, which was made without them")
            continue
        check(path, options_of(type(config.loss))[name], value, getattr(config.loss, name))


def check(path: str, one: Option, value: Any, old: Any) -> None:
    if value == old or (repeated(one, value) and sorted(value) == sorted(old)):
        return
    made = f"with {as_typed(one, old)}" if old or (old == 0 and old is not False) else "without it"
    raise UsageError(f"{as_typed(one, value)} contradicts {path}, which was made {made}")


def as_typed(one: Option, value: Any) -> str:
    if value is True:
        return one.display_name
    values = [f"{x:g}" if isinstance(x, float) else str(x) for x in (value if isinstance(value, tuple) else (value,))]
    if not repeated(one, value):
        values = [",".join(values)]
    return " ".join(f"{one.display_name} {x}" for x in values)


def repeated(one: Option, value: Any) -> bool:
    """Whether several values were typed one by one; else they are in an order that matters."""
    return isinstance(value, tuple) and one.read_as != "per_output"
