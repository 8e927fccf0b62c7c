"""Options of classes, sets of labels and costs, with a set of weights for each class, and of groups of lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from vwlite.config_check import built
from vwlite.errors import UsageError
from vwlite.learners import check_name, config_class
from vwlite.learners.configs.base import CLASS_SCORES_OFF, random_seed, refuse, show_classes
from vwlite.learners.configs.gd import AverageConfig, GdConfig
from vwlite.options import again, config, option, options_of

if TYPE_CHECKING:
    from vwlite.data.class_labels import Classes

SET_LOSSES = ("hamming", "zero_one", "f1", "jaccard")  # these too
LABEL_ORDERS = ("given", "frequent", "rare")
KINDS = ("oaa", "csoaa", "multilabel_oaa")  # numbered as in the kernel


def classes(help: str, low: int = 1, high: int = (1 << 24) - 1, needed: bool = True, single: bool = True) -> Any:
    """An option that is a number of classes; ``single``: a label is one of them, and they can be counted."""
    bounds = {"unit": "classes", "low": low, "high": high}
    return option(
        0, help, section="Classes", **bounds, shown="", shape=True, needed=needed, read_as="classes" if single else ""
    )


@config
class PerClassConfig(GdConfig):
    """As ``GdConfig``; one of ``oaa``, ``csoaa`` and ``multilabel_oaa`` is the number of classes, the others are 0."""

    oaa: int = classes(
        "N classes, one against all; labels are 1..N, 0..N-1 or names. N may be auto: as many as there are.",
        needed=False,
    )
    csoaa: int = classes("N classes with costs; labels are words class:cost.", needed=False, single=False)
    multilabel_oaa: int = classes("Sets of N labels, from 0; labels are like 0,3.", needed=False, single=False)
    named_labels: tuple[str, ...] = option(
        (), "Names of the classes, in order, or a file with one in each line.", section="Classes",
        metavar="NAME,...|@FILE", read_as="names", shown="those in the files, sorted",
    )
    indexing: int | None = option(
        None, "Number of the first class, 0 or 1.", section="Classes", low=0, high=1, shown="as in the data"
    )
    probabilities: bool = option(
        False, "Predict the probability of every class (with --loss_function logistic).", section="Classes",
        in_vw_models="forgotten",
    )
    scores: bool = option(False, "Predict the score of every class.", section="Classes", in_vw_models="forgotten")
    oaa_subsample: int = option(
        0, "Update the class of the label and N random others, not all.", section="Classes", shown="",
        in_vw_models="forgotten",
    )
    random_seed: int = random_seed()  # which others
    sequential: bool = option(
        False, "Of --multilabel_oaa: learn a label only while all before it were right; --set-loss zero_one.",
        section="Classes",
    )
    set_loss: str = option(
        "", "What a set of --multilabel_oaa costs, by which labels are learned with unequal weight.", section="Classes",
        spelled=("--set-loss",), choices=SET_LOSSES, shown="hamming", settled=True, in_vw_models="forgotten",
    )
    label_order: str = option(
        "given", "The order in which the labels of a set are decided; frequent or rare first, by the examples so far.",
        section="Classes", spelled=("--label-order",), choices=LABEL_ORDERS, settled=True, in_vw_models="forgotten",
    )
    cs_absolute_loss: bool = option(
        False, "Loss of --csoaa: the answer's cost, not what it costs more than the best.", section="Classes",
        in_vw_models="forgotten",
    )

    learner: ClassVar[str] = "many"
    supports_trees: ClassVar[bool] = False
    selected_by: ClassVar[tuple[str, ...]] = KINDS
    is_reduction: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = False
    supports_levels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "named_labels", tuple(self.named_labels))
        if self.multilabel_oaa and self.probabilities:
            object.__setattr__(self, "link", "logistic")
        asked = [kind for kind in KINDS if getattr(self, kind)]
        if len(asked) != 1:
            none = "--oaa, --csoaa and --multilabel_oaa take the number of classes, 1 or more"
            raise UsageError(f"--{' and --'.join(asked)} do not go together" if asked else none)
        self.check_names()
        if self.kind != "oaa" and self.scores:
            raise UsageError(f"--scores does not go with --{self.kind}: -r writes scores")
        if self.kind == "csoaa" and self.probabilities:
            raise UsageError("--probabilities does not go with --csoaa, which predicts costs: --oaa has probabilities")
        if self.binary:
            raise UsageError(f"--binary does not go with --{self.kind}: it answers with classes")
        if self.oaa_subsample and not 0 < self.oaa_subsample < self.oaa:
            raise UsageError(f"--oaa_subsample takes 1 to one less than the classes of --oaa, not {self.oaa_subsample}")
        if self.oaa_subsample and (self.probabilities or self.scores):
            raise UsageError("--oaa_subsample does not go with --probabilities and --scores: -r writes scores")
        self.check_sets()
        if self.kind != "csoaa" and self.cs_absolute_loss:
            raise UsageError("--cs_absolute_loss needs --csoaa")

    @property
    def only_in_vw(self) -> str:  # type: ignore[override]
        other = self.probabilities and self.loss.name != "logistic"
        return "--probabilities needs --loss_function logistic" if other else ""

    def check_sets(self) -> None:
        """Fills in the loss of sets of labels."""
        if self.kind != "multilabel_oaa":
            ordered = self.label_order != "given"
            typed = {"sequential": self.sequential, "set-loss": self.set_loss, "label-order": ordered}
            for name, value in typed.items():
                if value:
                    raise UsageError(f"--{name} needs --multilabel_oaa")
            return
        if self.sequential and self.set_loss not in ("", "zero_one"):
            raise UsageError(f"--sequential is --set-loss zero_one, not {self.set_loss}")
        if not self.set_loss:
            object.__setattr__(self, "set_loss", "zero_one" if self.sequential else "hamming")
        if self.set_loss == "hamming" and self.label_order != "given":
            raise UsageError("--label-order does nothing with --set-loss hamming: every label is learned by itself")

    @property
    def shows_probabilities_of_classes(self) -> Mapping[str, object]:
        if not self.oaa or self.loss.name != "logistic":
            return {}
        return {"probabilities": True, "scores": False, "oaa_subsample": 0}

    def to_show(self, what: str) -> Mapping[str, object]:
        if self.csoaa and what == "probabilities":
            raise UsageError("--probabilities: costs are not probabilities; --scores shows the predicted cost of "
            "every class")
        if not self.oaa and what != "probabilities":
            return {**CLASS_SCORES_OFF, "as_raw": True}
        return {**show_classes(what, self.loss.name, "logistic"), "oaa_subsample": 0}

    def check_names(self) -> None:
        if odd := next((name for name in self.named_labels if len(name.split()) > 1), ""):
            raise UsageError(f"--named_labels: a name is a single word, such as {'_'.join(odd.split())}, not {odd!r}")
        if self.named_labels and len(self.named_labels) != self.count:
            raise UsageError(f"--named_labels has {len(self.named_labels)} names for {self.count} classes")
        if len(set(self.named_labels)) != len(self.named_labels):
            raise UsageError("--named_labels names a class twice")

    @property
    def kind(self) -> str:
        return next((kind for kind in KINDS if getattr(self, kind)), KINDS[0])

    @property
    def count(self) -> int:
        return getattr(self, self.kind)

    @property
    def models(self) -> int:
        """The number of sets of weights."""
        return self.count

    @property
    def what(self) -> str:
        return f"{self.models} sets of weights" if self.models != self.count else f"{self.count} classes"

    @property
    def classes(self) -> Classes:
        from vwlite.data.class_labels import Classes

        sets = self.kind == "multilabel_oaa"
        return Classes(self.count, self.named_labels, 0 if sets else self.indexing, sets)

    @property
    def label_words(self) -> bool | None:
        """Whether labels are lists of words; None: they are numbers."""
        lists = self.kind != "oaa"
        return lists if lists or self.named_labels else None


REGRESSION, CLASSIFIER = ("m", "multiline"), ("mc", "multiline-classifier")


def way(help: str, **declared: Any) -> Any:
    choices = (*REGRESSION, *CLASSIFIER)
    return option("", help, section="Groups of lines", choices=choices, **declared)


@config
class MultilineConfig(GdConfig):
    """As ``GdConfig``; one of ``csoaa_ldf`` and ``wap_ldf`` is one of REGRESSION or CLASSIFIER, the other empty."""

    csoaa_ldf: str = way(
        "Lines 'class:cost | features', a blank line after each group of them: learn what each costs (m) or which "
        "one costs least (mc). A group's first line 'shared | features' adds to all of them."
    )
    wap_ldf: str = way("The same from differences of two lines.")
    ldf_override: str = way("The kind to use in place of the one that these two name.", in_vw_models="forgotten")
    csoaa_rank: bool = option(
        False, "Predict all classes of a group, the cheapest first, with their scores.", section="Groups of lines"
    )
    probabilities: bool = again(PerClassConfig, "probabilities", False)

    held_out_in_vw: ClassVar[bool] = False
    learner: ClassVar[str] = "ldf"
    supports_trees: ClassVar[bool] = False
    selected_by: ClassVar[tuple[str, ...]] = ("csoaa_ldf", "wap_ldf")
    supports_levels: ClassVar[bool] = False
    exclusivity: ClassVar[str] = "an example is a group of lines, whose costs are its label"
    multiline: ClassVar[bool] = True
    has_sensitivity: ClassVar[bool] = False
    label_words: ClassVar[bool] = True
    kind: ClassVar[str] = "ldf"
    count: ClassVar[int] = 1  # of sets of weights

    def __post_init__(self) -> None:
        GdConfig.__post_init__(self)
        if bool(self.csoaa_ldf) == bool(self.wap_ldf):
            raise UsageError("--csoaa_ldf and --wap_ldf do not go together")
        if self.binary:
            raise UsageError("--binary does not go with groups of lines, which are answered with one of them: drop it")

    def to_show(self, what: str) -> Mapping[str, object]:
        return {"probabilities": what == "probabilities", "csoaa_rank": what != "probabilities"}

    @property
    def classifier(self) -> bool:
        return (self.ldf_override or self.csoaa_ldf or self.wap_ldf) in CLASSIFIER

    @property
    def shows_probabilities(self) -> bool:
        return self.probabilities and not self.csoaa_rank


@config
class EnsembleConfig(PerClassConfig):
    """As ``PerClassConfig``; ``base`` is the configuration of learners that have a table each."""

    base: Any = None
    pairs: int = 0  # of dot products, those of the base

    @classmethod
    def restore(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Self:
        check_name(stored["base_learner"])
        kind = config_class(stored["base_learner"])
        if not (kind.supports_trees or kind.supports_oaa):
            raise ValueError("inner learners that are not of two classes")
        own = {field.name for field in fields(cls)} - {field.name for field in fields(GdConfig)}
        base = kind.restore(stored["base"], {name: value for name, value in changes.items() if name not in own})
        kept = {name: value for name, value in stored.items() if name not in ("base", "base_learner")}
        changed = {name: value for name, value in changes.items() if name in own}
        return replace(built(cls, kept, base=base), **changed)


@config
class ClassLearnersConfig(EnsembleConfig):
    """``base`` is the configuration of every class's learner."""

    supports_audit: ClassVar[bool] = False
    learner: ClassVar[str] = "class_learners"
    selected_by: ClassVar[tuple[str, ...]] = ()  # but by --oaa and its like beside an option that asks for the base
    is_reduction: ClassVar[bool] = False  # ``base`` is the options of a learner of numbers that is no such base
    in_vw: ClassVar[bool] = False
    written_as_text: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.oaa_subsample:
            raise UsageError(f"--oaa_subsample does not go with --{self.base.option}: every class learns by itself")
        if self.base.levels:
            raise UsageError(f"--levels does not go with --{self.option}: answers are classes")
        if self.base.negatives:
            raise UsageError(f"--negatives does not go with --{self.option}: every example has its class")
        if not (self.base.supports_trees or self.base.supports_oaa):
            why = "classes are over learners of numbers"
            raise UsageError(f"--{self.kind} does not go with --{self.base.option}: {why}")
        if self.base.supports_oaa and self.set_loss not in ("", "hamming"):
            why = "a label is learned from all examples at once, not after the answers of others"
            raise UsageError(f"--set-loss {self.set_loss} does not go with --{self.base.option}: {why}")
        if self.base.supports_oaa and (self.kind == "csoaa" or getattr(self.base, "hard_margin", False)):
            option = f"--{self.kind}" if self.kind == "csoaa" else "--hard_margin"
            way = "--oaa does" if self.kind == "csoaa" else "two classes have it"
            raise UsageError(f"{option} does not go with --{self.base.option} for classes: {way}")

    @property
    def fixed_passes(self) -> int:  # type: ignore[override]
        return self.base.fixed_passes

    @property
    def needs_full_passes(self) -> bool:  # type: ignore[override]
        return self.base.needs_full_passes

    @property
    def can_freeze(self) -> bool:  # type: ignore[override]
        return self.base.can_freeze

    @property
    def option(self) -> str:
        return "multiclass" if getattr(self.base, "joint", False) else self.kind

    @property
    def vw_difference(self) -> str:
        if self.base.learner == "bfgs":  # whose minimum is the same whether classes are fitted by themselves or at once
            return ""
        return f"--{self.kind} over --{self.base.option} gives other numbers than vw's: every class has its own table"

    @property
    def unused_options(self) -> tuple[str, tuple[str, ...]]:
        return getattr(self.base, "unused_options", ("", ()))


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
    shows_probabilities_of_classes: ClassVar[Mapping[str, object]] = {}
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

    def to_show(self, what: str) -> Mapping[str, object]:
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
