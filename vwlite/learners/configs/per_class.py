"""Options of classes, sets of labels and costs, with a set of weights for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.gd import GdConfig

if TYPE_CHECKING:
    from vwlite.data.class_labels import Classes

KINDS = ("oaa", "csoaa", "multilabel_oaa")  # numbered as in the kernel


@dataclass(frozen=True, slots=True)
class ManyConfig(GdConfig):
    """As ``GdConfig``; one of ``oaa``, ``csoaa`` and ``multilabel_oaa`` is the number of classes, the others are 0."""

    oaa: int = 0
    csoaa: int = 0
    multilabel_oaa: int = 0
    named_labels: tuple[str, ...] = ()
    indexing: int | None = None  # number of the first class, 0 or 1; None: the data tell
    probabilities: bool = False  # predictions are the classes' probabilities
    scores: bool = False  # or their scores
    oaa_subsample: int = 0  # learn the label's class and so many others of them; 0: all
    random_seed: int = 0  # which others
    sequential: bool = False  # multilabel_oaa: learn each label only while all before it were right
    cs_absolute_loss: bool = False  # csoaa: the cost of the answer, not what it costs more than the best

    learner: ClassVar[str] = "many"

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        if self.multilabel_oaa and self.probabilities:
            object.__setattr__(self, "link", "logistic")
        asked = [kind for kind in KINDS if getattr(self, kind)]
        if len(asked) != 1:
            none = "--oaa, --csoaa and --multilabel_oaa take the number of classes, 1 or more"
            raise UsageError(f"--{' and --'.join(asked)} do not go together" if asked else none)
        if not 1 <= self.count < 1 << 24:
            raise UsageError(f"--{self.kind} takes 1 to {(1 << 24) - 1} classes, not {self.count}")
        self.check_names()
        if self.probabilities and self.loss.name != "logistic":
            raise UsageError("--probabilities needs --loss_function logistic")
        if self.kind != "oaa" and self.scores:
            raise UsageError(f"--scores does not go with --{self.kind}")
        if self.kind == "csoaa" and self.probabilities:
            raise UsageError("--probabilities does not go with --csoaa")
        if self.binary:
            raise UsageError(f"--binary does not go with --{self.kind}")
        if self.oaa_subsample and not 0 < self.oaa_subsample < self.oaa:
            raise UsageError(f"--oaa_subsample takes 1 to one less than the classes of --oaa, not {self.oaa_subsample}")
        if self.oaa_subsample and (self.probabilities or self.scores):
            raise UsageError("--oaa_subsample does not go with --probabilities and --scores")
        if self.kind != "multilabel_oaa" and self.sequential:
            raise UsageError("--sequential needs --multilabel_oaa")
        if self.kind != "csoaa" and self.cs_absolute_loss:
            raise UsageError("--cs_absolute_loss needs --csoaa")

    def check_names(self) -> None:
        if self.named_labels and len(self.named_labels) != self.count:
            raise UsageError(f"--named_labels has {len(self.named_labels)} names for {self.count} classes")
        if len(set(self.named_labels)) != len(self.named_labels):
            raise UsageError("--named_labels names a class twice")
        if self.indexing not in (None, 0, 1):
            raise UsageError(f"--indexing takes 0 or 1, not {self.indexing}")

    @property
    def kind(self) -> str:
        return next((kind for kind in KINDS if getattr(self, kind)), KINDS[0])

    @property
    def count(self) -> int:
        return getattr(self, self.kind)

    @property
    def models(self) -> int:
        """How many sets of weights there are."""
        return self.count

    @property
    def what(self) -> str:
        return f"{self.models} sets of weights" if self.models != self.count else f"{self.count} classes"

    @property
    def classes(self) -> Classes:
        from vwlite.data.class_labels import Classes

        first = 0 if self.kind == "multilabel_oaa" else self.indexing
        return Classes(self.count, self.named_labels, first)

    @property
    def label_words(self) -> bool | None:
        """Whether labels are lists of words; None: they are numbers."""
        lists = self.kind != "oaa"
        return lists if lists or self.named_labels else None
