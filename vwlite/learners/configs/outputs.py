"""Options of several outputs, numbers that are learned from the same features, and of weights of low rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import random_seed, refuse
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import MulticlassConfig
from vwlite.options import again, config, option

MAX_OUTPUTS = 1 << 16
APART = ("ftrl", "sparse_l2")  # options whose sums are of single weights


@config
class OutputsConfig(GdConfig):
    """As ``GdConfig``, for ``outputs`` numbers each. ``shared_rates`` None becomes whether the update can share."""

    outputs: int = option(
        0, "Predict N numbers from the same features; labels are lists like 3.5,-1,2, in which some may be missing: "
        "3.5,,2.",
        section="Outputs", unit="outputs", low=1, high=MAX_OUTPUTS, shown="", shape=True, needed=False,
    )
    named_outputs: tuple[str, ...] = option(
        (), "Names of the outputs, in order, or a file of them.", section="Outputs", metavar="NAME,...|@FILE",
        read_as="names",
    )
    shared_rates: bool | None = option(
        None, "One adaptive sum and one scale for a feature, not for each of its outputs.", section="Outputs",
        spelled=("--shared_rates/--no-shared_rates",), shown="shared, unless --ftrl or --sparse_l2", settled=True,
    )

    monotone: bool = option(
        False, "Sort the predictions of an example, so that its quantiles do not cross.", section="Outputs",
        settled=True,
    )

    learner: ClassVar[str] = "outputs"
    selected_by: ClassVar[tuple[str, ...]] = ("outputs",)
    exclusivity: ClassVar[str] = "every output has weights of its own, which gradient descent or FTRL learns"
    supports_trees: ClassVar[bool] = False
    in_vw: ClassVar[bool] = False
    written_as_text: ClassVar[bool] = False
    has_sensitivity: ClassVar[bool] = False
    supports_levels: ClassVar[bool] = False
    label_words: ClassVar[bool] = False  # a label is one word, which the importance may follow

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "named_outputs", tuple(self.named_outputs))
        if not self.outputs:
            raise UsageError("--outputs takes the number of outputs, 1 or more")
        if self.binary:
            raise UsageError("--binary does not go with --outputs: its predictions are numbers")
        if self.loss.loss.two_classes and not self.loss.soft:
            raise UsageError(
                f"--outputs takes losses of numbers, not --loss_function {self.loss.name} of two classes: "
                "--multilabel_oaa has a set of labels, --logistic_min and --logistic_max numbers between limits"
            )
        for name in APART if self.shared_rates else ():
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --shared_rates: it keeps sums of single weights")
        if self.shared_rates is None:
            object.__setattr__(self, "shared_rates", not any(getattr(self, name) for name in APART))
        self.check_names()
        self.check_quantiles()

    def check_quantiles(self) -> None:
        taus = self.loss.quantile_tau
        if not isinstance(taus, tuple):
            return
        if len(taus) != self.outputs:
            raise UsageError(f"--quantile_tau has {len(taus)} numbers for {self.outputs} outputs")
        if self.monotone and any(high < low for low, high in pairwise(taus)):
            raise UsageError("--monotone sorts predictions: --quantile_tau must be ascending")

    def check_names(self) -> None:
        names = self.named_outputs
        if names and len(names) != self.outputs:
            raise UsageError(f"--named_outputs has {len(names)} names for {self.outputs} outputs")
        if len({*names}) != len(names):
            raise UsageError("--named_outputs names an output twice")

    @property
    def names(self) -> Sequence[str]:
        """The names of the outputs: numbers from 1 unless they have names."""
        return self.named_outputs or list(map(str, range(1, self.outputs + 1)))

    def to_show(self, what: str) -> Mapping[str, object]:
        if what == "raw":
            return {"link": "identity"}
        return super().to_show(what)


REFUSED = (
    "sgd", "adaptive", "normalized", "invariant", "initial_t", "l1", "l2", "sparse_l2", "initial_weight", "constant",
    "ftrl", "power_t",
)


@config
class FactoredConfig(OutputsConfig):
    """As ``OutputsConfig``, for weights that are a product of matrices with ``rank`` columns, at most ``outputs``."""

    rank: int = again(DyadicConfig, "rank", 10, low=1, shape=True)
    trace: float = option(
        0.0, "Penalty, at each example, on the singular values of the weights, features by outputs or by classes of "
        "--multiclass: few directions.",
        section="Outputs", above=0, shown="off", settled=True,
    )
    random_seed: int = random_seed()  # where the rows of the outputs begin

    supports_audit: ClassVar[bool] = False
    learner: ClassVar[str] = "factored"
    selected_by: ClassVar[tuple[str, ...]] = ()
    selected_together: ClassVar[tuple[str, ...]] = ("outputs", "trace")
    includes: ClassVar[tuple[str, ...]] = ("outputs",)
    exclusivity: ClassVar[str] = "the weights of all outputs are one matrix"

    def __post_init__(self) -> None:
        if self.shared_rates is not None:
            raise UsageError("--shared_rates does not go with --trace: features and outputs have rates of their own")
        super().__post_init__()
        object.__setattr__(self, "shared_rates", None)
        if self.outputs == 1:
            raise UsageError("--trace is of the weights of several outputs: it needs --outputs 2 or more")
        refuse(self, REFUSED, "--trace", "--outputs without --trace takes it")
        object.__setattr__(self, "rank", min(self.rank, self.outputs))


@config
class FactoredClassesConfig(MulticlassConfig):
    """As ``MulticlassConfig``, for weights that are a product of matrices with up to ``multiclass`` columns."""

    rank: int = again(DyadicConfig, "rank", 10, low=1, shape=True)
    trace: float = again(FactoredConfig, "trace", 0.0, shown="off")

    supports_audit: ClassVar[bool] = False
    learner: ClassVar[str] = "factored_classes"
    selected_by: ClassVar[tuple[str, ...]] = ()
    selected_together: ClassVar[tuple[str, ...]] = ("multiclass", "trace")
    includes: ClassVar[tuple[str, ...]] = ()
    exclusivity: ClassVar[str] = "the weights of all classes are one matrix"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.multiclass == 1:
            raise UsageError("--trace is of the weights of several classes: it needs --multiclass 2 or more")
        if self.class_loss == "crammer_singer":
            losses = "--loss_function multinomial or logistic"
            raise UsageError(f"--trace with --multiclass takes {losses}, not {self.class_loss}")
        for name in ("average", "group_l1"):
            if getattr(self, name):
                raise UsageError(f"--{name} does not go with --trace: --multiclass without --trace takes it")
        object.__setattr__(self, "rank", min(self.rank, self.multiclass))

    @property
    def outputs(self) -> int:
        """The number of columns of the matrix."""
        return self.multiclass
