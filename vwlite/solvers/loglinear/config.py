"""Options of ``vwlite l1``, validated once."""

from __future__ import annotations

from collections.abc import Collection

from vwlite.errors import UsageError
from vwlite.evaluation.config import PhraseConfig
from vwlite.options import Config, again, config, option

MODELS = ("binary", "multinomial", "crf", "tree")
PENALTIES = ("naive", "clipping", "cumulative", "none")  # in the order of solvers/l1_penalties.pxd
RATES = ("harmonic", "exponential")
SOLVERS = ("sgd", "owlqn", "fista")
PASSES = {"sgd": 30, "owlqn": 1000, "fista": 1000, "perceptron": 10, "mira": 10, "margin": 30}
TOLERANCES = {"owlqn": 1e-7, "fista": 1e-3}
STEEPEST = {"binary": 0.05, "multinomial": 0.1, "crf": 0.2, "tree": 0.2}  # learning rates where none is given
BITS = {"binary": 18, "multinomial": 32, "crf": 32, "tree": 32}
LOSSES = ("log", "perceptron", "mira", "margin")
MEAN_ONLY = ("perceptron", "mira")  # which have no penalty, and always the mean of the weights after every step
MEASURES = ("f1", "accuracy", "log_loss")
COSTS = ("hamming", "zero-one")  # in the order of solvers/worst_labels.pxd
STEPS = ("solver", "l1", "penalty", "rate", "learning_rate", "decay", "average", "average_after", "group")
IDLE = {  # fields that mean nothing to a method
    **dict.fromkeys(MEAN_ONLY, STEPS),
    "margin --l2": STEPS,
    "margin": ("solver", "gap", "group"),
}


def check_idle(config: L1Config, given: Collection[str]) -> None:
    """Raises UsageError for the first of the fields ``given`` that means nothing to the loss."""
    for name in IDLE.get(config.method, ()):
        if name in given:
            without = " without --l2" if name == "gap" else ""
            raise UsageError(f"{config.OPTIONS[name].display_name} does nothing with --loss {config.method}{without}")

INSTEAD_OF_L1 = "--trace is a penalty of its own: drop --l1"


def by_name(defaults: dict[str, float]) -> str:
    """Defaults for --help: the first as it is, the others with their names."""
    first, *others = (f"{value:g}" for value in defaults.values())
    return ", ".join([first, *(f"{name} {text}" for name, text in zip([*defaults][1:], others, strict=True))])


@config
class HeldOutConfig(Config):
    """What is held out, a share, a period or a file, and what becomes of its figures."""

    holdout: str | None = option(
        None, "Hold out a share (0.1), every Nth example or sequence, or a FILE.", read_as="held", shown="nothing"
    )
    measure: str | None = option(
        None, "What a better pass is.", spelled=("--holdout-metric",), key="holdout_metric", choices=MEASURES,
        shown="f1 of phrases, accuracy of other names, else log_loss", needs=("holdout",),
    )
    scheme: str | None = again(PhraseConfig, "scheme", None, shown="guessed", needs=("holdout",))
    early_terminate: int = option(8, "Stop after N passes without gain.", low=1, needs=("holdout",))


@config
class L1Config(Config):
    """What is learned, and how. ``learning_rate`` None depends on the model, ``passes`` None on the solver."""

    model: str = option(
        "binary",
        "Labels -1/1 or 0/1; names; names along a sequence (an empty line ends one); or on a tree, tagged 'id^parent.",
        key="kind_of_model", choices=MODELS, settled=True,
    )
    loss: str = option(
        "log", "Of all label sequences (log) or of the best one, without probabilities; sequences only.",
        choices=LOSSES, settled=True,
    )
    order: int = option(
        1, "Labels that transitions look back at: one, or two that were seen together in training.", low=1, high=2,
        settled=True,
    )
    cost: str | None = option(
        None, "By how much a wrong sequence is to score less: 1 for each wrong token, or 1.", choices=COSTS,
        needs=("loss=mira", "loss=margin"), shown="zero-one, margin hamming", settled=True,
    )
    aggressiveness: float = option(1.0, "The largest step of MIRA.", above=0, needs=("loss=mira",))
    l2: float = option(
        0.0, "The penalty X/2 |w|^2, in place of --l1; with a typed --l1 both.", low=0,
        needs=("loss=log", "loss=margin"), shown="none", settled=True,
    )
    gap: float | None = option(
        None, "Stop where the objective is this near to the best there is, for each example; needs --l2.", above=0,
        needs=("loss=margin",), shown="after all passes",
    )
    l1: float = option(
        1.0, "C of the objective: sum of log p(y|x) - C |w|.", low=0,
        needs=("penalty=naive", "penalty=clipping", "penalty=cumulative"), shown="1, with --l2 0",
    )
    solver: str = option(
        "sgd", "Stochastic gradient steps; or over all data quasi-Newton (OWL-QN) or proximal ones (FISTA).",
        choices=SOLVERS, shown="sgd, with --l2 owlqn",
    )
    group: bool = option(
        False, "C times the lengths of rows: all weights of a feature vanish together.", needs=("penalty=cumulative",)
    )
    trace: float = option(
        0.0, "C of the singular values of the weights, features by labels, in place of --l1: few directions.", low=0,
        shown="off", needs=("solver=fista",),
    )
    penalty: str = option(
        "cumulative",
        "On all weights at each step; on the example's, what is due, never across zero; or what is due in all; none.",
        choices=PENALTIES, needs=("solver=sgd",),
    )
    rate: str = option(
        "exponential", "Step sizes after t passes: X/(1+t) or X*A^t.", choices=RATES, needs=("solver=sgd",)
    )
    learning_rate: float | None = option(
        None, "X of the rate.", spelled=("-l", "--learning_rate"), above=0, shown=by_name(STEEPEST),
        needs=("solver=sgd",),
    )
    decay: float = option(
        0.85, "A of the exponential rate.", spelled=("--decay_learning_rate",), key="decay", above=0, below=1,
        needs=("rate=exponential",),
    )
    warm_passes: int = option(
        0, "Stochastic passes to begin with: sequences take two fifths of the time.", low=0, spelled=("--warm_passes",),
        needs=("solver=owlqn",),
    )
    passes: int | None = option(None, "Passes or iterations at most.", low=1, shown=by_name(PASSES))
    tolerance: float | None = option(
        None, "owlqn stops when an iteration gains less, fista when no more is to gain.", above=0, below=1,
        shown="1e-7, fista 1e-3, relative", needs=("solver=owlqn", "solver=fista"),
    )
    dense_pairs: bool = option(
        False, "Pair every feature with every label, not only those seen together.", spelled=("--dense-pairs",),
        settled=True,
    )
    edge: tuple[str, ...] = option(
        (), "Namespaces (letters) that transitions are conditioned on.", metavar="ABC", settled=True, letters=True,
    )
    shuffle: bool = option(
        True, "Random order in every pass.", spelled=("--shuffle/--no-shuffle",), shown="yes", needs=("solver=sgd",)
    )
    average: bool = option(
        False, "Predict with the mean of the weights after every step, not with the last ones.", needs=("penalty=none",)
    )
    average_after: int | None = option(
        None, "Steps before the mean begins.", unit="steps", low=0, shown="half of those that passes may have",
        needs=("average",),
    )
    seed: int = option(0, "Seed of these orders.", spelled=("--random_seed", "--seed"), needs=("solver=sgd",))

    def __post_init__(self) -> None:
        if self.loss != "log" and not self.sequences:
            raise UsageError(f"--loss {self.loss} is of label sequences: it needs --model crf or tree")
        check_idle(self, [name for name, one in self.OPTIONS.items() if getattr(self, name) != one.default])
        if self.edge and not self.sequences:
            raise UsageError("--edge conditions transitions between labels: it needs --model crf or tree")
        if self.order == 2 and self.model != "crf":
            raise UsageError("--order 2 is of labels along a sequence: it needs --model crf")
        if self.order == 2 and self.dual:
            raise UsageError("--order 2 does not go with --loss margin --l2: drop one, or take --l1 in place of --l2")
        other = self.l1 or self.group or self.penalty != "cumulative"
        if self.loss == "log" and self.l2 and self.solver == "sgd" and other:
            why = "stochastic steps have one penalty"
            raise UsageError(f"--l2 and --l1 together need --solver owlqn or fista: {why}")
        if self.dense_pairs and self.model == "binary":
            raise UsageError("--dense-pairs pairs features with labels: it needs --model multinomial, crf or tree")
        if self.group:
            self.check_group()
        if self.trace:
            self.check_trace()
        if self.solver == "fista" and not self.strength:
            raise UsageError("--solver fista stops by what the penalty leaves to gain: it needs --l1 above 0")
        if self.average and (self.penalty != "none" or self.solver != "sgd"):
            raise UsageError("--average needs --penalty none: a mean of sparse weights is not sparse")
        if self.average_after is not None and not self.average:
            raise UsageError("--average_after needs --average")

    def check_group(self) -> None:
        if self.model == "binary":
            raise UsageError(
                "--group lets the weights of a feature with all labels vanish together: it needs --model multinomial, "
                "crf or tree; with two classes a feature has one weight, and --l1 is there"
            )
        if self.solver == "owlqn":
            raise UsageError("--group needs --solver fista or sgd: OWL-QN takes weights one by one")
        if self.penalty != "cumulative":
            raise UsageError("--group needs --penalty cumulative")

    def check_trace(self) -> None:
        if self.model != "multinomial":
            raise UsageError("--trace is of the weights of several labels: it needs --model multinomial")
        if not self.dense_pairs:
            raise UsageError("--trace needs --dense-pairs: weights for every feature with every label")
        if self.solver != "fista":
            raise UsageError("--trace needs --solver fista")
        if self.group:
            raise UsageError("--trace and --group are two penalties: drop one")
        if self.l1 != self.OPTIONS["l1"].default:
            raise UsageError(INSTEAD_OF_L1)

    @property
    def strength(self) -> float:
        """C, where there is a penalty."""
        return self.trace or (0.0 if self.penalty_applied == "none" else self.l1)

    @property
    def dual(self) -> bool:
        """Whether what is solved is the dual of the objective."""
        return self.loss == "margin" and self.l2 > 0

    @property
    def penalty_applied(self) -> str:
        return "none" if self.loss in MEAN_ONLY or self.dual else self.penalty

    @property
    def method(self) -> str:
        """The method that minimises the loss, in the words of the command line."""
        return f"{self.loss} --l2" if self.dual else self.loss

    @property
    def cost_applied(self) -> str:
        return self.cost or ("hamming" if self.loss == "margin" else "zero-one")

    @property
    def averaged(self) -> bool:
        """Whether the model has the mean of the weights after every step."""
        return self.average or self.loss in MEAN_ONLY

    def steps_before_mean(self, steps: int) -> int:
        """The number of ``steps`` steps before the mean begins."""
        if self.loss in MEAN_ONLY:
            return 0
        return steps // 2 if self.average_after is None else self.average_after

    @property
    def initial_learning_rate(self) -> float:
        return STEEPEST[self.model] if self.learning_rate is None else self.learning_rate

    @property
    def most_passes(self) -> int:
        return PASSES.get(self.loss, PASSES[self.solver]) if self.passes is None else self.passes

    @property
    def improvement(self) -> float:
        """The relative improvement at which a batch solver stops."""
        return TOLERANCES[self.solver] if self.tolerance is None else self.tolerance

    @property
    def sequences(self) -> bool:
        """Whether labels depend on each other, along a sequence or on a tree."""
        return self.model in ("crf", "tree")

    @property
    def words(self) -> bool:
        """Whether labels are names."""
        return self.model != "binary"
