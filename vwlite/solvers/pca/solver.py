"""``vwlite pca``: the solver that a run has, and its models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NotRequired, TypedDict

import numpy as np

from vwlite.config_check import Double
from vwlite.features.config import FeatureConfig
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.pca.train import NOTHING, Components, Finder
from vwlite.solvers.row_solver import RowModel, RowSolver
from vwlite.solvers.rows import check_slots
from vwlite.storage.array_check import numbers
from vwlite.training.model_header import Byte, Kind, Natural
from vwlite.training.monitor import Monitor
from vwlite.training.solver_run import Content, Reader


class Header(TypedDict):
    """Of a model of ``vwlite pca``."""

    pca: dict
    features: dict
    seen: list[Byte]
    kind: Kind
    columns: NotRequired[str]
    names: bool
    weight: Double
    squares: Double
    examples: Natural


class PcaModel(RowModel[PcaConfig, Components]):
    """Principal components of text."""

    learner: ClassVar[str] = "pca"
    config_type: ClassVar[type] = PcaConfig
    header_type: ClassVar[type] = Header

    def facts(self) -> dict[str, Any]:
        spread, values = self.found.spread(self.config.center), self.found.values[: self.config.dim]
        return {
            **self.config.kept(),
            "examples": self.found.examples,
            "slots": len(self.found.slots),
            "singular_values": values.tolist(),
            "share_of_squares": float((values**2).sum() / spread) if spread > 0 else None,
        }

    def kept(self) -> Content:
        found = self.found
        header = {"weight": found.weight, "squares": found.squares, "examples": found.examples}
        arrays = {
            "pca_slot": found.slots.astype(np.uint32),
            "pca_vectors": found.vectors,
            "pca_values": found.values,
            "pca_total": found.total,
        }
        return header, arrays

    @classmethod
    def found_from(
        cls, header: Mapping[str, Any], arrays: Any, config: PcaConfig, features: FeatureConfig
    ) -> Components:
        slots = numbers(arrays, "pca_slot", np.uint32, (-1,))
        columns = config.dim + config.oversample
        vectors = numbers(arrays, "pca_vectors", np.float32, (len(slots), columns))
        values = numbers(arrays, "pca_values", np.float64, (columns,))
        total = numbers(arrays, "pca_total", np.float64, (len(slots),))
        check_slots(slots, features.bits)
        if (values < 0).any():
            raise ValueError("its singular values")
        return Components(slots, vectors, values, total, header["weight"], header["squares"], header["examples"])


class Pca(RowSolver):
    """Finds principal components, or makes those of a model more exact by more data."""

    learner = PcaModel.learner
    model_type = PcaModel
    what = "principal components"
    finder: Finder

    def read(self, reader: Reader) -> None:
        self.open(reader, again=self.config.passes > 1 or (self.features.weight != "none" and not self.before))
        found = self.before.found if self.before else NOTHING
        self.finder = Finder(self.config, self.source, found, self.memory, self.input.threads)

    def fit(self, monitor: Monitor) -> None:
        self.found = self.finder.run(monitor)

    def state(self) -> Content:
        return self.finder.state()

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self.finder.restore(header, arrays)


def strongest(model: PcaModel, top: int) -> list[dict[str, Any]]:
    """Of every component its singular value and the ``top`` features of largest size, by name where there are names."""
    names = model.names.names if model.names else {}
    found = []
    for number in range(model.config.dim):
        column = model.found.vectors[:, number]
        order = np.argsort(-np.abs(column), kind="stable")[:top]
        slots = model.found.slots[order].tolist()
        features = [
            {"slot": slot, "name": names.get(slot), "value": float(value)}
            for slot, value in zip(slots, column[order], strict=True)
        ]
        found.append({"singular_value": float(model.found.values[number]), "features": features})
    return found
