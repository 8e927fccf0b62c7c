"""Models of clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NotRequired, TypedDict

import numpy as np

from vwlite.config_check import Double
from vwlite.features.config import FeatureConfig
from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.mini_batch import MiniBatch
from vwlite.solvers.clusters.train import Clusters
from vwlite.solvers.row_solver import RowModel
from vwlite.solvers.rows import Rows, check_slots
from vwlite.storage.model_file import numbers
from vwlite.training.listener import Monitor, StepsOnly
from vwlite.training.model_header import Byte, Kind, Natural
from vwlite.training.solver_run import Content


class Header(TypedDict):
    """Of a model of ``vwlite cluster``."""

    cluster: dict
    features: dict
    seen: list[Byte]
    kind: Kind
    columns: NotRequired[str]
    names: bool
    passes: Natural
    normalised_cut: NotRequired[Double]


class ClusterModel(RowModel[ClusterConfig, Clusters]):
    """Clusters of text."""

    learner: ClassVar[str] = "cluster"
    config_type: ClassVar[type] = ClusterConfig
    header_type: ClassVar[type] = Header

    def facts(self) -> dict[str, Any]:
        return {
            **self.config.kept(),
            "passes": self.solution.passes,
            "examples": int(self.solution.totals[0].sum()),
            "slots": len(self.solution.slots),
            "average_squared_distance": self.solution.distance,
            **({"normalised_cut": self.solution.cut} if self.config.cut else {}),
            "sizes": [int(size) for size in self.solution.totals[0].tolist()],
        }

    def solution_content(self) -> Content:
        found, cut = self.solution, self.config.cut
        header = {"passes": found.passes, **({"normalised_cut": found.cut} if cut else {})}
        arrays = {
            "cluster_slot": found.slots.astype(np.uint32),
            "cluster_means": found.means,
            "cluster_totals": found.totals,
            **({"cluster_degree": found.total} if cut else {}),
        }
        return header, arrays

    @classmethod
    def solution_from(
        cls, header: Mapping[str, Any], arrays: Any, config: ClusterConfig, features: FeatureConfig
    ) -> Clusters:
        slots = numbers(arrays, "cluster_slot", np.uint32, (-1,))
        means = numbers(arrays, "cluster_means", np.float32, (len(slots), config.clusters))
        totals = numbers(arrays, "cluster_totals", np.float64, (3, config.clusters))
        check_slots(slots, features.bits)
        if (totals < 0).any():
            raise ValueError("its totals")
        if not config.clusters:
            raise ValueError("no clusters")
        found = Clusters(slots, means, totals, header["passes"])
        if config.cut:
            found.cut = header["normalised_cut"]
            found.total = numbers(arrays, "cluster_degree", np.float64, (len(slots),))
            if (found.total < 0).any():
                raise ValueError("the sum of its examples")
        return found


BATCH, PASSES = 1000, 5


def centre_lines(rows: Rows, count: int, seed: int, memory: float, threads: int, monitor: Monitor) -> list[bytes]:
    """The means of ``count`` clusters, as features that are the numbers of their slots.

    Raises DataError where there is no example, UsageError where there are fewer different ones than clusters.
    """
    config = ClusterConfig(clusters=count, batch=BATCH, passes=PASSES, seeding="random", seed=seed)
    found = MiniBatch(config, rows, None, memory, threads).run(StepsOnly(monitor))
    lines = []
    for mean in found.means.T:
        there = mean.nonzero()[0]
        pairs = zip(found.slots[there].tolist(), mean[there].tolist(), strict=True)
        lines.append("| " + " ".join(f"{slot}:{value:.9g}" for slot, value in pairs))
    return [line.encode() for line in lines]
