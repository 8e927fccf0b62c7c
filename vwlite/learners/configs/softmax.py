"""Options of classes in vwlite's own layout (``--multiclass``)."""

from __future__ import annotations

from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import refuse, show_classes
from vwlite.learners.configs.gd import AverageConfig, GdConfig
from vwlite.learners.configs.per_class import PerClassConfig, classes
from vwlite.options import again, config, option, options_of

LOSSES = ("multinomial", "logistic", "crammer_singer")  # numbered as in the kernel
REFUSED = (
    "sgd", "adaptive", "normalized", "invariant", "initial_t", "l1", "l2", "sparse_l2", "min_prediction",
    "max_prediction", "initial_weight", "constant", "ftrl", "binary", "oaa_subsample", "cs_absolute_loss", "power_t",
)

OF_SHARES = ("label_shares", "strict_shares", "smoothing")


@config
class MulticlassConfig(PerClassConfig):
    """``multiclass`` is the number of classes. Labels, names, scores and probabilities are as with ``oaa``."""

    multiclass: int = classes("N classes, all at once: softmax, or by --loss_function.")
    class_loss: str = "multinomial"
    average: bool = again(AverageConfig, "average", False)
    average_after: int | None = again(
        AverageConfig, "average_after", None, shown=options_of(AverageConfig)["average_after"].shown
    )
    group_l1: float = option(
        0.0, "Penalty, at each example, on the norm of a feature's weights for all classes, which become 0 together.",
        section="Update", low=0, shown="off", settled=True,
    )
    label_shares: bool = option(
        False, "Labels are distributions: words class:share like 1:0.7 3:0.3.", section="Classes", settled=True,
    )
    strict_shares: bool = option(
        False, "Shares add up to 1 within 1e-4; else they are divided by their sum.", section="Classes", settled=True,
    )
    smoothing: float = option(
        0.0, "Label smoothing: spread this share of each label evenly over all classes.", section="Classes", low=0,
        below=1,
        shown="", settled=True,
    )

    learner: ClassVar[str] = "multiclass"
    selected_by: ClassVar[tuple[str, ...]] = ("multiclass",)
    is_reduction: ClassVar[bool] = False
    includes: ClassVar[tuple[str, ...]] = ("average",)
    exclusivity: ClassVar[str] = "the loss is one of all classes together, in a table of its own"
    in_vw: ClassVar[bool] = False
    shows_probabilities_of_classes: ClassVar[dict[str, Any]] = {}
    written_as_text: ClassVar[bool] = False
    default_loss: ClassVar[str] = "logistic"
    refused: ClassVar[tuple[str, ...]] = REFUSED

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        if self.class_loss not in LOSSES:
            raise UsageError(f"--multiclass goes with --loss_function {', '.join(LOSSES)}, not {self.class_loss}")
        refuse(self, self.refused, "--multiclass", "--oaa, a learner for each class, takes it")
        if self.average_after is not None and not self.average:
            raise UsageError("--average_after needs --average")
        if self.group_l1 and self.average:
            raise UsageError("--group_l1 does not go with --average: a mean of sparse weights is not sparse")
        if self.group_l1 and self.multiclass == 1:
            raise UsageError("--group_l1 is of several weights a feature: --multiclass 1 has one")
        if self.class_loss != "multinomial":
            for name in OF_SHARES:
                if getattr(self, name):
                    raise UsageError(f"--{name} needs --loss_function multinomial, not {self.class_loss}")
        if self.strict_shares and not self.label_shares:
            raise UsageError("--strict_shares needs --label_shares")
        self.check_names()
        if self.probabilities and self.class_loss != "multinomial":
            raise UsageError("--probabilities needs --loss_function multinomial")

    def to_show(self, what: str) -> dict[str, Any]:
        return show_classes(what, self.class_loss, "multinomial")

    @property
    def label_words(self) -> bool | None:
        return True if self.label_shares else super().label_words

    @property
    def kind(self) -> str:
        return "oaa"

    @property
    def count(self) -> int:
        return self.multiclass
