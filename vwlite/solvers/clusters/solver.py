"""``vwlite cluster``: the solver that a run has, whose options say by which method clusters are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vwlite.errors import UsageError
from vwlite.options import Request
from vwlite.solvers.clusters.config import ClusterConfig
from vwlite.solvers.clusters.cut import Cut
from vwlite.solvers.clusters.mini_batch import MiniBatch
from vwlite.solvers.clusters.model import ClusterModel
from vwlite.solvers.clusters.soft import Soft
from vwlite.solvers.clusters.train import Lloyd
from vwlite.solvers.cut.text import DegreeRows
from vwlite.solvers.row_solver import RowModel, RowSolver
from vwlite.solvers.rows import RowSource
from vwlite.training.monitor import Monitor
from vwlite.training.solver_run import Content, Reader


def method_of(config: ClusterConfig) -> type[Lloyd]:
    return Cut if config.cut else MiniBatch if config.batch else Soft if config.soft else Lloyd


class Cluster(RowSolver):
    """Finds clusters, or moves the means of a model to more data."""

    learner = ClusterModel.learner
    model_type = ClusterModel
    what = "clusters"
    method: Lloyd

    def configured(self, request: Request) -> ClusterConfig:
        config = request.config(ClusterConfig)
        if not config.clusters:
            raise UsageError("-k N says how many clusters there are to be")
        if config.clusters == 1:
            raise UsageError("-k takes 2 to 100000, not 1")
        if config.cut and self.features.weight == "degree":
            raise UsageError("--cut divides examples by their degrees: drop --weight degree")
        if config.cut and "seeding" in request.given:
            raise UsageError("--seeding does nothing with --cut, which begins with eigenvectors")
        return config

    def continued(self, request: Request, model: RowModel[Any, Any]) -> ClusterConfig:
        for name in ("seeding", "restarts"):
            if name in request.given:
                raise UsageError(f"--{name} does nothing beside -i, whose means are the start")
        return replace(super().continued(request, model), restarts=1)

    def read(self, reader: Reader) -> None:
        self.open(reader, again=True, kind=DegreeRows if self.config.cut else RowSource)
        found = self.before.found if self.before else None
        self.method = method_of(self.config)(self.config, self.source, found, self.memory, self.input.threads)

    def fit(self, monitor: Monitor) -> None:
        self.found = self.method.run(monitor)

    def state(self) -> Content:
        return self.method.state()

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self.method.restore(header, arrays)
