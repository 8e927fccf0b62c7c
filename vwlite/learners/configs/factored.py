"""Options of several outputs by a matrix of low rank (``--outputs`` with ``--trace``)."""

from __future__ import annotations

from typing import ClassVar

from vwlite.errors import UsageError
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.outputs import OutputsConfig
from vwlite.learners.configs.shared import random_seed, refuse
from vwlite.options import again, config, option

REFUSED = (
    "sgd", "adaptive", "normalized", "invariant", "initial_t", "l1", "l2", "sparse_l2", "initial_weight", "constant",
    "ftrl", "power_t",
)


@config
class FactoredConfig(OutputsConfig):
    """As ``OutputsConfig``, for weights that are a product of matrices with ``rank`` columns, at most ``outputs``."""

    rank: int = again(DyadicConfig, "rank", 10, low=1, shape=True)
    trace: float = option(
        0.0, "Price, at each example, of the singular values of the weights, features by outputs: few directions.",
        section="Outputs", above=0, shown="off", settled=True,
    )
    random_seed: int = random_seed()  # where the rows of the outputs begin

    learner: ClassVar[str] = "factored"
    asked_by: ClassVar[tuple[str, ...]] = ()
    asked_together: ClassVar[tuple[str, ...]] = ("outputs", "trace")
    includes: ClassVar[tuple[str, ...]] = ("outputs",)
    alone: ClassVar[str] = "the weights of all outputs are one matrix"

    def __post_init__(self) -> None:
        if self.shared_rates is not None:
            raise UsageError("--shared_rates does not go with --trace: features and outputs have rates of their own")
        super().__post_init__()
        object.__setattr__(self, "shared_rates", None)
        if self.outputs == 1:
            raise UsageError("--trace is of the weights of several outputs: it needs --outputs 2 or more")
        refuse(self, REFUSED, "--trace", "--outputs without --trace takes it")
        object.__setattr__(self, "rank", min(self.rank, self.outputs))
