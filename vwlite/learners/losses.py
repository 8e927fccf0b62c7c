"""The losses and links by name: what the command line offers and what the kernels' codes mean.

NumPy is imported inside the functions that need it, so that ``--help`` can list the losses without waiting for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from vwlite.errors import UsageError
from vwlite.options import FLOAT32_MAX, Config, OptionValues, config, option

if TYPE_CHECKING:
    import numpy as np


LINKS = {"identity": 0, "logistic": 1, "glf1": 2, "poisson": 3}  # codes of losses/loss_types.pxd
LINK_RANGES = {
    "identity": (-math.inf, math.inf),
    "logistic": (0.0, 1.0),
    "glf1": (-1.0, 1.0),
    "poisson": (0.0, math.inf),
}


def before_link(name: str, prediction: float) -> float:
    """The number that the link maps to ``prediction``. Raises UsageError if no finite number is mapped to it."""
    if name == "identity":
        return prediction
    low, high = LINK_RANGES[name]
    if not low < prediction < high:
        limits = f"between {low:g} and {high:g}" if high < math.inf else "above 0"
        raise UsageError(f"predictions of this model are {limits}, and never {prediction:g}")
    return math.log(prediction) if name == "poisson" else math.log((prediction - low) / (high - prediction))


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
    import numpy as np

    return (labels >= np.float32(config.logistic_min)) & (labels <= np.float32(config.logistic_max))


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
    label_spread: str = ""  # what labels may be learned in units of: "standard" or mean "deviation", "" for none
    split_rate: bool = False  # whether shards learn faster than one learner (vwlite.distributed.plan): by measurement


OF_MARGIN: dict[str, Any] = {"label_rule": "-1, 0 or 1", "accepts": binary, "two_classes": True}
ENDLESS: dict[str, Any] = {"initial_range": (-50.0, 50.0)}
FREE = (-FLOAT32_MAX, FLOAT32_MAX)
LOSSES = {
    loss.name: loss
    for loss in (
        Loss(
            name="squared",
            code=0,
            about="squared error, linear beyond the labels seen",
            meaning="mean",
            label_rule="any number",
            label_spread="standard",
            split_rate=True,
        ),
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
            split_rate=True,
        ),
        Loss(
            name="quantile",
            code=4,
            about="quantile (pinball), absolute error at tau 0.5",
            meaning="quantile_tau-th quantile",
            label_rule="any number",
            parameters=("quantile_tau",),
            label_spread="deviation",
        ),
        Loss(
            name="expectile",
            code=5,
            about="squared error weighted q above the label, 1 - q below",
            meaning="(1 - expectile_q)-th expectile",
            label_rule="any number",
            parameters=("expectile_q",),
            label_spread="standard",
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
        Loss(
            name="absolute",
            code=7,
            about="absolute error, for outliers",
            meaning="median",
            label_rule="any number",
            label_spread="deviation",
        ),
        Loss(
            name="truncated",
            code=8,
            about="squared error cut off at loss_scale, for gross outliers",
            meaning="mean of what lies near",
            label_rule="any number",
            parameters=("loss_scale",),
            label_spread="deviation",
        ),
        Loss(
            name="geman_mcclure",
            code=9,
            about="r^2/(loss_scale^2 + r^2), for gross outliers",
            meaning="mean of what lies near",
            label_rule="any number",
            parameters=("loss_scale",),
            label_spread="deviation",
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
            parameters=("lp_power", "loss_scale"),
            label_spread="standard",
        ),
        Loss("squared_hinge", 14, "hinge squared", "margin", initial_range=FREE, **OF_MARGIN),
        Loss(
            name="tube",
            code=15,
            about="absolute error beyond --tube",
            meaning="median",
            label_rule="any number",
            parameters=("tube",),
            label_spread="deviation",
        ),
        Loss(
            name="perceptron",
            code=16,
            about="margin of mistakes, by plain steps",
            meaning="margin",
            initial_range=FREE,
            dyadic=False,
            **OF_MARGIN,
        ),
    )
}


# Losses of --multiclass: the one that stands for it elsewhere, and what it is.
OF_CLASSES = {
    "multinomial": ("logistic", "softmax of --multiclass"),
    "crammer_singer": ("hinge", "hinge of --multiclass"),
}
ABOUT = {
    **{loss.name: loss.about for loss in LOSSES.values()},
    **{name: about for name, (_, about) in OF_CLASSES.items()},
}


@config
class LossConfig(Config):
    """A loss with its parameters, checked.

    Raises UsageError for an unknown name or a parameter that is missing or out of range.
    """

    name: str = option(
        "squared", "Loss: squared for numbers, logistic for 0/1, quantile for medians, and others (--help=losses).",
        section="Loss", spelled=("--loss_function",), key="loss_function", choices=tuple(ABOUT), meanings=ABOUT,
    )
    quantile_tau: float | tuple[float, ...] = option(
        0.5, "The quantile of the quantile loss; of --outputs perhaps one for each: 0.1,0.5,0.9.", section="Loss",
        low=0, high=1, metavar="X", read_as="per_output",
    )
    expectile_q: float | None = option(
        None, "The expectile loss's q, in (0, 0.5].", section="Loss", above=0, high=0.5
    )
    logistic_min: float = option(
        -1.0, "Label that means 'never'. If it is given, labels between the two are allowed.", section="Loss"
    )
    logistic_max: float = option(1.0, "Label that means 'always'; see --logistic_min.", section="Loss")
    limited: bool = False  # these two were typed, and labels are what lies between; else labels are two classes
    loss_scale: float = option(
        1.0, "Residuals beyond this are outliers to bounded losses, and to lp with a power below 1.", section="Loss",
        above=0
    )
    lp_power: float = option(
        1.5, "The power of the lp loss; below 1, residuals below loss_scale count by their squares.", section="Loss",
        above=0, high=100,
    )
    tube: float = option(0.1, "Error that costs nothing with the tube loss.", section="Loss", low=0)

    def __post_init__(self) -> None:
        lookup("loss function", LOSSES, self.name)
        if self.name == "expectile" and self.expectile_q is None:
            raise UsageError("--loss_function expectile needs --expectile_q, a number above 0 and up to 0.5")
        low, high = self.logistic_min, self.logistic_max
        if not low < high:
            raise UsageError(f"--logistic_min must be below --logistic_max, not {low:g} and {high:g}")

    def of_output(self, number: int) -> LossConfig:
        """That of one of several outputs, from 0."""
        several = isinstance(self.quantile_tau, tuple)
        return replace(self, quantile_tau=self.quantile_tau[number]) if several else self

    @property
    def loss(self) -> Loss:
        """The table's row."""
        return LOSSES[self.name]

    @property
    def label_spread(self) -> str:
        """As ``Loss`` has it."""
        return "deviation" if self.name == "lp" and self.lp_power <= 1 else self.loss.label_spread

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

    def params(self, label_range: tuple[float, float] | None = None, *, vw_compat: bool = False) -> np.ndarray:
        """The kernels' ``LossParams``, float32 of its fields in order; the default range is the loss's initial one.

        Raises UsageError where there are several, see ``of_output``.
        """
        import numpy as np

        if isinstance(self.quantile_tau, tuple):
            raise UsageError("--quantile_tau takes several numbers beside --outputs only, one for each")
        q = 0.5 if self.expectile_q is None else self.expectile_q
        limits = self.logistic_min, self.logistic_max
        label_range = self.loss.initial_range if label_range is None else label_range
        shape = self.loss_scale, self.lp_power, self.tube
        return np.array((self.quantile_tau, q, *limits, *label_range, *shape, vw_compat), np.float32)


TRANSFERS: Mapping[str, Mapping[str, Any]] = {
    "identity": {"loss_function": "squared", "link": "identity"},
    "exp": {"loss_function": "poisson", "link": "poisson"},
    "sigmoid": {"loss_function": "logistic", "logistic_min": 0.0, "logistic_max": 1.0, "link": "logistic"},
    "tanh": {"loss_function": "logistic", "logistic_min": -1.0, "logistic_max": 1.0, "link": "glf1"},
}
OWN = {"loss_function": "loss", "link": "link", "logistic_min": "limits", "logistic_max": "limits"}
FOR_CLASSES = (
    "multiclass", "oaa", "csoaa", "multilabel_oaa", "csoaa_ldf", "wap_ldf",
    "log_multi", "ect", "filter_tree",
)


@config
class TransferConfig(Config):
    """Options that stand for a loss and a link, which models have in their place: see ``spelled_out``."""

    transfer: str = option(
        "", "Predictions are this function of sums, learned by the loss that matches: squared, poisson, logistic of "
        "labels from 0 to 1, or from -1 to 1.",
        section="Loss", choices=tuple(TRANSFERS), shown="", elsewhere=(("softmax", "--multiclass K --label_shares"),),
    )


def spelled_out(typed: Mapping[str, Any]) -> OptionValues:
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


def given_range(low: float | None, high: float | None) -> tuple[float, float] | None:
    """The label range when a bound of it is given; the one not given is 0."""
    return None if low is None and high is None else (low or 0.0, high or 0.0)


def with_free_bound(options: Mapping[str, Any], loss: LossConfig) -> OptionValues:
    """The options with both bounds where one is given. Raises UsageError when the lower is not below the upper.

    Free is what the loss is: its own range of predictions, or all numbers. (Vowpal Wabbit takes 0 for the other bound.)
    """
    low, high = options.get("min_prediction"), options.get("max_prediction")
    if low is None and high is None:
        return dict(options)
    first, last = loss.loss.initial_range
    if first == last:
        first, last = -FLOAT32_MAX, FLOAT32_MAX
    low, high = (first if low is None else low), (last if high is None else high)
    if not low < high:
        raise UsageError(f"--min_prediction must be below --max_prediction, not {low:g} and {high:g}")
    return {**options, "min_prediction": low, "max_prediction": high}
