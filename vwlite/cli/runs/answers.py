"""What ``vwlite predict`` can show of a model beside its answers, whatever was typed when it was trained."""

from typing import Any

from vwlite.errors import UsageError
from vwlite.training.model_header import stored

SHOWN = ("probabilities", "scores", "raw")
TREES = ("log_multi", "ect", "filter_tree")
PLAIN = {"probabilities": False, "scores": False}  # of models of classes


def changes_for(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The learner's options that show what is asked for, and ``as_raw`` where answers are written as ``-r`` has them.

    Raises UsageError where the model has nothing of the kind, or two kinds are asked for.
    """
    named = [name for name in SHOWN if asked[name]]
    if len(named) > 1:
        raise UsageError(f"--{named[0]} and --{named[1]} do not go together: each takes the place of the answers")
    if not named:
        return {}
    config = stored(path).config
    kind = config.learner
    if kind in TREES:
        raise UsageError(f"--{named[0]}: a tree of classes has but its answers, neither scores nor probabilities")
    if kind == "ldf":
        return {"probabilities": named[0] == "probabilities", "csoaa_rank": named[0] != "probabilities"}
    if kind == "multiclass":
        return of_classes(named[0], config.class_loss, "multinomial")
    if kind == "many":
        return of_many(named[0], config)
    return of_numbers(named[0], config)


def of_many(name: str, config: Any) -> dict[str, Any]:
    if config.csoaa and name == "probabilities":
        raise UsageError("--probabilities: costs are none; --scores shows the cost predicted of every class")
    if not config.oaa and name != "probabilities":
        return {**PLAIN, "as_raw": True}
    return {**of_classes(name, config.loss.name, "logistic"), "oaa_subsample": 0}


def of_classes(name: str, loss: str, needed: str) -> dict[str, Any]:
    if name == "probabilities":
        check_loss(loss, needed, "--scores shows every class's score")
    if name == "raw":
        return {**PLAIN, "as_raw": True}
    return {**PLAIN, name: True}


def of_numbers(name: str, config: Any) -> dict[str, Any]:
    if name == "scores":
        raise UsageError("--scores is for models of classes: --raw shows the sum that the prediction is made of")
    if name == "probabilities":
        check_loss(config.loss.name, "logistic", "--raw shows the sums")
    link = {"link": "logistic" if name == "probabilities" else "identity"}
    return {**link, "binary": False} if getattr(config, "binary", False) else link


def check_loss(loss: str, needed: str, instead: str) -> None:
    if loss != needed:
        raise UsageError(f"--probabilities needs a model of --loss_function {needed}, not {loss}: {instead}")


def to_measure(path: str) -> dict[str, Any]:
    """With probabilities where there are any, for their log loss."""
    config = stored(path).config
    if config.learner == "many" and config.oaa and config.loss.name == "logistic":
        return {**PLAIN, "probabilities": True, "oaa_subsample": 0}
    return {}
