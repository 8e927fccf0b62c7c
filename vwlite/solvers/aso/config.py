"""Options of alternating structure optimization: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from vwlite.errors import UsageError
from vwlite.options import USUAL_MEMORY, Config, config, option
from vwlite.storage.output_checks import LEDGER

LOSSES = ("modified_huber", "logistic", "hinge", "squared")  # numbered as in the kernel
OF_SIGNS = ("logistic", "modified_huber")  # losses of tasks with labels -1 and 1


def unit() -> Any:
    return option(
        True, "Scale what is seen of an example to length 1.", section="Update", spelled=("--unit/--no-unit",),
        shown="yes",
    )


def idf() -> Any:
    return option(False, "Multiply values by ln((examples + 1) / (examples with it + 1)).", section="Update")


@config
class SolverConfig(Config):
    """How problems are solved: ``passes`` of steps eta_0 / (1 + 2 lambda eta_0 t) over shuffled rows."""

    loss: str = option(
        "modified_huber", "Loss.", section="Update", spelled=("--loss_function",), key="loss_function", choices=LOSSES
    )
    penalty: float = option(
        1e-4, "L2 regularisation of w.", section="Update", spelled=("--lambda",), key="penalty", low=0
    )
    rate: float = option(
        0.5, "Learning rate.", section="Update", spelled=("-l", "--learning_rate"), key="learning_rate", above=0
    )
    bias_rate: float = 0.1  # factor on the rate of the bias, which is not regularised
    shared_rate: float = 1.0  # factor on the rate of v; 0 fixes v
    passes: int = option(5, "Passes over the data.", low=1)
    seed: int = option(0, "Seed of orders and views.", section="Update", spelled=("--random_seed", "--seed"))
    threads: int = option(
        1, "Threads; the result does not depend on it.", section="Input", low=1, shown="all cores"
    )

    def __post_init__(self) -> None:
        if 2 * self.rate * self.penalty >= 1:
            raise UsageError("-l times twice --lambda must be below 1")
        if not self.bias_rate >= 0:
            raise UsageError(f"bias_rate is a number of 0 or more, not {self.bias_rate:g}")


@config
class TargetConfig(Config):
    """``theta_scale``: length of each group's shared features, None: ``scale_for`` the number of labelled examples;
    ``unit``: are rows scaled to length 1? ``idf``: counted on the labelled text, where there is no Theta.
    """

    solver: SolverConfig = field(default_factory=lambda: SolverConfig(passes=20))
    theta_scale: float | None = option(
        None, "Length of each group's shared features.", spelled=("--theta-scale",),
        shown="7/sqrt(labelled), 0.1 to 1",
    )
    unit: bool = unit()
    idf: bool = idf()


@config
class ThresholdConfig(Config):
    """Options of ``aso train --multilabel``."""

    threshold: str = option(
        "0", "Score above which a label is given: 0, or for each label one that folds choose.", choices=("0", "tuned")
    )


@config
class ContinuedConfig(Config):
    """How ``aso train`` goes on with a model."""

    initial: str | None = option(
        None, "Learn on from this model.", spelled=("-i", "--initial_regressor"), key="initial", reads="model",
        beside=(LEDGER,), shown="",
    )
    new_classes: bool = option(
        False, "Take in labels that the model has no class of.", spelled=("--new-classes",), needs=("initial",)
    )


@config
class SelectionConfig(Config):
    """How ``aso train`` chooses options. ``folds`` None: it does not; ``vary``: texts for ``selection.read_vary``."""

    folds: int | None = option(None, "Choose options by so many folds of cross-validation.", low=2, section="Choice")
    vary: tuple[str, ...] = option(
        (), "Values to choose from, as in 'theta-scale 0.1|0.3|1'; no Theta is always tried.", section="Choice",
        metavar="'OPTION A|B'", needs=("folds",),
    )
    dim: int | None = option(
        None, "Rows of each group of Theta.", spelled=("--theta-dim",), key="dim", low=1, shown="all",
    )


SELECTIONS = ("prior", "confidence")


@config
class CotrainConfig(Config):
    """Options of ``aso cotrain``. ``rounds`` None: until no unlabelled example is left."""

    one_view: bool = option(False, "One classifier of all features: self-training.", spelled=("--one-view",))
    pool: int = option(10_000, "Unlabelled examples to choose from in a round.", low=1)
    step: int = option(1000, "Examples that each classifier labels in a round.", low=1)
    rounds: int | None = option(None, "Rounds.", low=1, shown="until all examples are labelled")
    select: str = option(
        "prior", "The most confident of classes drawn as often as the labels have them, or of any class.",
        choices=SELECTIONS,
    )
    weight: float = option(1.0, "Importance of an example with a proposed label.", above=0)
    holdout: float = option(
        0.0, "Share of the labelled examples that choose the best round.", low=0, below=1,
    )


@config
class TasksConfig(Config):
    """Options of ``aso tasks``. ``penalties``: lambda of single tasks; ``own``: namespaces without a part in Theta."""

    task: str = option("tag", "Namespace whose feature names a line's task, or tag.")
    loss: str = option(
        "squared", "Loss; logistic and modified_huber are for labels -1 and 1.", spelled=("--loss_function",),
        key="loss_function", choices=("squared", *OF_SIGNS),
    )
    dim: int = option(2, "Rows of Theta; 0: every task by itself.", low=0)
    iterations: int = option(20, "Rounds of learning and decomposing.", low=1)
    tolerance: float = option(1e-4, "Stop where a round lowers the objective by a smaller share.", low=0)
    penalty: float = option(0.1, "L2 regularisation of w.", spelled=("--lambda",), key="penalty", above=0)
    constant: bool = option(
        True, "An intercept for each task, which is not regularised.", spelled=("--constant/--noconstant",), shown="yes"
    )
    pooled: bool = option(False, "One model of all tasks.")
    centre: bool = option(False, "A part of w that all tasks have, from the mean of their weights.")
    penalties: tuple[tuple[str, float], ...] = ()
    own: tuple[str, ...] = ()
    memory: float = USUAL_MEMORY


@config
class LearnConfig(Config):
    """Options of ``aso learn``. ``dims``: h of every group, or (group name, h) pairs beside the default."""

    aux: tuple[Any, ...]  # of vwlite.solvers.aso.auxiliary.Aux
    where: tuple[Any, ...] = ()  # of vwlite.solvers.aso.problem_list.Condition
    chosen: frozenset[tuple[str, str]] | None = None  # kind and name of the problems to keep; None: all
    groups: tuple[tuple[str, ...], ...] = ()  # namespaces of each group; empty: one per namespace
    dim: int = 50
    dims: tuple[tuple[str, int], ...] = ()
    most: int = option(1000, "Problems kept of each set.", spelled=("--max-problems",), key="most", low=1)
    least: int = option(2, "Examples that must hold a feature.", spelled=("--min-count",), key="least", low=1)
    iterations: int = option(1, "Rounds of learning and decomposing.", low=1)
    tolerance: float = option(
        0.0, "Stop where an iteration lowers the objective by a smaller share.", low=0, shown="never",
    )
    positive: bool = option(
        True, "Decompose positive weights only.", spelled=("--positive/--no-positive",), shown="yes"
    )
    stop_words: tuple[str, ...] = option(
        (), "Leave out features of these names; @FILE has one in each line.", spelled=("--stop-words",),
        read_as="names", metavar="WORD,WORD",
    )
    view_words: tuple[str, ...] = option(
        (), "Features of one of the two views, by name; @FILE has one in each line.", spelled=("--view-words",),
        read_as="names", metavar="WORD,WORD", shown="a half at random",
    )
    unit: bool = unit()
    idf: bool = idf()
    several: bool = False  # labels of the labelled examples are lists
    memory: float = USUAL_MEMORY  # bytes of weights at most
    solver: SolverConfig = field(default_factory=SolverConfig)
    target: SolverConfig = field(default_factory=lambda: TargetConfig().solver)

    def __post_init__(self) -> None:
        if not self.aux:
            raise UsageError("--aux is needed: freq, mask:NS, top-k:K or another kind of problems")
        if min(self.dim, *(h for _, h in self.dims), 1) < 1:
            raise UsageError("--dim takes numbers of 1 or more")
        if self.view_words and not any(aux.splits for aux in self.aux):
            raise UsageError("--view-words does nothing without --aux freq, or another kind that has two views")
        if self.tolerance and self.iterations == 1:
            raise UsageError("--tolerance does nothing without --iterations 2 or more")


FEATURES = ("freq", "freq-k", "mask", "more")  # kinds whose problems are features


@config
class OnlineConfig(Config):
    """``online``: the first ``warmup`` examples choose problems and features, what follows is learned as it comes."""

    online: bool = option(False, "Hold the first examples in memory only; learn all others as they come.")
    initial: str | None = option(
        None, "Go on with a Theta that keeps its weights.", spelled=("-i", "--initial_theta"), key="initial",
        reads="Theta", beside=(LEDGER,), shown="",
    )
    warmup: int = option(20_000, "Examples that choose problems and features.", low=1, needs=("online",))
    max_features: int = option(
        100_000, "Features at most; of later ones those of --min-count examples count.", spelled=("--max-features",),
        low=1, needs=("online", "initial"),
    )
    keep_weights: bool = option(
        False, "Keep the weights with Theta, so that -i can go on.", spelled=("--keep-weights",),
        needs=("online", "initial"),
    )


def check_kinds(kinds: tuple[Any, ...]) -> None:
    """Raises UsageError for problems that cannot be made of examples one by one."""
    for aux in kinds:
        if aux.kind not in FEATURES or aux.joint:
            raise UsageError(f"--online has problems that predict features, {', '.join(FEATURES)}, not {aux.text}")


DECODINGS = ("none", "bio", "viterbi")
OF_VITERBI = ("label_features", "label_noise", "beam", "recall")


@config
class SequenceConfig(Config):
    """How labels of sequences are chosen. ``decode`` None: ``bio`` where labels are like that, else ``none``."""

    sequences: bool = option(False, "An empty line ends a sequence of examples.", section="Sequences")
    decode: str | None = option(
        None, "How labels of a sequence are chosen, see below.", section="Sequences", choices=DECODINGS,
        shown="bio where labels are O, B-X, I-X; else none",
    )
    label_features: str | None = option(
        None, "Features of the labels before, for viterbi: y1, y2, y1*NS, y-prev*NS.", section="Sequences",
        spelled=("--label-features",), metavar="NAME,NAME", shown="y1",
    )
    beam: int | None = option(
        None, "Pairs of labels that the search of viterbi with y2 goes on from at each token.", section="Sequences",
        low=1, shown="all",
    )
    recall: int | None = option(
        None, "Sequences back to which y-prev looks for the label of the same word.", section="Sequences",
        spelled=("--memory",), key="recall", low=1, shown="1000",
    )
    label_noise: float | None = option(
        None, "Share of the labels before that are replaced by guesses in training.", section="Sequences",
        spelled=("--label-noise",), low=0, high=1, shown="0.5",
    )

    def __post_init__(self) -> None:
        for name in ("decode", *OF_VITERBI):
            if getattr(self, name) is not None and not self.sequences:
                raise UsageError(f"{self.OPTIONS[name].display_name} does nothing without --sequences")
        for name in OF_VITERBI:
            if getattr(self, name) is not None and self.decode != "viterbi":
                raise UsageError(f"{self.OPTIONS[name].display_name} does nothing without --decode viterbi")
        if self.beam is not None and "y2" not in (self.label_features or "").split(","):
            raise UsageError("--beam does nothing without --label-features y2: the search is fast without it")
        if self.recall is not None and "y-prev*" not in (self.label_features or ""):
            raise UsageError("--memory does nothing without --label-features y-prev*NS, of the words NS")
