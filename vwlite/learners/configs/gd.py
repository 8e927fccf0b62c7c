"""Options of gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import LearnerConfig, check_levels, levels, show_number
from vwlite.learners.losses import LINKS, LossConfig, given_range
from vwlite.options import again, config, option

RATE_OPTIONS = ("learning_rate", "power_t", "initial_t", "decay_learning_rate")
UPDATE_OPTIONS = ("sgd", "adaptive", "normalized", "invariant")


@config
class GdConfig(LearnerConfig):
    """Options of the update, as Vowpal Wabbit names and defaults them.

    Naming any of ``sgd``, ``adaptive``, ``normalized``, ``invariant`` switches on just those named; naming none means
    the last three. ``learning_rate`` None is 0.5, or 10 unless both adaptive and normalized are on.
    """

    loss: LossConfig = field(default_factory=LossConfig)
    link: str = option(
        "identity", "Scale of predictions.", section="Loss", choices=tuple(LINKS), shown="as the loss has it",
        vw_shown="identity",
        settled=True,
    )
    sgd: bool = option(
        False, "Plain stochastic gradient descent.", section="Update", settled=True, in_vw_models="resumable",
    )
    adaptive: bool = option(
        False, "Per-feature rates (AdaGrad).", section="Update", settled=True, in_vw_models="resumable",
    )
    normalized: bool = option(
        False, "Rates that do not depend on the features' scale.", section="Update", settled=True,
        in_vw_models="resumable",
    )
    invariant: bool = option(
        False, "Importance-aware updates. [default: all three]", section="Update", settled=True,
        in_vw_models="resumable",
    )
    learning_rate: float | None = option(
        None, "Learning rate.", section="Update", spelled=("-l", "--learning_rate"), low=0,
        shown="0.5, or 10 unless adaptive and normalized", in_vw_models="resumable",
    )
    power_t: float = option(0.5, "Power of the rates' decay.", section="Update", in_vw_models="resumable")
    initial_t: float | None = option(
        None, "Start value of t and of the adaptive sums.", section="Update", low=0, shown="0; 1 with plain --sgd",
        settled=True, in_vw_models="forgotten",
    )
    decay_learning_rate: float = option(
        1.0, "Multiply the rate by this after every pass.", section="Update", low=0, in_vw_models="forgotten",
    )
    l1: float = option(
        0.0, "L1 regularisation (truncated gradient, as vw's; with --bfgs a penalty on the sum of absolute weights).",
        section="Update", low=0,
        in_vw_models="forgotten",
    )
    l2: float = option(0.0, "L2 regularisation.", section="Update", low=0, in_vw_models="forgotten")
    sparse_l2: float = option(
        0.0, "L2 regularisation of the example's features only.", section="Update", low=0, settled=True,
        in_vw_models="forgotten",
    )
    min_prediction: float | None = option(None, "Smallest prediction.", section="Update", in_vw_models="forgotten")
    max_prediction: float | None = option(None, "Largest prediction.", section="Update", in_vw_models="forgotten")
    initial_weight: float = option(
        0.0, "Start value of every weight.", section="Update", settled=True, in_vw_models="forgotten",
    )
    random_weights: str | None = None  # or their distribution: uniform, normal, truncated
    weights_seed: int = 0
    constant: float = option(
        0.0, "Start value of the constant's weight.", section="Update", spelled=("-C", "--constant"), settled=True,
        in_vw_models="forgotten",
    )
    levels: tuple[float, ...] = levels()
    label_units: str = option(
        "raw",
        "Learn labels as they are, or in units of their spread, so that their scale and offset do not matter.",
        section="Update", spelled=("--label-units",), choices=("raw", "spread"), settled=True,
        shown="spread with losses of numbers and the default update, else raw",
    )
    binary: bool = option(False, "Predict -1 or 1; the loss is the share of errors.", section="Classes")
    ftrl: bool = option(
        False, "FTRL-proximal updates, with the --l1 and --l2 of that method.", section="Update", settled=True
    )
    ftrl_alpha: float | None = option(
        None, "Learning rate of FTRL, coin betting or PiSTOL.", section="Update", above=0, shown="0.5", settled=True,
        in_vw_models="forgotten",
    )
    ftrl_beta: float | None = option(
        None, "Added to the root of the squared gradients' sum.", section="Update", low=0, shown="1", settled=True,
        in_vw_models="forgotten",
    )

    supports_audit: ClassVar[bool] = True
    learner: ClassVar[str] = "gd"
    supports_trees: ClassVar[bool] = True
    in_vw: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = True
    supports_levels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        self.check_ftrl()
        check_levels(self)
        if self.label_units == "spread" and (reason := self.raw_because):
            raise UsageError(f"--label-units spread does not go with {reason}: drop it")

    def check_ftrl(self) -> None:
        for name in ("ftrl_alpha", "ftrl_beta"):
            if getattr(self, name) is not None and not self.ftrl:
                raise UsageError(f"--{name} needs --ftrl")
        if self.ftrl and (self.sgd or self.adaptive or self.normalized or self.invariant or self.sparse_l2):
            refused = "--sgd, --adaptive, --normalized, --invariant and --sparse_l2"
            raise UsageError(f"--ftrl does not go with {refused}, which are of gradient descent: drop one")

    @property
    def raw_because(self) -> str:
        """The option with which labels are learned as they are; empty where they may be in units of their spread."""
        if self.learner not in ("gd", "average", "nn", "outputs"):
            return f"--{self.option}"
        if not self.loss.label_spread:
            return f"--loss_function {self.loss.name}"
        return f"--link {self.link}" if self.link != "identity" else "--binary" if self.binary else ""

    @property
    def usual_label_units(self) -> str:
        """The default of ``--label-units`` in ``vwlite train`` beside the other options."""
        others = (*UPDATE_OPTIONS, "ftrl", "constant", "initial_weight")
        return "raw" if self.raw_because or any(getattr(self, name) for name in others) else "spread"

    @property
    def vw_difference(self) -> str:
        if self.label_units != "raw":
            return "--label-units spread is none of vw's options"
        return "--levels is none of vw's options" if self.levels else ""

    def to_show(self, what: str) -> Mapping[str, object]:
        return show_number(self, what)

    @property
    def can_freeze(self) -> bool:  # type: ignore[override]
        return self.learner == "gd"

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        """None, also with ``ftrl``: search spaces of ``vwlite tune`` combine it with learning rates."""
        return "", ()

    @property
    def modes(self) -> tuple[bool, bool, bool]:
        """Whether updates are adaptive, normalized, invariant."""
        if self.ftrl:  # a table with the same columns
            return True, True, True
        named = (self.adaptive, self.normalized, self.invariant)
        return named if self.sgd or any(named) else (True, True, True)

    @property
    def narrow(self) -> bool:  # type: ignore[override]
        adaptive, normalized, _ = self.modes
        return self.can_freeze and adaptive and not (normalized or self.sparse_l2) and self.power_t in (0, 0.5)

    @property
    def start_time(self) -> float:
        adaptive, normalized, _ = self.modes
        if self.initial_t is not None:
            return self.initial_t
        return 0.0 if adaptive or normalized else 1.0

    @property
    def initial_learning_rate(self) -> float:
        """The learning rate in float32; without adaptive and normalized it is stretched by ``initial_t ** power_t``.

        Infinite where float32 does not hold it: the first update then diverges.
        """
        import numpy as np  # not with the module: ``--help`` shows these options without it

        adaptive, normalized, _ = self.modes
        rate = self.learning_rate
        if rate is None:
            rate = 0.5 if adaptive and normalized else 10.0
        if adaptive or normalized:
            return float(np.float32(rate))
        with np.errstate(over="ignore"):
            return float(np.float32(rate) * np.float32(self.start_time) ** np.float32(self.power_t))

    @property
    def prediction_bounds(self) -> tuple[float, float] | None:
        return given_range(self.min_prediction, self.max_prediction)


@config
class CoinConfig(GdConfig):
    """As ``GdConfig``, of which loss, bounds, ``ftrl_alpha`` (4; PiSTOL: 1) and ``ftrl_beta`` (1; 0.5) matter."""

    ftrl_alpha: float | None = again(GdConfig, "ftrl_alpha", None, shown="4 with --coin, 1 with --pistol")
    ftrl_beta: float | None = again(
        GdConfig, "ftrl_beta", None, low=None, above=0, shown="1 with --coin, 0.5 with --pistol"
    )
    coin: bool = option(False, "Coin betting, which needs no learning rate.", section="Update")
    pistol: bool = option(False, "PiSTOL updates, which need no learning rate either.", section="Update")

    learner: ClassVar[str] = "coin"
    selected_by: ClassVar[tuple[str, ...]] = ("coin", "pistol")
    is_base: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.coin == self.pistol:
            raise UsageError("--coin and --pistol do not go together")
        if self.ftrl or self.l1 or self.l2 or self.sparse_l2:
            raise UsageError("--coin and --pistol do not go with --ftrl and regularisation")

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        names = (*RATE_OPTIONS, *UPDATE_OPTIONS, "initial_weight", "constant")
        return "coin" if self.coin else "pistol", names

    def check_ftrl(self) -> None:
        """These learners have the two parameters as well."""

    @property
    def vw_difference(self) -> str:
        if not self.binary:
            return super().vw_difference
        return "--binary over --coin and --pistol answers a few examples otherwise than vw"


@config
class PassiveAggressiveConfig(GdConfig):
    """As ``GdConfig``, of which loss and bounds matter: with the hinge loss they learn classes, with tube numbers."""

    passive_aggressive: str = option(
        "", "Passive-aggressive updates: steps that leave no loss, bounded with pa-i, damped with pa-ii.",
        section="Update", choices=("pa", "pa-i", "pa-ii"), shown="none", settled=True,
    )
    aggressiveness: float = option(1.0, "The C of pa-i and pa-ii.", section="Update", above=0, settled=True)

    learner: ClassVar[str] = "passive_aggressive"
    selected_by: ClassVar[tuple[str, ...]] = ("passive_aggressive",)
    is_base: ClassVar[bool] = True
    in_vw: ClassVar[bool] = False
    has_sensitivity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.loss.name not in ("hinge", "tube"):
            learned = "classes with --loss_function hinge, numbers with tube"
            raise UsageError(f"--passive_aggressive learns {learned}; not --loss_function {self.loss.name}")
        if self.ftrl or self.l1 or self.l2 or self.sparse_l2:
            raise UsageError("--passive_aggressive does not go with --ftrl and regularisation")

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        own = ["aggressiveness"] if self.passive_aggressive == "pa" else []
        return "passive_aggressive", (*RATE_OPTIONS, *UPDATE_OPTIONS, "initial_weight", "constant", *own)

    @property
    def vw_difference(self) -> str:
        return "--passive_aggressive is none of vw's options"


@config
class AverageConfig(GdConfig):
    """As ``GdConfig``. ``average_after`` None: the mean is of at least the last half of the examples."""

    average: bool = option(
        False, "Predict with the mean of the weights after every example, not with the last ones.", section="Update",
        settled=True,
    )
    average_after: int | None = option(
        None, "Examples learned before the mean begins.", section="Update", unit="examples", low=0, settled=True,
        shown="so that it is of the last half, or up to three quarters",
    )

    learner: ClassVar[str] = "average"
    selected_by: ClassVar[tuple[str, ...]] = ("average",)
    exclusivity: ClassVar[str] = "the mean is one of single steps of gradient descent"
    in_vw: ClassVar[bool] = False
    has_sensitivity: ClassVar[bool] = False
    penalties: ClassVar[tuple[str, ...]] = ("l2",)

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.ftrl:
            raise UsageError("--ftrl does not go with --average: its weights follow from sums already")
        if self.l1:
            raise UsageError("--l1 does not go with --average: a mean of sparse weights is not sparse")

    @property
    def vw_difference(self) -> str:
        return "--average is none of vw's options"
