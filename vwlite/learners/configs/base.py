"""What the options of every learner tell of it, so that nobody has to ask for a learner by its name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Any, ClassVar

from vwlite.errors import UsageError
from vwlite.options import Config, option, options_of


class LearnerConfig(Config):
    """A learner's options; what is told here holds for all models of the learner."""

    learner: ClassVar[str]  # its name in models, see ``vwlite.learners.CLASSES``
    asked_by: ClassVar[tuple[str, ...]] = ()  # options each of which asks for this learner
    asked_together: ClassVar[tuple[str, ...]] = ()  # options that ask for it when all of them are there
    is_base: ClassVar[bool] = False  # it learns one weight a feature, example by example: others may be put over it
    plays_in_trees: ClassVar[bool] = False  # --filter_tree may have it at its nodes: it tells two classes apart
    one_for_each_class: ClassVar[bool] = False  # --oaa may have one for every class, though it plays in no trees
    goes_over_bases: ClassVar[bool] = False  # it says what such a learner learns
    includes: ClassVar[tuple[str, ...]] = ()  # learners whose options it has, with what they ask for
    needs_pairs: ClassVar[tuple[str, ...]] = ()  # options that do nothing without --dotproduct
    alone: ClassVar[str] = ""  # why it goes with no other learner
    default_loss: ClassVar[str] = "squared"
    written_as_text: ClassVar[bool] = True  # vw's text of a model has a place for it
    in_vw: ClassVar[bool] = False  # vw has this learner, so ``vwlite vw`` forgets the options that vw's models forget
    continues: ClassVar[tuple[str, ...]] = ()  # learners of whose models it makes its own: they have the same table
    own_loss: ClassVar[bool] = False  # one that a model keeps whatever --loss_function is typed
    reads: ClassVar[int] = 0  # passes over the data that it makes, --passes being others; 0: as many as are asked for
    whole_passes: ClassVar[bool] = False  # it needs the same examples in every pass, and a stopped run begins anew
    multiline: ClassVar[bool] = False  # an example is a group of lines
    has_sensitivity: ClassVar[bool] = False  # how far an update would move the prediction is known without making it
    takes_levels: ClassVar[bool] = False  # predictions are numbers, which --levels can replace by the nearest one
    can_freeze: ClassVar[bool] = False  # parts of it may stand while the rest learns
    only_answers: ClassVar[bool] = False  # there are no scores beside a prediction
    shrinks: ClassVar[tuple[str, ...]] = ("l1", "l2")  # options of regularisation that a run tells of
    has_kernel: ClassVar[bool] = False  # examples are compared by a kernel, whose options may be of another one
    has_support: ClassVar[bool] = False  # its predictions are sums over examples, which --support writes
    label_words: ClassVar[bool | None] = None  # whether labels are lists of words; None: they are numbers
    idle: ClassVar[tuple[str, tuple[str, ...]]] = ("", ())  # an option, and others that do nothing beside it

    # Options of some learners, as they are for all others.
    base: ClassVar[Any] = None  # what it is put over
    binary: ClassVar[bool] = False
    decays: ClassVar[Mapping[str, float]] = {}
    levels: ClassVar[tuple[float, ...]] = ()
    lrq: ClassVar[tuple[str, ...]] = ()
    named_outputs: ClassVar[tuple[str, ...]] = ()
    pairs: ClassVar[int] = 0  # of dot products
    probabilities: ClassVar[bool] = False
    random_seed: ClassVar[int | None] = None  # that of the input
    rank: ClassVar[int] = 1

    @classmethod
    def asked_with(cls, typed: Collection[str]) -> bool:
        """Whether the names of options that were typed have all that ask for it together."""
        return bool(cls.asked_together) and {*cls.asked_together} <= {*typed}

    label_units: ClassVar[str] = "raw"  # a field of learners that can learn labels in units of their spread

    @property
    def option(self) -> str:
        """The option that asked for this learner."""
        asked_by = (*self.asked_by, *self.asked_together)
        return next((name for name in asked_by if getattr(self, name, True)), self.learner)

    @property
    def differs_from_vw(self) -> str:
        """Why ``vwlite vw`` refuses these options, which vw has: they give other numbers. Empty where they do not."""
        return ""

    @property
    def shows_probabilities_of_classes(self) -> dict[str, Any]:
        """The options with which a model's predictions are the probabilities of its classes; empty: it has none."""
        return {}

    def to_answer(self, how: str) -> dict[str, Any]:
        """The options with which a model answers with the ``mean``, ``median`` or ``class``. Raises UsageError."""
        raise UsageError(f"--predict {how} is for models of --dotproduct and --multiclass, not of --{self.option}")

    def to_show(self, what: str) -> dict[str, Any]:
        """The options with which a model shows its ``probabilities``, its ``scores`` or what is ``raw``.

        ``as_raw`` among them: predictions are written as raw ones are. Raises UsageError for what it does not have.
        """
        raise UsageError(f"--{what} does not go with a model of --{self.option}")

    def check_text_form(self) -> None:
        """Raises UsageError where vw's text of a model has no place for this learner."""
        if not self.written_as_text:
            raise UsageError(f"models of --{self.option} are not written as vw's text: see 'vwlite inspect'")


ANSWERS = ("class", "median", "mean")  # of a model with a probability for each of several numbers


def shown_kind(asked: Mapping[str, Any]) -> str:
    """Which of ``probabilities``, ``scores`` and ``raw`` is asked for, "" for none. Raises UsageError for two."""
    first, *more = [name for name in ("probabilities", "scores", "raw") if asked.get(name)] or [""]
    if more:
        raise UsageError(f"--{first} and --{more[0]} do not go together: each takes the place of the answers")
    return first


CLASS_SCORES_OFF = {"probabilities": False, "scores": False}


def show_number(config: Any, what: str) -> dict[str, Any]:
    """``to_show`` of a learner whose prediction is one number."""
    if what == "scores":
        raise UsageError("--scores is for models of classes: --raw shows the sum that the prediction is made of")
    if what == "probabilities":
        check_loss(config.loss.name, "logistic", "--raw shows the sums")
        if config.levels:
            raise UsageError("--probabilities does not go with a model of --levels: --raw shows the numbers")
    changes: dict[str, Any] = {"link": "logistic" if what == "probabilities" else "identity"}
    if config.levels:
        changes["levels"] = ()
    return {**changes, "binary": False} if config.binary else changes


def show_classes(what: str, loss: str, needed: str) -> dict[str, Any]:
    """``to_show`` of a learner with a score for each class, which are probabilities with the loss ``needed``."""
    if what == "probabilities":
        check_loss(loss, needed, "--scores shows every class's score")
    if what == "raw":
        return {**CLASS_SCORES_OFF, "as_raw": True}
    return {**CLASS_SCORES_OFF, what: True}


def no_scores(what: str) -> UsageError:
    return UsageError(f"--{what}: a tree of classes has but its answers, neither scores nor probabilities")


def check_loss(loss: str, needed: str, instead: str) -> None:
    if loss != needed:
        raise UsageError(f"--probabilities needs a model of --loss_function {needed}, not {loss}: {instead}")


WHY_NOT = {  # what options of gradient descent say that another update leaves no room for
    **dict.fromkeys(("sgd", "adaptive", "normalized", "invariant", "initial_t", "power_t"), "it has rates of its own"),
    **dict.fromkeys(("l1", "l2", "sparse_l2"), "it has no such penalty"),
    **dict.fromkeys(("min_prediction", "max_prediction", "binary"), "it answers with classes"),
    **dict.fromkeys(("initial_weight", "constant"), "it has start values of its own"),
    "ftrl": "it has an update of its own",
    "oaa_subsample": "every example is learned by all classes",
    "cs_absolute_loss": "its labels have no costs; --csoaa takes it",
}


def refuse(config: Any, names: Iterable[str], beside: str, instead: str) -> None:
    """Raises UsageError for the first of these options that is set; ``instead`` says which learner takes it."""
    for name in names:
        if getattr(config, name) != options_of(type(config))[name].default:
            way = "" if name in ("binary", "cs_absolute_loss") else f"; {instead}"
            raise UsageError(f"--{name} does not go with {beside}: {WHY_NOT[name]}{way}")


def random_seed() -> Any:
    return option(
        0,
        "Seed of start values, of --shuffle, --shuffle-first, --dual, --ksvm, --oaa_subsample and --active.",
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
    """Raises UsageError for levels that are none, and beside options of which the answer is another."""
    values = config.levels
    if not values:
        return
    if not config.takes_levels:
        raise UsageError(f"--levels does not go with --{config.option}: its predictions are no numbers near a level")
    if len(values) < 2 or not all(low < high for low, high in pairwise(values)):
        shown = ",".join(f"{value:g}" for value in values)
        raise UsageError(f"--levels takes two numbers or more, ascending and each once, not {shown}")
    if config.binary:
        raise UsageError("--levels and --binary do not go together: the answer is one or the other")
    if config.loss.loss.two_classes and not config.loss.soft:
        raise UsageError(f"--levels goes with losses of numbers, not --loss_function {config.loss.name} of two classes")
