"""Options of models in which every label has latent vectors and linear weights of its own; among them ``lfl``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from vwlite.errors import UsageError
from vwlite.learners.configs.active import ActiveConfig, check_asking
from vwlite.learners.configs.base import ANSWERS, check_levels, refuse, show_classes
from vwlite.learners.configs.dyadic import ONE_RATE, POWER, SECTION, DyadicConfig, check_rates, check_vectors
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import REFUSED, MulticlassConfig, PerClassConfig
from vwlite.options import again, config, not_one_of, option

MAX_NUMBERS = 1 << 16  # of a feature's latent vectors for all labels


@config
class LabelVectorsConfig(PerClassConfig):
    """``count`` labels, each with latent vectors of length ``rank``. The rate is as ``DyadicConfig`` has it."""

    pairs: int = 1
    rank: int = again(DyadicConfig, "rank", 10)
    learning_rate: float | None = again(GdConfig, "learning_rate", None)
    power_t: float = again(GdConfig, "power_t", 0.0, low=0)
    initial_t: float | None = again(GdConfig, "initial_t", 1.0)
    dot_init_kind: str = again(DyadicConfig, "dot_init_kind", "uniform")
    dot_l2: float | str | None = again(DyadicConfig, "dot_l2", None)
    dot_l2_power: float = again(DyadicConfig, "dot_l2_power", 0.0)
    dot_l2_of: str = again(DyadicConfig, "dot_l2_of", "sums")
    dot_init: float | None = again(DyadicConfig, "dot_init", None)
    dot_offset: float = again(DyadicConfig, "dot_offset", 0.0)
    no_dot_linear: bool = again(DyadicConfig, "no_dot_linear", False)
    active: bool = again(ActiveConfig, "active", False)
    simulation: bool = again(ActiveConfig, "simulation", False)
    mellowness: float = again(ActiveConfig, "mellowness", 1.0)
    confidence_rate: float | None = again(DyadicConfig, "confidence_rate", None)

    is_reduction: ClassVar[bool] = False
    supports_audit: ClassVar[bool] = False
    in_vw: ClassVar[bool] = False
    written_as_text: ClassVar[bool] = False
    label_shares: ClassVar[bool] = False
    can_freeze: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = False
    revision: ClassVar[int] = 1
    dot_pass_l2: ClassVar[float] = 0.0
    asked_as: ClassVar[str]  # the options that ask for such a model
    base_class: ClassVar[int] = -1
    fewest_pairs: ClassVar[int] = 1

    def check(self) -> None:
        """Raises UsageError for what none of these models has."""
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        check_levels(self)
        names = (name for name in REFUSED if name not in ("initial_t", "power_t"))
        refuse(self, names, self.asked_as, "--dot-l2 shrinks vectors" if self.l2 else "linear learners take it")
        if not self.fewest_pairs <= self.pairs <= 16:
            raise UsageError("--dotproduct may be given 16 times at most")
        if self.power_t and not self.initial_t:
            raise UsageError("--power_t of a dyadic model needs an --initial_t above 0")
        check_vectors(self)
        check_asking(self, self.asked_as)
        self.check_names()
        self.check_size()

    def check_size(self) -> None:
        """Raises UsageError where a feature's vectors are longer than the kernel is made for."""
        numbers = self.sets * max(self.vector_length, 1)
        if numbers > MAX_NUMBERS:
            mib = 4 * numbers / 2**20
            raise UsageError(
                f"{self.sets} labels with vectors of length {self.rank} are {numbers:,} numbers, {mib:.2g} MiB, for "
                f"every feature and side: more than {MAX_NUMBERS:,}"
            )

    decays = DyadicConfig.decays
    flip_rate = DyadicConfig.flip_rate

    @property
    def decay(self) -> float:
        """L2 decay of vectors that ``decays`` does not name."""
        raise NotImplementedError

    @property
    def initial_learning_rate(self) -> float:
        raise NotImplementedError

    @property
    def linear_decay(self) -> float:
        """L2 decay of linear weights."""
        raise NotImplementedError

    @property
    def pairs_by_position(self) -> bool:
        """Whether feature i of one side of a dot product is paired with feature i of the other."""
        return False

    @property
    def vector_length(self) -> int:
        """The length of a label's vector; 0: there are none."""
        return self.rank

    @property
    def sets(self) -> int:
        """The number of labels with vectors."""
        return self.count


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
    shows_probabilities_of_classes: ClassVar[Mapping[str, object]] = {"probabilities": True, "scores": False}
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

    @classmethod
    def restore(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Self:
        """Models of before ``dot_rates`` have a global rate."""
        return super().restore({"dot_rates": "global", **stored}, changes)

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
        """The number of labels with vectors."""
        return self.multiclass - (self.base_label is not None)

    def to_show(self, what: str) -> Mapping[str, object]:
        return {**show_classes(what, self.class_loss, "multinomial"), "answer": "class"}

    def to_answer(self, how: str) -> Mapping[str, object]:
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
