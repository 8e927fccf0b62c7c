"""Which solver finds the clusters that the options ask for."""

from __future__ import annotations

from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.cut import Cut
from vwlite.solvers.clusters.mini_batch import MiniBatch
from vwlite.solvers.clusters.soft import Soft
from vwlite.solvers.clusters.train import Lloyd


def solver_of(config: ClusterConfig) -> type[Lloyd]:
    return Cut if config.cut else MiniBatch if config.batch else Soft if config.soft else Lloyd
