"""The base class of learner configurations. Its class variables declare the properties of a learner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

from vwlite.config_check import built
from vwlite.errors import UsageError
from vwlite.options import Config, option, options_of


class LearnerConfig(Config):
    """The options of a learner. Class variables are properties of the learner, the same for all of its models."""

    learner: ClassVar[str]  # its name in model files, a key of ``vwlite.learners.CLASSES``
    selected_by: ClassVar[tuple[str, ...]] = ()  # options, each of which selects this learner
    selected_together: ClassVar[tuple[str, ...]] = ()  # options that select it if all of them are given
    is_base: ClassVar[bool] = False  # an online learner of one weight per feature, over which reductions may be put
    supports_trees: ClassVar[bool] = False  # may be the binary learner of the nodes of --filter_tree
    supports_oaa: ClassVar[bool] = False  # may be the binary learner of each class of --oaa, though not of trees
    is_reduction: ClassVar[bool] = False  # it reduces its problem to those of a base learner
    includes: ClassVar[tuple[str, ...]] = ()  # learners whose options, also selecting ones, it accepts
    needs_pairs: ClassVar[tuple[str, ...]] = ()  # options that do nothing without --dotproduct
    exclusivity: ClassVar[str] = ""  # the reason why it cannot be combined with another learner
    default_loss: ClassVar[str] = "squared"
    written_as_text: ClassVar[bool] = True  # vw's text format of models can represent it
    in_vw: ClassVar[bool] = False  # vw has it: ``vwlite vw`` omits options that vw's models omit
    continues: ClassVar[tuple[str, ...]] = ()  # learners whose models it can continue: they have the same table
    own_loss: ClassVar[bool] = False  # a model keeps its loss whatever --loss_function is given
    fixed_passes: ClassVar[int] = 0  # passes over the data, not counted by --passes; 0: as --passes says
    needs_full_passes: ClassVar[bool] = False  # every pass must read the same data; a stopped run starts over
    multiline: ClassVar[bool] = False  # an example is a group of lines
    bare_lines: ClassVar[bool] = False  # of which some may have no features
    held_out_in_vw: ClassVar[bool] = True  # vw holds examples out where there are several passes
    supports_audit: ClassVar[bool] = False  # the learner is ``Audited``, and --audit shows its weights
    has_sensitivity: ClassVar[bool] = False  # the change of a prediction by an update can be predicted
    supports_levels: ClassVar[bool] = False  # predictions are numbers that --levels can round
    can_freeze: ClassVar[bool] = False  # some of its weights can be frozen while others learn
    narrow: ClassVar[bool] = False  # a slot that learns is two numbers, the weight and the sum of squared gradients
    only_answers: ClassVar[bool] = False  # it has no scores besides predictions
    penalties: ClassVar[tuple[str, ...]] = ("l1", "l2")  # regularisation options that a run reports
    has_kernel: ClassVar[bool] = False  # it uses a kernel function
    has_support_vectors: ClassVar[bool] = False  # predictions are sums over support vectors, which --support writes
    label_words: ClassVar[bool | None] = None  # labels are lists of words; None: numbers
    unused_options: ClassVar[tuple[str, tuple[str, ...]]] = ("", ())  # an option and those it disables

    # Options that only some learners have: the values for all others.
    base: ClassVar[Any] = None  # the base learner of a reduction
    binary: ClassVar[bool] = False
    decays: ClassVar[Mapping[str, float]] = {}
    levels: ClassVar[tuple[float, ...]] = ()
    lrq: ClassVar[tuple[str, ...]] = ()
    named_outputs: ClassVar[tuple[str, ...]] = ()
    no_dot_linear: ClassVar[bool] = False
    pairs: ClassVar[int] = 0  # of dot products
    own_rates: ClassVar[bool] = False  # their vectors and all weights have learning rates of their own
    probabilities: ClassVar[bool] = False
    random_seed: ClassVar[int | None] = None  # that of the input
    rank: ClassVar[int] = 1

    @classmethod
    def selected_with(cls, typed: Collection[str]) -> bool:
        """Whether ``typed``, names of options, has all of ``selected_together``."""
        return bool(cls.selected_together) and {*cls.selected_together} <= {*typed}

    @classmethod
    def restore(cls, stored: Mapping[str, Any], changes: Mapping[str, Any]) -> Self:
        """The configuration of a model, ``stored`` in its header, but for ``changes``.

        Raises UsageError for an option that the learner does not have, and ValueError where the header has other
        fields than the configuration.
        """
        check_options(cls, changes)
        return changed_config(built(cls, stored), changes)

    @property
    def drops_pairs(self) -> bool:
        """Whether namespaces of dot products have no linear terms."""
        return bool(self.no_dot_linear if self.base is None else self.base.drops_pairs)

    negatives: ClassVar[int] = 0  # a field of learners that draw items without ratings
    negatives_of: ClassVar[str] = ""
    label_units: ClassVar[str] = "raw"  # a field of learners that can learn labels in units of their spread

    @property
    def takes_any_unit(self) -> bool:
        """Whether the unit of the labels does not matter."""
        return self.label_units == "spread"

    @property
    def option(self) -> str:
        """The option that selected this learner."""
        selected_by = (*self.selected_by, *self.selected_together)
        return next((name for name in selected_by if getattr(self, name, True)), self.learner)

    @property
    def vw_difference(self) -> str:
        """Why ``vwlite vw`` refuses the options: results would differ from vw's. Empty if they are accepted."""
        return ""

    @property
    def vw_advice(self) -> str:
        """A note of ``vwlite vw`` on what ``vwlite train`` has in place of the learner. Empty for most."""
        return ""

    @property
    def only_in_vw(self) -> str:
        """Why only ``vwlite vw`` takes the options; empty if all commands do."""
        return ""

    @property
    def shows_probabilities_of_classes(self) -> Mapping[str, object]:
        """The changes of options that make a model predict class probabilities; empty if it has none."""
        return {}

    def to_answer(self, how: str) -> Mapping[str, object]:
        """The changes of options that make a model predict the ``mean``, ``median`` or ``class``. Raises UsageError."""
        raise UsageError(f"--predict {how} is for models of --dotproduct and --multiclass, not of --{self.option}")

    def to_show(self, what: str) -> Mapping[str, object]:
        """The changes of options that make a model output ``probabilities``, ``scores`` or ``raw`` predictions.

        With ``as_raw`` among them, predictions are written in the format of raw ones. Raises UsageError for output
        that the model does not have.
        """
        raise UsageError(f"--{what} does not go with a model of --{self.option}")

    def check_text_form(self) -> None:
        """Raises UsageError if vw's text format of models cannot represent this learner."""
        if not self.written_as_text:
            raise UsageError(f"models of --{self.option} are not written as vw's text: see 'vwlite inspect'")


def changed_config(config: Any, changes: Mapping[str, Any]) -> Any:
    """The configuration but for ``changes``. Raises UsageError for one it does not have."""
    check_options(type(config), changes)
    return replace(config, **changes) if changes else config


def check_options(kind: type, names: Iterable[str]) -> None:
    """Raises UsageError for a name that is no field of a configuration of this kind."""
    known = {field.name for field in fields(kind)}
    for name in names:
        if name not in known:
            raise UsageError(f"--{name} is no option of the model's learner, {kind.learner}")


ANSWERS = ("class", "median", "mean")  # of models that predict a distribution over numbers


def shown_kind(asked: Mapping[str, Any]) -> str:
    """Which of ``probabilities``, ``scores`` and ``raw`` is requested, "" for none. Raises UsageError for several."""
    first, *more = [name for name in ("probabilities", "scores", "raw") if asked.get(name)] or [""]
    if more:
        raise UsageError(f"--{first} and --{more[0]} do not go together: each takes the place of the answers")
    return first


CLASS_SCORES_OFF = {"probabilities": False, "scores": False}


def show_number(config: Any, what: str) -> Mapping[str, object]:
    """``to_show`` for learners that predict one number."""
    if what == "scores":
        raise UsageError("--scores is for models of classes: --raw shows the sum that the prediction is made of")
    if what == "probabilities":
        check_loss(config.loss.name, "logistic", "--raw shows the sums")
        if config.levels:
            raise UsageError("--probabilities does not go with a model of --levels: --raw shows the numbers")
    changes: dict[str, object] = {"link": "logistic" if what == "probabilities" else "identity"}
    if config.levels:
        changes["levels"] = ()
    return {**changes, "binary": False} if config.binary else changes


def show_classes(what: str, loss: str, needed: str) -> Mapping[str, object]:
    """``to_show`` for learners with a score per class; with the loss ``needed`` these are probabilities."""
    if what == "probabilities":
        check_loss(loss, needed, "--scores shows every class's score")
    if what == "raw":
        return {**CLASS_SCORES_OFF, "as_raw": True}
    return {**CLASS_SCORES_OFF, what: True}


def no_scores(what: str) -> UsageError:
    return UsageError(f"--{what}: a tree of classes has only its answers, neither scores nor probabilities")


def check_loss(loss: str, needed: str, instead: str) -> None:
    if loss != needed:
        raise UsageError(f"--probabilities needs a model of --loss_function {needed}, not {loss}: {instead}")


WHY_NOT = {  # reasons why options of gradient descent do not apply to other updates
    **dict.fromkeys(("sgd", "adaptive", "normalized", "invariant", "initial_t", "power_t"), "it has rates of its own"),
    **dict.fromkeys(("l1", "l2", "sparse_l2"), "it has no such penalty"),
    **dict.fromkeys(("min_prediction", "max_prediction", "binary"), "it answers with classes"),
    **dict.fromkeys(("initial_weight", "constant"), "it has start values of its own"),
    "ftrl": "it has an update of its own",
    "oaa_subsample": "every example is learned by all classes",
    "cs_absolute_loss": "its labels have no costs; --csoaa takes it",
}


def refuse(config: Any, names: Iterable[str], beside: str, instead: str) -> None:
    """Raises UsageError for the first of these options that is set; ``instead`` names a learner that supports it."""
    for name in names:
        if getattr(config, name) != options_of(type(config))[name].default:
            way = "" if name in ("binary", "cs_absolute_loss") else f"; {instead}"
            raise UsageError(f"--{name} does not go with {beside}: {WHY_NOT[name]}{way}")


def random_seed() -> Any:
    return option(
        0,
        "Seed of start values, of --shuffle, --shuffle-first, --dual, --ksvm, --oaa_subsample, --active and --bag.",
        section="Passes",
        spelled=("--random_seed", "--seed"),
        settled=True,
    )


def levels() -> Any:
    return option(
        (), "Labels are these numbers, and so are predictions: the nearest one.", section="Update",
        metavar="A..B|A,B,...", read_as="levels", settled=True,
    )


def check_levels(config: Any) -> None:
    """Raises UsageError for invalid levels, and for options that exclude them."""
    values = config.levels
    if not values:
        return
    if not config.supports_levels:
        raise UsageError(f"--levels does not go with --{config.option}: its predictions are no numbers near a level")
    if len(values) < 2 or not all(low < high for low, high in pairwise(values)):
        levels = ",".join(f"{value:g}" for value in values)
        raise UsageError(f"--levels takes two numbers or more, ascending and each once, not {levels}")
    if config.binary:
        raise UsageError("--levels and --binary do not go together: the answer is one or the other")
    if config.loss.loss.two_classes and not config.loss.soft:
        raise UsageError(f"--levels goes with losses of numbers, not --loss_function {config.loss.name} of two classes")
