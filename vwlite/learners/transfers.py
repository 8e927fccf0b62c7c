"""``--transfer``: a loss, the limits of its labels and its link, by the function that makes a prediction of a sum.

The loss is the one that matches: its slope is the prediction less the label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vwlite.errors import UsageError
from vwlite.options import Config, config, option

TRANSFERS: Mapping[str, Mapping[str, Any]] = {
    "identity": {"loss_function": "squared", "link": "identity"},
    "exp": {"loss_function": "poisson", "link": "poisson"},
    "sigmoid": {"loss_function": "logistic", "logistic_min": 0.0, "logistic_max": 1.0, "link": "logistic"},
    "tanh": {"loss_function": "logistic", "logistic_min": -1.0, "logistic_max": 1.0, "link": "glf1"},
}
OWN = {"loss_function": "loss", "link": "link", "logistic_min": "limits", "logistic_max": "limits"}
FOR_CLASSES = (
    *("multiclass", "oaa", "csoaa", "multilabel_oaa", "csoaa_ldf", "wap_ldf"),
    *("log_multi", "ect", "filter_tree"),
)


@config
class TransferConfig(Config):
    """Of no learner: what stands for these options is a part of models, see ``spelled_out``."""

    transfer: str = option(
        "", "Predictions are this function of sums, learned by the loss that matches: squared, poisson, logistic of "
        "labels from 0 to 1, or from -1 to 1.",
        section="Loss", choices=tuple(TRANSFERS), shown="", elsewhere=(("softmax", "--multiclass K --label_shares"),),
    )


def spelled_out(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Options of which ``transfer``, if it is among them, is replaced by what it stands for.

    Raises UsageError beside options that it sets, and beside classes.
    """
    if "transfer" not in typed:
        return dict(typed)
    name = typed["transfer"]
    for key, what in OWN.items():
        if key in typed:
            raise UsageError(f"{name} goes with its own {what}; --{key} is not needed")
    for key in FOR_CLASSES:
        if key in typed:
            raise UsageError(f"--transfer is for numbers, not for the classes of --{key}")
    others = {key: value for key, value in typed.items() if key != "transfer"}
    return {**others, **TRANSFERS[name]}
