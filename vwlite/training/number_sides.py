"""Notes at the end of the first pass which sides of dot products are a number, as ids read as numbers are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.columns import quoted, read_columns
from vwlite.data.csr import ranges
from vwlite.features.feature_plan import Plan
from vwlite.features.group_columns import segments_of
from vwlite.features.side_names import covers, sides_of_pair
from vwlite.learners.configs.lrq import read_pairs
from vwlite.learners.row_results import Results
from vwlite.training.config import RunConfig
from vwlite.training.display import Display
from vwlite.training.listener import Listener


@dataclass
class Side:
    """What was met of a namespace; ``group`` as ``--dotproduct`` and ``--lrq`` name it."""

    name: str
    group: int
    hash: int | None = None  # of its feature
    low: float = 0.0  # of its values
    high: float = 0.0
    is_number: bool = True  # has no second feature and no fraction so far

    def add(self, hashes: np.ndarray, values: np.ndarray) -> None:
        if len(hashes):
            if self.hash is None:
                self.hash, self.low, self.high = int(hashes[0]), float(values[0]), float(values[0])
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
            self.is_number = bool((hashes == self.hash).all() and (values == np.floor(values)).all())


class NumberSides(Listener):
    """Looks at each side until it has a second feature: with ids that are names, at the first batch only."""

    def __init__(self, config: RunConfig, plan: Plan, display: Display, columns: str) -> None:
        """``columns`` of a table, as it is read."""
        self.plan, self.display, self.columns, self.watching = plan, display, columns, True
        self.sides = [Side(name, group) for name, group in dict(sides_of(config, plan)).items()]

    @staticmethod
    def concerns(config: RunConfig) -> bool:
        crossed = config.features.dotproduct or getattr(config.learner, "lrq", ())
        return bool(config.learning and crossed and not config.vw_compat)

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        first, last = batch.row_namespace[[begin, end]].tolist()
        for side in self.sides if self.watching else ():
            if side.is_number:
                of_side = first + np.flatnonzero(segments_of(batch, self.plan, side.group)[first:last])
                features = ranges(batch.namespace_start, of_side)
                side.add(batch.feature_hash[features], batch.value[features])

    def pass_read(self, number: int) -> None:
        for side in self.sides if self.watching else ():
            if side.is_number and side.low < side.high:
                told = f"namespace {side.name} has one feature, with different values: if they are ids"
                self.display.note(f"{told}, {self.remedy(side)}")
        self.watching = False

    def remedy(self, side: Side) -> str:
        for space, some in read_columns(self.columns).spaces.items():
            if covers(side.name, space):
                return f"--columns {quoted(space)}={quoted(some[0].name)}:text"
        return f"make them names: {side.high:g}, not id:{side.high:g}"

    def state(self) -> dict[str, Any]:
        return {"number_sides": [self.watching, list(map(asdict, self.sides))]}

    def restore(self, state: dict[str, Any]) -> None:
        self.watching, sides = state["number_sides"]
        self.sides = [Side(**side) for side in sides]


def sides_of(config: RunConfig, plan: Plan) -> Iterator[tuple[str, int]]:
    """The names of the sides, as they were typed, and their groups."""
    for value, groups in zip(config.features.dotproduct, plan.pairs, strict=True):
        yield from zip(sides_of_pair(value), groups, strict=True)
    for *letters, _ in read_pairs(getattr(config.learner, "lrq", ())):
        yield from ((chr(letter), letter) for letter in letters)
