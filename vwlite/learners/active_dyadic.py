"""Dyadic models that learn only the labels they ask for; ``cython_ext/learners/dyadic.pyx`` chooses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.config_check import count_in
from vwlite.data.batch import Batch
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.active_dyadic import ActiveDyadicConfig
from vwlite.learners.dyadic import Dyadic, KernelConfig
from vwlite.learners.row_results import Results

COUNTS = (
    "labeled_weight",  # importance of what was learned
    "sum_loss",  # its loss
    "queries",  # labels asked for
)


class AskingConfig(KernelConfig):
    def __init__(self, config: ActiveDyadicConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.asks, self.mellowness = not frozen, config.mellowness


class ActiveDyadic(Dyadic):
    """Labels are asked for by the importance that would flip the prediction, at the learning rate of the time."""

    name = "active_dyadic"
    config_type = ActiveDyadicConfig
    kernel_config = AskingConfig
    config: ActiveDyadicConfig

    def __init__(
        self, config: ActiveDyadicConfig, bits: int, *, learning: bool = True, vw_compat: bool = False,
        start: bool = True,
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.counts = np.zeros(len(COUNTS))
        self.random_state = np.array([config.random_seed % 2**64], np.uint64)
        self.label_and_weight = np.empty((2, 0), np.float32)  # of a batch's rows, as they are used
        self.queried = 0

    def tester(self, **changes: Any) -> ActiveDyadic:
        other: ActiveDyadic = super().tester(**changes)  # type: ignore[assignment]
        other.kernel.asks = False
        return other

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if self.label_and_weight.shape[1] < len(batch):
            self.label_and_weight = np.empty((2, len(batch)), np.float32)
        self.label_and_weight[:, begin:end] = batch.label[begin:end], batch.importance[begin:end]
        before = self.counts[COUNTS.index("queries")]
        end = super().run(batch, plan, results, begin, end)
        self.queried = int(self.counts[COUNTS.index("queries")] - before)
        return end

    def counted(self, batch: Batch) -> Batch:
        label, weight = self.label_and_weight[:, : len(batch)]
        return replace(batch, label=label, importance=weight)

    def header(self) -> dict[str, Any]:
        asked = dict(zip(COUNTS, self.counts.tolist(), strict=True))
        return {**super().header(), "asked": asked, "chance": int(self.random_state[0])}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        numbers = {name: float(header["asked"][name]) for name in COUNTS}
        count_in(numbers, "queries")
        if not np.isfinite([*numbers.values()]).all():
            raise ValueError("counts of labels")
        self.counts[:] = [*numbers.values()]
        if self.config.random_seed == header["config"]["random_seed"]:
            self.random_state[0] = header["chance"]
