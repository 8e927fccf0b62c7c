"""Options of combined regression and ranking: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from dataclasses import field

from vwlite.errors import UsageError
from vwlite.features.config import QueryConfig
from vwlite.learners.losses import LossConfig
from vwlite.options import Config, MemoryConfig, again, config, option

LOSS_NAMES = ("squared", "logistic", "hinge", "absolute", "modified_huber")
RATES = ("inverse", "invsqrt", "constant", "adaptive")
PAIRINGS = ("random", "all", "lambda-ndcg", "lambda-map")
CALIBRATED = ("squared", "logistic")
STEPS, PASSES = 1_000_000, 30  # steps on single pairs; on queries, for each of them
SAMPLING = ("pairs", "query")  # every pair is equally likely, or every query and then each of its pairs


@config
class CrrConfig(Config):
    """Options of the training. ``learning_rate`` belongs to the rates ``invsqrt`` and ``constant`` (0.02 when None)."""

    loss: LossConfig = field(default_factory=LossConfig)
    pair_loss: str | None = option(
        None, "Loss of pairs, where it is another.", spelled=("--pair_loss",), choices=LOSS_NAMES, shown="",
        settled=True,
    )
    pairing: str = option(
        "random", "Pairs of a step: a random one, or all of a random query, alike or weighted by the change of NDCG or"
        " MAP when the two change places.", spelled=("--pairs",), key="pairing", choices=PAIRINGS, settled=True,
    )
    truncate: int | None = option(
        None, "Aim at NDCG of the first N of a query.", low=1, needs=("pairing=lambda-ndcg",), shown="of all",
        settled=True,
    )
    query_limit: int = option(
        1000, "Examples of a query above which each has 50 random pairs, not all.", low=1,
        needs=("pairing=all", "pairing=lambda-ndcg", "pairing=lambda-map"),
    )
    alpha: float | None = option(
        None, "Share of regression, 1 for it alone, 0 for ranking.", low=0, high=1,
        shown="0.5; 0 where --pairs takes queries",
    )
    penalty: float = option(
        0.001, "L2 penalty; sets the step sizes too.", spelled=("--lambda",), key="penalty", low=0,
        needs=("pairing=random",), settled=True,
    )
    l1: float = option(
        0.0, "L1 penalty C: C times the sum of absolute weights, by the cumulative penalty; most become 0.", low=0,
        settled=True,
    )
    steps: int | None = option(
        None, "Random examples, pairs or queries to learn from.", low=1,
        shown="1000000; 30 for each query where --pairs takes them",
    )
    rate: str | None = option(
        None, "Step sizes: 1/(lambda i), X/sqrt(i), X, or X divided by the root of a weight's squared gradients.",
        choices=RATES, shown="inverse; adaptive where --pairs takes queries", settled=True,
    )
    learning_rate: float | None = option(
        None, "X of the other rates than inverse.", spelled=("-l", "--learning_rate"), shown="0.02; 0.1 of adaptive",
        settled=True,
    )
    average: bool | None = option(
        None, "Predict with the mean of the weights after every step, not with the last ones.",
        spelled=("--average/--no-average",), shown="only where --pairs takes queries", settled=True,
    )
    average_after: int | None = option(
        None, "Steps before the mean begins.", unit="steps", low=0, shown="half of them", needs=("average", "pairing")
    )
    calibrate: bool = option(
        False, "At the end give scores the scale and offset at which they predict labels best; their order stays."
    )
    project: bool = option(
        False, "Keep the weights in the ball of radius 1/sqrt(lambda), as Pegasos does.", settled=True
    )
    sampling: str | None = option(
        None, "All pairs are as likely; or all queries, and all pairs of a query.", spelled=("--pair-sampling",),
        key="sampling", choices=SAMPLING, needs=("pairing=random", "pairing=all"),
        shown="query; pairs where --pairs takes queries",
    )
    pair_buffer: int = option(
        0, "Keep N examples of each label of a query instead of a cache.", spelled=("--pair-buffer",), low=0, shown=""
    )
    queries: QueryConfig = field(default_factory=QueryConfig)
    seed: int = option(0, "Seed of the draws.", spelled=("--random_seed", "--seed"))
    max_memory: float | None = again(MemoryConfig, "max_memory", None, shown="no limit")

    def __post_init__(self) -> None:
        if self.loss.name not in LOSS_NAMES:
            raise UsageError(f"combined regression and ranking knows {', '.join(LOSS_NAMES)}, not {self.loss.name}")
        if self.share == 1 and (self.takes_queries or self.pair_loss):
            wrong = f"--pairs {self.pairing}" if self.takes_queries else f"--pair_loss {self.pair_loss}"
            raise UsageError(f"{wrong} does nothing with --alpha 1, which learns from no pair: drop one of the two")
        if self.takes_queries:
            self.check_queries()
        elif self.schedule == "adaptive":
            raise UsageError("--rate adaptive is for steps on queries: --pairs all, lambda-ndcg or lambda-map")
        elif self.penalty == 0 and (self.schedule == "inverse" or self.project):
            raise UsageError("--lambda 0 needs --rate constant or invsqrt, and goes without --project")
        if self.schedule == "inverse" and self.learning_rate is not None:
            raise UsageError("-l goes with --rate constant or invsqrt; the rate of step i is 1 / (lambda i) otherwise")
        penalty = 0 if self.takes_queries else self.penalty
        if self.schedule != "inverse" and not 0 < self.initial_learning_rate * max(penalty, 1e-300) < 1:
            raise UsageError("the learning rate must be above 0, and below 1 / lambda")
        if self.l1 and self.project:
            raise UsageError("--l1 does not go with --project, whose ball is an L2 penalty: drop one of the two")
        if self.l1 and self.averages:
            raise UsageError("--l1 does not go with --average: a mean of weights has few zeros; drop one of the two")
        if self.average_after is not None and not self.averages:
            raise UsageError("--average_after does nothing without --average")
        if None not in (self.average_after, self.steps) and self.average_after >= self.steps:
            raise UsageError(f"--average_after {self.average_after} is not below --steps {self.steps}")
        if self.calibrate and self.loss.name not in CALIBRATED:
            raise UsageError(f"--calibrate goes with --loss_function {' or '.join(CALIBRATED)}, not {self.loss.name}")

    def check_queries(self) -> None:
        """What steps on queries do not go with. Raises UsageError."""
        taken = f"--pairs {self.pairing}"
        if self.pair_buffer:
            raise UsageError(f"{taken} needs whole queries, which --pair-buffer does not keep: drop one of the two")
        if self.pair_loss not in (None, "logistic"):
            raise UsageError(f"{taken} has logistic loss of pairs: drop --pair_loss {self.pair_loss}")
        if self.share == 0 and self.loss.name in ("hinge", "modified_huber"):
            raise UsageError(f"{taken} has logistic loss of pairs; --loss_function is of examples: give --alpha too")
        if self.schedule == "inverse" or self.project or self.l1:
            wrong = "--rate inverse" if self.schedule == "inverse" else "--project" if self.project else "--l1"
            raise UsageError(f"{taken} has steps without a penalty: drop {wrong}")

    @property
    def takes_queries(self) -> bool:
        """Whether a step takes all pairs of a query, not one pair."""
        return self.pairing != "random"

    @property
    def share(self) -> float:
        """``alpha``, with its default."""
        return (0.0 if self.takes_queries else 0.5) if self.alpha is None else self.alpha

    @property
    def draws(self) -> str:
        """``sampling``, with its default."""
        return self.sampling or ("pairs" if self.takes_queries else "query")

    @property
    def schedule(self) -> str:
        """``rate``, with its default."""
        return self.rate or ("adaptive" if self.takes_queries else "inverse")

    @property
    def averages(self) -> bool:
        """``average``, with its default."""
        return self.takes_queries if self.average is None else self.average

    def steps_for(self, queries: int) -> int:
        """``steps``, with their default for this number of queries that have pairs."""
        return self.steps or (PASSES * max(queries, 1) if self.takes_queries else STEPS)

    @property
    def initial_learning_rate(self) -> float:
        if self.learning_rate is not None:
            return self.learning_rate
        return 0.1 if self.schedule == "adaptive" else 0.02
