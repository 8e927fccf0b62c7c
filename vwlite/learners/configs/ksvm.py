"""Options of kernel support vector machines (``--ksvm``)."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import random_seed
from vwlite.learners.configs.dual import DualConfig
from vwlite.learners.configs.gd import RATE_OPTIONS, UPDATE_OPTIONS, GdConfig
from vwlite.options import again, config, option

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
        """Of regularisation: 1 / C."""
        return self.l2 or 1.0
