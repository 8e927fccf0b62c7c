"""Options of latent feature log-linear models (``--dotproduct`` with ``--multiclass``)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import ANSWERS, show_classes
from vwlite.learners.configs.dyadic import SECTION, DyadicConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.learners.configs.shared import check_levels
from vwlite.learners.configs.softmax import REFUSED, MulticlassConfig
from vwlite.options import again, config, not_one_of, option

MAX_NUMBERS = 1 << 16  # of a feature's latent vectors for all labels
RATE, DOT_L2, LINEAR_L2 = 0.05, 0.02, 0.006  # chosen on MovieLens-1M


@config
class LflConfig(PerClassConfig):
    """``multiclass`` labels, each with latent vectors of length ``rank``; 0: with linear weights only.

    The rate is as ``DyadicConfig`` has it. ``answer``: what is predicted. Labels, names, scores and probabilities are
    as with ``oaa``.
    """

    multiclass: int = again(MulticlassConfig, "multiclass", 0, low=2)
    class_loss: str = "multinomial"
    lfl_loss: str = option(
        "log", "Of --multiclass with --dotproduct: log loss, or the squared error of the expected label.",
        section=SECTION, spelled=("--lfl-loss",), choices=("log", "mse"), settled=True,
    )
    base_label: str | None = option(
        None, "Of the same: the label whose score is always 0, so that the others' are log odds against it.",
        section=SECTION, spelled=("--base-label",), metavar="LABEL", shown="none", shape=True,
    )
    pairs: int = 1
    rank: int = again(DyadicConfig, "rank", 10)
    learning_rate: float | None = again(GdConfig, "learning_rate", None, shown=f"{RATE:g} for labels with vectors")
    decay_learning_rate: float = again(GdConfig, "decay_learning_rate", 0.9)
    power_t: float = again(GdConfig, "power_t", 0.0, low=0)
    initial_t: float | None = again(GdConfig, "initial_t", 1.0)
    first_pass_t: float = again(DyadicConfig, "first_pass_t", 0.0)
    dot_l2: float | None = again(DyadicConfig, "dot_l2", None, shown=f"{DOT_L2:g} for labels with vectors")
    linear_l2: float | None = again(DyadicConfig, "linear_l2", None, shown=f"{LINEAR_L2:g} for labels with vectors")
    dot_init: float = again(DyadicConfig, "dot_init", 0.1)
    dot_init_kind: str = again(DyadicConfig, "dot_init_kind", "uniform")
    no_dot_linear: bool = again(DyadicConfig, "no_dot_linear", False)
    answer: str = "class"

    learner: ClassVar[str] = "lfl"
    asked_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    asked_together: ClassVar[tuple[str, ...]] = ("multiclass", "dotproduct")
    goes_over_bases: ClassVar[bool] = False
    in_vw: ClassVar[bool] = False
    written_as_text: ClassVar[bool] = False
    default_loss: ClassVar[str] = "logistic"
    shows_probabilities_of_classes: ClassVar[dict[str, Any]] = {"probabilities": True, "scores": False}
    alone: ClassVar[str] = "every label has latent vectors and weights of its own"
    dot_offset: ClassVar[float] = 0.0
    revision: ClassVar[int] = 1
    decays: ClassVar[dict[str, float]] = {}
    dot_l2_power: ClassVar[float] = 0.0
    dot_l2_of: ClassVar[str] = "sums"
    fewest_updates: ClassVar[int] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        check_levels(self)
        if self.class_loss != "multinomial":
            raise UsageError(f"--dotproduct with --multiclass takes --lfl-loss log or mse, not {self.class_loss}")
        for name in REFUSED:
            if name != "initial_t" and getattr(self, name):
                raise UsageError(f"--{name} does not go with --dotproduct and --multiclass")
        if not 1 <= self.pairs <= 16:
            raise UsageError("--dotproduct may be given 16 times at most")
        if self.power_t and not self.initial_t:
            raise UsageError("--power_t of a dyadic model needs an --initial_t above 0")
        if isinstance(self.dot_l2, str):
            raise UsageError("--dot-l2 by namespace does not go with --multiclass")
        self.check_names()
        self.check_base()
        self.check_size()
        if (self.lfl_loss == "mse" or self.answer in ("median", "mean")) and not self.has_numbers:
            asked = "--lfl-loss mse" if self.lfl_loss == "mse" else f"--predict {self.answer}"
            raise UsageError(f"{asked} needs labels that are numbers, not names")

    def check_base(self) -> None:
        label, first = self.base_label, self.indexing
        if label is None:
            return
        if self.named_labels:
            if label not in self.named_labels:
                raise UsageError(f"--base-label {label} is none of --named_labels")
        elif first is None:
            raise UsageError("--base-label needs --indexing 0 or 1, the number of the first label, or --named_labels")
        elif label not in map(str, range(first, first + self.multiclass)):
            raise UsageError(f"--base-label {label} is no label from {first} to {first + self.multiclass - 1}")

    def check_size(self) -> None:
        """Raises UsageError where a feature's vectors are longer than the kernel is made for."""
        numbers = self.sets * max(self.rank, 1)
        if numbers > MAX_NUMBERS:
            mib = 4 * numbers / 2**20
            raise UsageError(
                f"{self.sets} labels with vectors of length {self.rank} are {numbers:,} numbers, {mib:.2g} MiB, for "
                f"every feature and side: more than {MAX_NUMBERS:,}"
            )

    @property
    def has_numbers(self) -> bool:
        try:
            return all(map(math.isfinite, self.numbers))
        except ValueError:
            return False

    @property
    def numbers(self) -> list[float]:
        """The labels as numbers, from 0 where the first is not known. Raises ValueError for names."""
        return list(map(float, self.named_labels or range(self.indexing or 0, (self.indexing or 0) + self.multiclass)))

    @property
    def base_class(self) -> int:
        """The place of the base label among the labels, -1 without one."""
        if self.base_label is None:
            return -1
        if self.named_labels:
            return self.named_labels.index(self.base_label)
        return int(self.base_label) - (self.indexing or 0)

    @property
    def sets(self) -> int:
        """How many labels have vectors."""
        return self.multiclass - (self.base_label is not None)

    def to_show(self, what: str) -> dict[str, Any]:
        return {**show_classes(what, self.class_loss, "multinomial"), "answer": "class"}

    def to_answer(self, how: str) -> dict[str, Any]:
        if how not in ANSWERS:
            raise UsageError(f"--predict: {not_one_of(how, ANSWERS)}")
        return {"probabilities": False, "scores": False, "answer": how}

    @property
    def initial_learning_rate(self) -> float:
        return RATE if self.learning_rate is None else self.learning_rate

    @property
    def decay(self) -> float:
        return DOT_L2 if self.dot_l2 is None else self.dot_l2

    @property
    def linear_decay(self) -> float:
        return LINEAR_L2 if self.linear_l2 is None else self.linear_l2

    @property
    def kind(self) -> str:
        return "oaa"

    @property
    def count(self) -> int:
        return self.multiclass
