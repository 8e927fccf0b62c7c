"""Options of support vector machines: dual coordinate descent (``--dual``), and kernels (``--ksvm``)."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import random_seed
from vwlite.learners.configs.gd import RATE_OPTIONS, UPDATE_OPTIONS, GdConfig
from vwlite.options import again, config, option

LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "tube")  # in the order of their numbers in the kernel


@config
class DualConfig(GdConfig):
    """The options of ``GdConfig``, of which only the loss, ``l2`` and the bounds of predictions are used."""

    dual: bool = option(
        True, "Dual coordinate descent over examples in memory, to a certified gap; needs --l2.",
        section="Batch optimisation",
    )
    gap: float = option(
        0.001, "Stop when primal and dual differ by a smaller share of the primal.", section="Batch optimisation",
        above=0, below=1,
    )
    bias_scale: float = option(
        1.0, "Value of the constant; with a large one its weight is hardly penalised.", section="Batch optimisation",
        above=0,
    )
    hard_margin: bool = option(
        False, "Let no example be on the wrong side, or say that the classes are not separable.",
        section="Batch optimisation",
    )
    joint: bool = False  # one problem for all classes (Crammer and Singer), see ``vwlite.learners.ensemble``
    random_seed: int = random_seed()

    learner: ClassVar[str] = "dual"
    has_support_vectors: ClassVar[bool] = True
    supports_trees: ClassVar[bool] = False
    selected_by: ClassVar[tuple[str, ...]] = ("dual",)
    supports_levels: ClassVar[bool] = False
    exclusivity: ClassVar[str] = "one set of weights is fitted to the labels of all examples together"
    supports_oaa: ClassVar[bool] = True
    default_loss: ClassVar[str] = "hinge"
    in_vw: ClassVar[bool] = False
    needs_full_passes: ClassVar[bool] = True
    fixed_passes: ClassVar[int] = 2
    has_sensitivity: ClassVar[bool] = False
    penalties: ClassVar[tuple[str, ...]] = ("l2",)

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.ftrl:
            raise UsageError("--ftrl does not go with --dual: both say how weights are learned, drop one")
        if self.loss.name not in LOSSES:
            raise UsageError(f"--dual takes --loss_function {', '.join(LOSSES)}, not {self.loss.name}")
        if self.loss.soft:
            raise UsageError("--dual takes labels of two classes: drop --logistic_min and --logistic_max")
        if self.hard_margin and self.loss.name != "hinge":
            raise UsageError(f"--hard_margin goes with --loss_function hinge, not {self.loss.name}")
        if not (self.l2 or self.hard_margin):
            strength = "the strength of regularisation: try --l2 1 (the C of others is 1 / l2)"
            raise UsageError(f"--dual needs --l2, {strength}")

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        updates = (*RATE_OPTIONS, *UPDATE_OPTIONS, "l1", "sparse_l2", "initial_weight", "constant")
        orders = ("shuffle", "shuffle_first", "holdout_period", "early_terminate", "save_per_pass")
        return "dual", (*updates, *orders)

    @property
    def vw_difference(self) -> str:
        return "--dual is none of vw's options"


KERNELS = ("linear", "poly", "rbf")  # numbered as in the kernel
SECTION = "Kernel machine"


@config
class KsvmConfig(GdConfig):
    """As ``GdConfig``, of which ``l2`` (1 where it is not given), ``link`` and ``binary`` matter."""

    ksvm: bool = option(
        True, "Kernel support vector machine: support vectors in place of weights.", section=SECTION,
    )
    kernel: str = option(
        "linear", "Similarity of two examples: x.y, (1 + x.y)^degree or exp(-bandwidth |x - y|^2).", section=SECTION,
        choices=KERNELS, shape=True,
    )
    degree: int = option(2, "Degree of the kernel poly.", section=SECTION, low=1, high=100, shape=True)
    bandwidth: float = option(1.0, "Bandwidth of the kernel rbf.", section=SECTION, above=0, shape=True)
    bias_scale: float | None = again(
        DualConfig, "bias_scale", None, shape=True, shown="no such term beside the kernel's own"
    )
    reprocess: int = option(
        1, "Steps of other support vectors after that of an example.", section=SECTION, low=0,
        in_vw_models="forgotten",
    )
    budget: int = option(
        0, "Support vectors, at most: beyond, one is merged with its nearest.", section=SECTION, low=0,
        shown="no limit",
    )
    kernel_cache: int = option(256, "Memory for kernels of support vectors, in MB.", section=SECTION, low=1)
    pool_size: int = option(
        1, "Examples that wait before they are learned one after the other.", section=SECTION, low=1, high=10**6,
        vw_only=True, in_vw_models="forgotten",
    )
    pool_greedy: bool = option(
        False, "Accepted as by vw, where it changes nothing.", section=SECTION, vw_only=True,
        in_vw_models="forgotten",
    )
    subsample: int = option(
        1, "Accepted as by vw, where it changes nothing.", section=SECTION, vw_only=True, low=1,
        in_vw_models="forgotten",
    )
    random_seed: int = random_seed()  # of the choice of vectors that take a step

    supports_audit: ClassVar[bool] = False
    learner: ClassVar[str] = "ksvm"
    has_kernel: ClassVar[bool] = True
    has_support_vectors: ClassVar[bool] = True
    supports_trees: ClassVar[bool] = False
    selected_by: ClassVar[tuple[str, ...]] = ("ksvm",)
    supports_levels: ClassVar[bool] = False
    exclusivity: ClassVar[str] = "there are support vectors in place of weights"
    default_loss: ClassVar[str] = "hinge"
    own_loss: ClassVar[bool] = True
    needs_full_passes: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = False
    penalties: ClassVar[tuple[str, ...]] = ("l2",)
    written_as_text: ClassVar[bool] = False

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if self.ftrl:
            raise UsageError("--ftrl does not go with --ksvm, which has no weights: drop one")
        if self.loss.name != "hinge":
            raise UsageError(f"--ksvm has --loss_function hinge, not {self.loss.name}")

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        updates = (*RATE_OPTIONS, *UPDATE_OPTIONS, "l1", "sparse_l2", "initial_weight", "constant")
        orders = ("shuffle", "shuffle_first", "min_prediction", "max_prediction")
        return "ksvm", (*updates, *orders)

    @property
    def strength(self) -> float:
        """The strength of regularisation, 1 / C."""
        return self.l2 or 1.0
