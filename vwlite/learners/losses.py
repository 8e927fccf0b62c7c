"""The losses and links by name: what the command line offers and what the kernels' codes mean.

The kernels are imported inside the functions that need them, so that ``--help`` can list the losses
without waiting for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from vwlite.config_check import FLOAT32_MAX
from vwlite.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

LINKS = {"identity": 0, "logistic": 1, "glf1": 2, "poisson": 3}  # codes of losses/links.pxd


def lookup(kind: str, table: Mapping[str, Any], name: str) -> Any:
    """The entry ``name`` of a table; raises UsageError listing the known names."""
    try:
        return table[name]
    except KeyError:
        known = ", ".join(table)
        raise UsageError(f"unknown {kind} {name!r}; known are: {known}") from None


def link_code(name: str) -> int:
    """The kernels' code of the link ``name``; raises UsageError for an unknown one."""
    return lookup("link", LINKS, name)


def any_number(labels: np.ndarray, config: LossConfig) -> np.ndarray:
    return abs(labels) < float("inf")


def not_negative(labels: np.ndarray, config: LossConfig) -> np.ndarray:
    return any_number(labels, config) & (labels >= 0)


def binary(labels: np.ndarray, config: LossConfig) -> np.ndarray:
    return (abs(labels) == 1) | (labels == 0)


def between_limits(labels: np.ndarray, config: LossConfig) -> np.ndarray:
    from vwlite.arrays import to_float32

    return (labels >= to_float32(config.logistic_min)) & (labels <= to_float32(config.logistic_max))


class Loss(NamedTuple):
    """One row of the table."""

    name: str
    code: int  # of losses/losses.pxd
    about: str  # one line for --help
    meaning: str  # what a prediction estimates once `link` is applied
    label_rule: str  # which labels `accepts` takes; may name fields of LossConfig in braces
    # labels, or one of them -> bool[n]; unless for two_classes, it takes whatever lies between two labels that it takes
    accepts: Callable[[Any, LossConfig], Any] = any_number
    link: str = "identity"  # the link that makes `meaning` true; never applied unasked
    parameters: tuple[str, ...] = ()  # the fields of LossConfig it reads
    initial_range: tuple[float, float] = (0.0, 0.0)  # label range, which clips predictions, before the first label
    own_range: tuple[float, float] | None = None  # the same outside of ``vwlite vw``, where it is another
    two_classes: bool = False  # labels are -1 and 1
    dyadic: bool = True  # whether learners of latent vectors take it


OF_MARGIN: dict[str, Any] = {"label_rule": "-1, 0 or 1", "accepts": binary, "two_classes": True, "dyadic": False}
ENDLESS: dict[str, Any] = {"initial_range": (-50.0, 50.0)}
FREE = (-FLOAT32_MAX, FLOAT32_MAX)
LOSSES = {
    loss.name: loss
    for loss in (
        Loss("squared", 0, "squared error, linear beyond the labels seen", "mean", "any number"),
        Loss("classic", 1, "squared error with plain gradient steps", "mean", "any number"),
        Loss(
            name="hinge",
            code=2,
            about="hinge, for labels -1 and 1",
            meaning="margin",
            label_rule="-1, 0 or 1",
            accepts=binary,
            own_range=FREE,
            two_classes=True,
        ),
        Loss(
            name="logistic",
            code=3,
            about="logistic, for labels -1 and 1, or anything between typed limits",
            meaning="probability of the upper label",
            label_rule="from {logistic_min:g} to {logistic_max:g}",
            accepts=between_limits,
            link="logistic",
            parameters=("logistic_min", "logistic_max"),
            initial_range=(-50.0, 50.0),
            two_classes=True,
        ),
        Loss(
            name="quantile",
            code=4,
            about="quantile (pinball), absolute error at tau 0.5",
            meaning="quantile_tau-th quantile",
            label_rule="any number",
            parameters=("quantile_tau",),
        ),
        Loss(
            name="expectile",
            code=5,
            about="squared error weighted q above the label, 1 - q below",
            meaning="(1 - expectile_q)-th expectile",
            label_rule="any number",
            parameters=("expectile_q",),
        ),
        Loss(
            name="poisson",
            code=6,
            about="Poisson deviance, for counts",
            meaning="expected count",
            label_rule="0 or more",
            accepts=not_negative,
            link="poisson",
            initial_range=(-50.0, 50.0),
        ),
        Loss("absolute", 7, "absolute error, for outliers", "median", "any number", dyadic=False),
        Loss(
            name="truncated",
            code=8,
            about="squared error cut off at loss_scale, for gross outliers",
            meaning="mean of what lies near",
            label_rule="any number",
            parameters=("loss_scale",),
            dyadic=False,
        ),
        Loss(
            name="geman_mcclure",
            code=9,
            about="r^2/(loss_scale^2 + r^2), for gross outliers",
            meaning="mean of what lies near",
            label_rule="any number",
            parameters=("loss_scale",),
            dyadic=False,
        ),
        Loss("exponential", 10, "exp(-margin), as boosting has it", "half the log odds", **OF_MARGIN, **ENDLESS),
        Loss(
            name="modified_huber",
            code=11,
            about="squared hinge, linear far away",
            meaning="twice the probability, less 1, where it lies between -1 and 1",
            initial_range=FREE,
            **OF_MARGIN,
        ),
        Loss("tanh", 12, "1 - tanh(margin), for mislabelled examples", "margin", **OF_MARGIN, **ENDLESS),
        Loss(
            name="lp",
            code=13,
            about="|error|^lp_power",
            meaning="between median and mean, or beyond",
            label_rule="any number",
            parameters=("lp_power",),
            dyadic=False,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class LossConfig:
    """A loss with its parameters, checked.

    Raises UsageError for an unknown name or a parameter that is missing or out of range.
    """

    name: str = "squared"
    quantile_tau: float = 0.5  # in [0, 1]
    expectile_q: float | None = None  # in (0, 0.5], required by expectile
    logistic_min: float = -1.0
    logistic_max: float = 1.0
    limited: bool = False  # these two were typed, and labels are what lies between; else labels are two classes
    loss_scale: float = 1.0  # above 0: residuals beyond it count as outliers
    lp_power: float = 1.5  # above 1, of the lp loss

    def __post_init__(self) -> None:
        lookup("loss function", LOSSES, self.name)
        if not 0 <= self.quantile_tau <= 1:
            raise UsageError(f"quantile_tau must lie in [0, 1], not {self.quantile_tau:g}")
        if self.expectile_q is None:
            if self.name == "expectile":
                raise UsageError("the expectile loss needs expectile_q, a number in (0, 0.5]")
        elif not 0 < self.expectile_q <= 0.5:
            raise UsageError(f"expectile_q must lie in (0, 0.5], not {self.expectile_q:g}")
        if not 0 < self.loss_scale < float("inf"):
            raise UsageError(f"loss_scale must be above 0, not {self.loss_scale:g}")
        if not 1 < self.lp_power <= 100:
            raise UsageError(f"lp_power must be above 1 and up to 100, not {self.lp_power:g}")
        low, high = self.logistic_min, self.logistic_max
        if not -float("inf") < low < high < float("inf"):
            raise UsageError(f"logistic_min must be below logistic_max, not {low:g} and {high:g}")

    @property
    def loss(self) -> Loss:
        """The table's row."""
        return LOSSES[self.name]

    @property
    def soft(self) -> bool:
        """Whether labels are numbers between limits, not two classes."""
        return self.name == "logistic" and (self.limited or (self.logistic_min, self.logistic_max) != (-1, 1))

    @property
    def label_rule(self) -> str:
        """Which labels the loss is made for, in words that follow "labels must be"."""
        return self.loss.label_rule.format(
            logistic_min=self.logistic_min, logistic_max=self.logistic_max
        )

    def start_range(self, own: bool) -> tuple[float, float]:
        """The label range before the first label, vwlite's ``own`` or vw's."""
        return self.loss.own_range if own and self.loss.own_range else self.loss.initial_range

    def accepts(self, labels: Any) -> Any:
        """Which labels, float32[n] or a number, the loss is made for: bool[n]; NaN (unlabelled) is accepted."""
        return self.loss.accepts(labels, self) | (labels != labels)

    def params(self, label_range: tuple[float, float] | None = None) -> np.ndarray:
        """The kernels' ``LossParams``, float32[8]; the default range is the loss's initial one."""
        from vwlite.arrays import array

        q = 0.5 if self.expectile_q is None else self.expectile_q
        limits = self.logistic_min, self.logistic_max
        label_range = self.loss.initial_range if label_range is None else label_range
        shape = self.loss_scale, self.lp_power
        return array("f", (self.quantile_tau, q, *limits, *label_range, *shape))


class LabelSummary(NamedTuple):
    """What a run remembers of its labels."""

    first: float | None  # first label seen
    second: float | None  # first label seen that differs from it
    more: bool  # whether a third distinct label was seen
    weighted_labels: float  # sum of importance * label
    labeled_weight: float  # sum of importance over labelled examples


def best_constant(
    config: LossConfig, labels: LabelSummary, label_range: tuple[float, float]
) -> tuple[float | None, float | None]:
    """The constant of least average loss and that loss, each None where unknown.

    As Vowpal Wabbit computes them: only squared and classic know the constant of more than two
    distinct labels, and then not its loss; poisson and expectile never know it; a single distinct
    label is paired with 0. ``label_range`` is the run's final one. All in float32: a sum, product or
    quotient of two rounded once more from float64 is the float32 result.
    """
    from vwlite.arrays import to_float32

    if labels.first is None:
        return None, None
    pair = tuple(sorted((to_float32(labels.first), to_float32(labels.second or 0))))
    if pair[0] == pair[1]:
        return None, None
    above = to_float32(labels.weighted_labels - pair[1] * labels.labeled_weight)
    low_weight = to_float32(above / to_float32(pair[0] - pair[1]))
    weights = low_weight, to_float32(to_float32(labels.labeled_weight) - low_weight)
    if not to_float32(sum(weights)) > 0:
        return None, None
    constant = best_of_two(config, labels, pair, weights)
    if constant is None or labels.more:
        return constant, None
    return constant, mean_loss(config, config.params(label_range), pair, weights, constant)


def best_log_odds(config: LossConfig, labels: LabelSummary) -> tuple[float, float] | None:
    """The constant of least logistic loss and that loss, for any labels between limits; None where they are all at one.

    The loss is linear in the label, so that only the mean matters.
    """
    if not labels.labeled_weight > 0:
        return None
    low, high = config.logistic_min, config.logistic_max
    share = (labels.weighted_labels / labels.labeled_weight - low) / (high - low)
    if not 0 < share < 1:
        return None
    odds = math.log(share / (1 - share))
    return odds, -share * math.log(share) - (1 - share) * math.log(1 - share)


def best_of_two(
    config: LossConfig, labels: LabelSummary, pair: tuple[float, float], weights: tuple[float, float]
) -> float | None:
    """The constant of least loss when the labels ``pair``, float32, weigh ``weights``."""
    from vwlite.arrays import to_float32

    if config.name in ("squared", "classic"):
        return to_float32(labels.weighted_labels / labels.labeled_weight)
    if labels.more:
        return None
    low, high = weights
    if config.name == "hinge":
        return -1.0 if high <= low else 1.0
    if config.name == "logistic":
        if low <= 0 or high <= 0:
            return 1.0 if low <= 0 else -1.0
        odds = to_float32(high / low)
        return to_float32(math.log(odds)) if odds else -math.inf
    if config.name == "quantile":
        return pair[to_float32(to_float32(config.quantile_tau) * to_float32(low + high)) < high]
    return None


def mean_loss(
    config: LossConfig, params: np.ndarray, pair: tuple[float, float], weights: tuple[float, float], constant: float
) -> float:
    """The weighted mean loss, float32 arithmetic, of predicting ``constant`` for the two labels."""
    from vwlite._native.loss_functions import value
    from vwlite.arrays import to_float32

    total = 0.0
    for weight, label in zip(weights, (-1, 1) if config.name == "logistic" else pair, strict=True):
        if weight > 0:
            total = to_float32(total + to_float32(weight * value(config.loss.code, params, constant, label)))
    return to_float32(total / to_float32(sum(weights)))
