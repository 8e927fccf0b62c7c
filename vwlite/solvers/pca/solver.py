"""The solver of ``vwlite pca`` and its models; rows as principal components."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NotRequired, TypedDict

import numpy as np

from vwlite._native import spectral
from vwlite.config_check import Double, JsonObject
from vwlite.data.batch import Batch, tag_of
from vwlite.data.config import has_words
from vwlite.features.config import FeatureConfig
from vwlite.solvers.pca.config import PcaConfig
from vwlite.solvers.pca.train import NO_COMPONENTS, Components, SubspaceIteration
from vwlite.solvers.row_solver import Part, RowModel, RowSolver, RowSource, SlotRows, check_slots, lines_of_rows
from vwlite.storage.model_file import numbers
from vwlite.training.model_header import Byte, Kind, Natural
from vwlite.training.solver_run import Content, Reader


class Header(TypedDict):
    """The header of a model of ``vwlite pca``."""

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
    """Principal components of examples."""

    learner: ClassVar[str] = "pca"
    config_type: ClassVar[type] = PcaConfig
    header_type: ClassVar[type] = Header

    def facts(self) -> JsonObject:
        spread, values = self.solution.spread(self.config.center), self.solution.values[: self.config.dim]
        return {
            **self.config.kept(),
            "examples": self.solution.examples,
            "slots": len(self.solution.slots),
            "singular_values": values.tolist(),
            "share_of_squares": float((values**2).sum() / spread) if spread > 0 else None,
        }

    def solution_content(self) -> Content:
        solution = self.solution
        header = {"weight": solution.weight, "squares": solution.squares, "examples": solution.examples}
        arrays = {
            "pca_slot": solution.slots.astype(np.uint32),
            "pca_vectors": solution.vectors,
            "pca_values": solution.values,
            "pca_total": solution.total,
        }
        return header, arrays

    @classmethod
    def solution_from(
        cls, header: Mapping[str, Any], arrays: Any, config: PcaConfig, features: FeatureConfig
    ) -> Components:
        slots = numbers(arrays, "pca_slot", np.uint32, (-1,))
        columns = config.dim + config.oversample
        vectors = numbers(arrays, "pca_vectors", np.float32, (len(slots), columns))
        values = numbers(arrays, "pca_values", np.float64, (columns,))
        total = numbers(arrays, "pca_total", np.float64, (len(slots),))
        check_slots(slots, features.bits)
        if (values < 0).any():
            raise ValueError("negative singular values")
        return Components(slots, vectors, values, total, header["weight"], header["squares"], header["examples"])


class Pca(RowSolver):
    """Computes principal components, or updates those of an initial model with more data."""

    learner = PcaModel.learner
    model_type = PcaModel
    what = "principal components"

    def read(self, reader: Reader) -> None:
        self.open(reader, again=self.config.passes > 1 or (self.features.weight != "none" and not self.before))
        initial = self.before.solution if self.before else NO_COMPONENTS
        self.work = SubspaceIteration(self.config, self.source, initial, self.memory, self.input.threads)


def top_features(model: PcaModel, top: int) -> list[JsonObject]:
    """For each component, its singular value and the ``top`` features with the largest absolute coefficients."""
    components = []
    for number in range(model.config.dim):
        column = model.solution.vectors[:, number]
        order = np.argsort(-np.abs(column), kind="stable")[:top]
        features = model.features_at(order, column[order])
        components.append({"singular_value": float(model.solution.values[number]), "features": features})
    return components


class Projection:
    """x V of every example x, of a centred model (x - m) V, with ``left`` divided by the singular values."""

    def __init__(self, model: PcaModel, left: bool = False) -> None:
        solution, dim = model.solution, model.config.dim
        self.rows = SlotRows(model.features.bits, solution.slots)
        values = solution.values[:dim]
        self.scale = np.where(values > 0, 1 / np.where(values > 0, values, 1), 0) if left else np.ones(dim)
        self.vectors = np.ascontiguousarray(solution.vectors[:, :dim])
        self.offset = solution.mean @ self.vectors if model.config.center else np.zeros(dim)

    def of(self, part: Part) -> np.ndarray:
        """float64[rows, dim]; slots without a component count for nothing."""
        number = self.rows.find(part.terms.indices)
        known = part.terms.keep(number >= 0)
        out = np.zeros((len(known), len(self.scale)))
        spectral.products(known.indptr, number[number >= 0], known.values, self.vectors, out)
        return (out - self.offset) * self.scale


def lines_of(projection: Projection, source: RowSource, kind: str) -> Iterator[bytes]:
    """The lines of each batch. A malformed line gives an empty line, a blank one none."""
    dim = len(projection.scale)
    form = "|pca " + " ".join(f"{number}:%.7g" for number in range(dim))
    for part in source.parts():
        batch, values = part.batch, projection.of(part).tolist()

        def text(row: int, batch: Batch = batch, values: list[list[float]] = values) -> bytes:
            return head_of(batch, row, kind) + (form % tuple(values[row])).encode()

        yield lines_of_rows(batch, text, malformed=b"")


def head_of(batch: Batch, row: int, kind: str) -> bytes:
    """Label, importance and tag as text has them, up to the bar."""
    parts = []
    if not np.isnan(batch.label[row]):
        parts.append(batch.tag(row).partition(b" ")[0] if has_words(kind) else b"%.9g" % float(batch.label[row]))
        if batch.importance[row] != 1:
            parts.append(b"%.9g" % float(batch.importance[row]))
    tag = tag_of(batch, row) if has_words(kind) else b""
    return b" ".join([*parts, b"'" + tag if tag else b""]) + (b" " if parts and tag else b"")
