"""Options of alternating structure optimization: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from vwlite.errors import UsageError
from vwlite.memory_limit import USUAL
from vwlite.options import Config, config, option

if TYPE_CHECKING:
    from vwlite.solvers.aso.auxiliary import Aux
    from vwlite.solvers.aso.conditions import Condition

LOSSES = ("modified_huber", "logistic", "hinge", "squared")  # numbered as in the kernel


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
        shown="",
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
        "squared", "Loss; logistic is for labels -1 and 1.", spelled=("--loss_function",), key="loss_function",
        choices=("squared", "logistic"),
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
    memory: float = USUAL


@config
class LearnConfig(Config):
    """Options of ``aso learn``. ``dims``: h of every group, or (group name, h) pairs beside the default."""

    aux: tuple[Aux, ...]
    where: tuple[Condition, ...] = ()
    chosen: frozenset[tuple[str, str]] | None = None  # kind and name of the problems to keep; None: all
    groups: tuple[tuple[str, ...], ...] = ()  # namespaces of each group; empty: one per namespace
    dim: int = 50
    dims: tuple[tuple[str, int], ...] = ()
    most: int = option(1000, "Problems kept of each set.", spelled=("--max-problems",), key="most", low=1)
    least: int = option(2, "Examples that must hold a feature.", spelled=("--min-count",), key="least", low=1)
    iterations: int = option(1, "Rounds of learning and decomposing.", low=1)
    positive: bool = option(
        True, "Decompose positive weights only.", spelled=("--positive/--no-positive",), shown="yes"
    )
    unit: bool = unit()
    idf: bool = idf()
    several: bool = False  # labels of the labelled examples are lists
    memory: float = USUAL  # bytes of weights at most
    solver: SolverConfig = field(default_factory=SolverConfig)
    target: SolverConfig = field(default_factory=lambda: TargetConfig().solver)

    def __post_init__(self) -> None:
        if not self.aux:
            raise UsageError("--aux is needed: freq, mask:NS, top-k:K or another kind of problems")
        if min(self.dim, *(h for _, h in self.dims), 1) < 1:
            raise UsageError("--dim takes numbers of 1 or more")
