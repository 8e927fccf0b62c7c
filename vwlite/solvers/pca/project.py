"""Examples in the coordinates of principal components, as lines of text that keep label, importance and tag."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vwlite._native import range_finder
from vwlite.data.batch import BLANK, Batch
from vwlite.data.config import has_words
from vwlite.data.label_vocabulary import tag_of
from vwlite.solvers.pca.solver import PcaModel
from vwlite.solvers.rows import Part, RowSource, SlotRows


class Projection:
    """x V of every example x, of a centred model (x - m) V, with ``left`` divided by the singular values."""

    def __init__(self, model: PcaModel, left: bool = False) -> None:
        found, dim = model.solution, model.config.dim
        self.rows = SlotRows(model.features.bits, found.slots)
        values = found.values[:dim]
        self.scale = np.where(values > 0, 1 / np.where(values > 0, values, 1), 0) if left else np.ones(dim)
        self.vectors = np.ascontiguousarray(found.vectors[:, :dim])
        self.offset = found.mean @ self.vectors if model.config.center else np.zeros(dim)

    def of(self, part: Part) -> np.ndarray:
        """float64[rows, dim]; slots without a component count for nothing."""
        number = self.rows.find(part.terms.indices)
        known = part.terms.keep(number >= 0)
        out = np.zeros((len(known), len(self.scale)))
        range_finder.products(known.indptr, number[number >= 0], known.values, self.vectors, out)
        return (out - self.offset) * self.scale


def lines_of(projection: Projection, source: RowSource, kind: str) -> Iterator[bytes]:
    """The lines of each batch. A malformed line gives an empty line, a blank one none."""
    dim = len(projection.scale)
    form = "|pca " + " ".join(f"{number}:%.7g" for number in range(dim))
    for part in source.parts():
        batch, gaps = part.batch, set(part.batch.gaps)
        lines, values = [], projection.of(part).tolist()
        for row in range(len(batch)):
            lines += [b""] * (row in gaps)
            if not batch.flags[row] & BLANK:
                lines.append(head_of(batch, row, kind) + (form % tuple(values[row])).encode())
        lines += [b""] * (len(batch) in gaps)
        yield b"".join(line + b"\n" for line in lines)


def head_of(batch: Batch, row: int, kind: str) -> bytes:
    """Label, importance and tag as text has them, up to the bar."""
    parts = []
    if not np.isnan(batch.label[row]):
        parts.append(batch.tag(row).partition(b" ")[0] if has_words(kind) else b"%.9g" % float(batch.label[row]))
        if batch.importance[row] != 1:
            parts.append(b"%.9g" % float(batch.importance[row]))
    tag = tag_of(batch, row) if has_words(kind) else b""
    return b" ".join([*parts, b"'" + tag if tag else b""]) + (b" " if parts and tag else b"")
