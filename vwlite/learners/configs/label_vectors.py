"""Options of models in which every label has latent vectors and linear weights of its own."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.active import ActiveConfig, check_asking
from vwlite.learners.configs.base import check_levels, refuse
from vwlite.learners.configs.dyadic import DyadicConfig, check_vectors
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.learners.configs.softmax import REFUSED
from vwlite.options import again, config

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
        """How many numbers a label's vector has; 0: there are none."""
        return self.rank

    @property
    def sets(self) -> int:
        """How many labels have vectors."""
        return self.count
