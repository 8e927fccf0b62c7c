"""Options of latent feature log-linear models (``--dotproduct`` with ``--multiclass``)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.base import ANSWERS, show_classes
from vwlite.learners.configs.dyadic import ONE_RATE, POWER, SECTION, DyadicConfig, check_rates
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.label_vectors import LabelVectorsConfig
from vwlite.learners.configs.softmax import MulticlassConfig
from vwlite.options import again, config, not_one_of, option

RATE, DOT_L2, LINEAR_L2 = 0.05, 0.02, 0.006  # chosen on MovieLens-1M
ADAPTIVE_RATE, ADAPTIVE_DOT_L2, ADAPTIVE_LINEAR_L2 = 0.3, 0.35, 0.1  # on MovieLens-100K


@config
class LflConfig(LabelVectorsConfig):
    """``multiclass`` labels, each with latent vectors of length ``rank``; 0: with linear weights only.

    The rate is as ``DyadicConfig`` has it. ``answer``: what is predicted. Labels, names, scores and probabilities are
    as with ``oaa``.
    """

    multiclass: int = again(MulticlassConfig, "multiclass", 0, low=2, shown="")
    class_loss: str = "multinomial"
    lfl_loss: str = option(
        "log", "Of --multiclass with --dotproduct: log loss, or the squared error of the expected label.",
        section=SECTION, spelled=("--lfl-loss",), choices=("log", "mse"), settled=True,
    )
    base_label: str | None = option(
        None, "Of the same: the label whose score is always 0, so that the others' are log odds against it.",
        section=SECTION, spelled=("--base-label",), metavar="LABEL", shown="none", shape=True,
    )
    dot_rates: str | None = again(
        DyadicConfig, "dot_rates", None, shown="adaptive for labels with vectors; with --lfl-loss mse global"
    )
    learning_rate: float | None = again(
        GdConfig, "learning_rate", None, shown=f"{ADAPTIVE_RATE:g} for labels with vectors"
    )
    decay_learning_rate: float | None = again(  # type: ignore[assignment]
        GdConfig, "decay_learning_rate", None, shown="for labels with vectors sqrt(1 - j / P) in pass j of P, from 0"
    )
    first_pass_t: float = again(DyadicConfig, "first_pass_t", 0.0)
    dot_l2: float | str | None = again(
        DyadicConfig, "dot_l2", None, shown=f"{ADAPTIVE_DOT_L2:g} for labels with vectors"
    )
    linear_l2: float | None = again(
        DyadicConfig, "linear_l2", None, shown=f"{ADAPTIVE_LINEAR_L2:g} for labels with vectors"
    )
    dot_l2_power: float | None = again(  # type: ignore[assignment]
        DyadicConfig, "dot_l2_power", None, shown=f"{POWER:g} for labels with vectors"
    )
    dot_init: float | None = again(DyadicConfig, "dot_init", 0.1)
    answer: str = "class"

    learner: ClassVar[str] = "lfl"
    selected_by: ClassVar[tuple[str, ...]] = ()  # but by these together
    selected_together: ClassVar[tuple[str, ...]] = ("multiclass", "dotproduct")
    asked_as: ClassVar[str] = "--dotproduct and --multiclass"
    default_loss: ClassVar[str] = "logistic"
    shows_probabilities_of_classes: ClassVar[dict[str, Any]] = {"probabilities": True, "scores": False}
    includes: ClassVar[tuple[str, ...]] = ("active_dyadic",)
    exclusivity: ClassVar[str] = "every label has latent vectors and weights of its own"
    fewest_updates: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.class_loss != "multinomial":
            raise UsageError(f"--dotproduct with --multiclass takes --lfl-loss log or mse, not {self.class_loss}")
        self.check_rates()
        self.check()
        self.check_base()
        if (self.lfl_loss == "mse" or self.answer in ("median", "mean")) and not self.has_numbers:
            asked = "--lfl-loss mse" if self.lfl_loss == "mse" else f"--predict {self.answer}"
            raise UsageError(f"{asked} needs labels that are numbers, not names")

    def check_rates(self) -> None:
        """Fills in what depends on the rates. Raises UsageError for what needs a global one."""
        if self.dot_rates is None:
            object.__setattr__(self, "dot_rates", "global" if self.lfl_loss == "mse" else "adaptive")
        check_rates(self, {"decay_learning_rate": 0.9})
        if self.own_rates and self.lfl_loss != "log":
            raise UsageError(f"--lfl-loss {self.lfl_loss} does not go with rates that are adaptive: {ONE_RATE}")

    own_rates = DyadicConfig.own_rates  # type: ignore[assignment]

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
    def base_class(self) -> int:  # type: ignore[override]
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
        usual = ADAPTIVE_RATE if self.own_rates else RATE
        return usual if self.learning_rate is None else self.learning_rate

    @property
    def decay(self) -> float:
        usual = ADAPTIVE_DOT_L2 if self.own_rates else DOT_L2
        return usual if self.dot_l2 is None or isinstance(self.dot_l2, str) else self.dot_l2

    @property
    def linear_decay(self) -> float:
        usual = ADAPTIVE_LINEAR_L2 if self.own_rates else LINEAR_L2
        return usual if self.linear_l2 is None else self.linear_l2

    @property
    def kind(self) -> str:
        return "oaa"

    @property
    def count(self) -> int:
        return self.multiclass
