"""Options of batch optimisation (``--bfgs``, ``--conjugate_gradient``)."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import RATE_OPTIONS, UPDATE_OPTIONS, GdConfig
from vwlite.learners.configs.outputs import OutputsConfig
from vwlite.learners.configs.per_class import REFUSED, MulticlassConfig
from vwlite.options import config, option

WITH_KINKS = ("hinge", "quantile", "absolute", "truncated", "tube")  # losses at which steps with a penalty get stuck


@config
class BfgsConfig(GdConfig):
    """As ``GdConfig``, of which the loss, ``l1``, ``l2``, start values and the bounds of predictions matter."""

    bfgs: bool = option(
        True,
        "L-BFGS over whole passes instead of one example after the other; needs --passes.",
        section="Batch optimisation",
    )
    conjugate_gradient: bool = option(False, "The same with conjugate gradients.", section="Batch optimisation")
    hessian_on: bool = option(
        False, "Take a pass for the curvature before every step, not only the first.", section="Batch optimisation"
    )
    mem: int = option(15, "Steps L-BFGS remembers.", section="Batch optimisation", low=0, high=1000)
    termination: float = option(
        0.001, "Stop when the loss falls by a smaller share than this.", section="Batch optimisation", low=0, below=1
    )
    no_bias_regularization: bool = option(
        False, "--l2 does not shrink the constant.", section="Batch optimisation", vw_only=True,
        in_vw_models="forgotten",
    )

    learner: ClassVar[str] = "bfgs"
    supports_trees: ClassVar[bool] = False
    supports_oaa: ClassVar[bool] = True
    selected_by: ClassVar[tuple[str, ...]] = ("bfgs", "conjugate_gradient")
    supports_levels: ClassVar[bool] = False
    exclusivity: ClassVar[str] = (
        "one set of weights is fitted to the labels of whole passes (--oaa, --multiclass and --outputs have several)"
    )
    continues: ClassVar[tuple[str, ...]] = ("gd",)
    needs_full_passes: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = False
    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        for name, why in (("binary", "the sign of its predictions says the class"), ("ftrl", "drop one")):
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --bfgs: {why}")
        if self.loss.name == "perceptron":
            raise UsageError("--loss_function perceptron does not go with --bfgs: weights of 0 have no loss")

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        names = (*RATE_OPTIONS, *UPDATE_OPTIONS, "sparse_l2", "shuffle", "shuffle_first")
        if self.conjugate_gradient:
            return "conjugate_gradient", (*names, "l1", "mem", "hessian_on")
        return "bfgs", names

    @property
    def modes(self) -> tuple[bool, bool, bool]:
        return True, True, True  # a table with the same columns, whatever of the update was typed

    @property
    def memory(self) -> int:
        return 0 if self.conjugate_gradient else self.mem

    @property
    def curved(self) -> bool:
        return self.hessian_on or self.memory == 0


@config
class BfgsOutputsConfig(OutputsConfig, BfgsConfig):
    """As ``BfgsConfig``; labels, names and predictions are those of ``OutputsConfig``."""

    learner: ClassVar[str] = "bfgs_outputs"
    selected_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    selected_together: ClassVar[tuple[str, ...]] = ("bfgs", "outputs")
    exclusivity: ClassVar[str] = "the weights of all outputs are one vector, which is fitted to whole passes"
    includes: ClassVar[tuple[str, ...]] = ("bfgs", "outputs")

    @classmethod
    def selected_with(cls, typed: Collection[str]) -> bool:
        return "outputs" in typed and any(name in typed for name in BfgsConfig.selected_by)

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        beside, names = super().unused_options
        return beside, (*names, "shared_rates")


@config
class BfgsMulticlassConfig(MulticlassConfig, BfgsConfig):
    """As ``BfgsConfig``; labels, names and predictions are those of ``MulticlassConfig``."""

    learner: ClassVar[str] = "bfgs_multiclass"
    selected_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    selected_together: ClassVar[tuple[str, ...]] = ("bfgs", "multiclass")
    includes: ClassVar[tuple[str, ...]] = ("bfgs", "multiclass")
    exclusivity: ClassVar[str] = "the weights of all classes are one vector, which is fitted to whole passes"
    refused: ClassVar[tuple[str, ...]] = tuple(name for name in REFUSED if name not in ("l1", "l2"))

    def __post_init__(self) -> None:
        BfgsConfig.__post_init__(self)
        MulticlassConfig.__post_init__(self)
        if self.average:
            raise UsageError("--average does not go with --multiclass and --bfgs, which fits whole passes: drop one")
        if self.group_l1:
            raise UsageError("--group_l1 does not go with --bfgs: its steps are of single examples; --l1 is of weights")
        if self.class_loss == "crammer_singer":
            raise UsageError(
                "--loss_function crammer_singer does not go with --bfgs: it has kinks; with --dual and --l2 it has a "
                "solver of its own"
            )

    @classmethod
    def selected_with(cls, typed: Collection[str]) -> bool:
        return "multiclass" in typed and any(name in typed for name in BfgsConfig.selected_by)
