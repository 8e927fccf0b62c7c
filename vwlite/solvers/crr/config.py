"""Options of combined regression and ranking: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from dataclasses import field

from vwlite.errors import UsageError
from vwlite.features.config import QueryConfig
from vwlite.learners.losses import LossConfig
from vwlite.memory_limit import MemoryConfig
from vwlite.options import Config, again, config, option

LOSS_NAMES = ("squared", "logistic", "hinge")
RATES = ("inverse", "invsqrt", "constant")
SAMPLING = ("pairs", "query")  # every pair is equally likely, or every query and then each of its pairs


@config
class CrrConfig(Config):
    """Options of the training. ``learning_rate`` belongs to the rates ``invsqrt`` and ``constant`` (0.02 when None)."""

    loss: LossConfig = field(default_factory=LossConfig)
    alpha: float = option(0.5, "Share of regression, 1 for it alone, 0 for ranking.", low=0, high=1)
    penalty: float = option(
        0.001, "L2 penalty; sets the step sizes too.", spelled=("--lambda",), key="penalty", low=0
    )
    l1: float = option(
        0.0, "L1 penalty C: C times the sum of absolute weights, by the cumulative penalty; most become 0.", low=0
    )
    steps: int = option(1_000_000, "Random examples or pairs to learn from.", low=1, shown="1000000")
    rate: str = option("inverse", "Step sizes: 1/(lambda i), X/sqrt(i) or X.", choices=RATES)
    learning_rate: float | None = option(
        None, "X of invsqrt and constant.", spelled=("-l", "--learning_rate"), shown="0.02"
    )
    average: bool = option(False, "Predict with the mean of the weights after every step, not with the last ones.")
    average_after: int | None = option(
        None, "Steps before the mean begins.", unit="steps", low=0, shown="half of them", needs=("average",)
    )
    project: bool = option(
        False, "Keep the weights in the ball of radius 1/sqrt(lambda), as Pegasos does."
    )
    sampling: str = option(
        "pairs", "All pairs are as likely; or all queries, and all pairs of a query.", spelled=("--pair-sampling",),
        key="sampling", choices=SAMPLING,
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
        if self.penalty == 0 and (self.rate == "inverse" or self.project):
            raise UsageError("--lambda 0 needs --rate constant or invsqrt, and goes without --project")
        if self.rate == "inverse" and self.learning_rate is not None:
            raise UsageError("-l goes with --rate constant or invsqrt; the rate of step i is 1 / (lambda i) otherwise")
        if self.rate != "inverse" and not 0 < self.initial_learning_rate * max(self.penalty, 1e-300) < 1:
            raise UsageError("the learning rate must be above 0, and below 1 / lambda")
        if self.l1 and self.project:
            raise UsageError("--l1 does not go with --project, whose ball is an L2 penalty: drop one of the two")
        if self.l1 and self.average:
            raise UsageError("--l1 does not go with --average: a mean of weights has few zeros; drop one of the two")
        if self.average_after is not None and self.average_after >= self.steps:
            raise UsageError(f"--average_after {self.average_after} is not below --steps {self.steps}")

    @property
    def before_mean(self) -> int | None:
        """The steps before the mean begins; None where there is none."""
        if not self.average:
            return None
        return self.steps // 2 if self.average_after is None else self.average_after

    @property
    def initial_learning_rate(self) -> float:
        return 0.02 if self.learning_rate is None else self.learning_rate
