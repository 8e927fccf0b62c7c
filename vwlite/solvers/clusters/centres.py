"""Means of clusters as lines of text, for landmarks."""

from __future__ import annotations

from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.mini_batch import MiniBatch
from vwlite.solvers.rows import Rows
from vwlite.training.monitor import Monitor, StepsOnly

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
