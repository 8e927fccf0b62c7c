"""Bandits played with labelled data ("cbify", Bietti, Agarwal and Langford 2021): the answer is the action drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK, INNER, SAVE, Batch, Csr, first_of_group, tag_of
from vwlite.data.class_labels import Classes, ClassLabels, ListLabels, LogFunction
from vwlite.data.logged_decisions import clear_labels
from vwlite.data.multiline import LineLabels
from vwlite.errors import DataError
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.explore import SimulateConfig, SimulateGroupsConfig
from vwlite.learners.explore import Exploration, ExploreGroups
from vwlite.learners.multiline import line_of
from vwlite.learners.row_results import Results, value_text


class Played(NamedTuple):
    """A decision: the row of its answer, the place of the action drawn, its number, cost and probability."""

    row: int
    place: int
    action: int
    cost: float
    probability: float


class Simulation(Exploration):
    """The base class of simulated bandits."""

    limits_answers = shows_actions = False

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        return (*super().description[0], "cbify"), "MULTICLASS", "MULTICLASS"

    @property
    def shows_probabilities(self) -> bool:
        return False

    def label_text(self, batch: Batch, row: int) -> str:
        return "unknown" if np.isnan(batch.label[row]) else "known"

    def prediction_text(self, results: Results, row: int) -> str:
        return f"{results.prediction[row]:.0f}"

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        """The average loss is that of the actions drawn; this is that of the best ones."""
        weight, best = self.sums[int(held), [0, 5]].tolist()
        return [] if self.vw_compat or not weight else [("best action's loss", best / weight)]

    def report(self) -> JsonObject:
        weight, best = self.sums[0, [0, 5]].tolist()
        return {"best_action_loss": best / weight if weight else None}

    def warnings(self) -> list[str]:
        return []

    def played(self, batch: Batch, results: Results, begin: int, end: int) -> list[Played]:
        """The decisions of the rows just run whose costs are known. Raises DataError for an importance."""
        played = []
        for last in (np.flatnonzero(~np.isnan(batch.label[begin:end])) + begin).tolist():
            if batch.flags[last] & (BLANK | SAVE | INNER):
                continue
            if batch.importance[last] != 1:
                raise DataError(f"{batch.location(last)}: logged decisions have no importance: drop --log, or it")
            first, _, pmf = self.event(batch, results, last)
            place = int(results.prediction[last]) - first
            played.append(Played(last, place, place + first, self.cost(batch, last, place), float(pmf[place])))
        return played

    def cost(self, batch: Batch, last: int, place: int) -> float:
        """The cost of the action at this place by the label."""
        raise NotImplementedError

    def as_text(self, batch: Batch, last: int, place: int, label: bytes, bodies: list[bytes]) -> bytes:
        """The lines of the event whose answer is at ``last``, as --cb or --cb_adf has them, with the ``label`` of that
        at ``place``. ``bodies``: the text of all rows from the first bar on.
        """
        raise NotImplementedError


class Simulate(Simulation):
    """The same classes for every row."""

    name = "cbify"
    config_type = SimulateConfig

    def labels(self, log: LogFunction | None = None) -> ClassLabels:  # type: ignore[override]
        classes = Classes(self.config.cbify, (), 1)
        return ListLabels(classes, log, sets=False) if self.config.cbify_cs else ClassLabels(classes, log)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if batch.probability is None:
            lists = batch.lists if self.config.cbify_cs else self.lists_of(batch)
            clear_labels(batch)
            batch.lists = lists or batch.lists
        return super().run(batch, plan, results, begin, end)

    def cost(self, batch: Batch, last: int, place: int) -> float:
        entries = batch.lists.row(last)
        costs = batch.lists.values[entries][batch.lists.indices[entries] == place + 1]
        if not self.config.cbify_cs:
            return self.config.loss0 if len(costs) else self.config.loss1
        return float(costs[0]) if len(costs) and np.isfinite(costs[0]) else self.config.loss1

    def as_text(self, batch: Batch, last: int, place: int, label: bytes, bodies: list[bytes]) -> bytes:
        tag = tag_of(batch, last)
        return b" ".join([label, *([b"'" + tag] if tag else [])]) + b" " + bodies[last] + b"\n"

    def lists_of(self, batch: Batch) -> Csr:
        """The class of each label that is one; other rows have none."""
        known = (batch.label >= 1) & (batch.label <= self.config.cbify) & batch.is_example
        classes = batch.label[known].astype(np.uint32)
        batch.label = np.where(known, batch.label, np.float32(np.nan)).astype(np.float32)
        return Csr(np.concatenate([[0], np.cumsum(known)]).astype(np.int64), classes, np.ones(len(classes), np.float32))

    def label_text(self, batch: Batch, row: int) -> str:
        return super().label_text(batch, row) if self.config.cbify_cs else value_text(float(batch.label[row]))

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        if raw:
            return super().lines(batch, results, row, raw)
        tag = tag_of(batch, row).decode("utf-8", "surrogateescape")
        return f"{results.prediction[row]:.0f}" + (f" {tag}" if tag else "")


class SimulateGroups(Simulation, ExploreGroups):
    """An action is the place of its line, from 0."""

    name = "cbify_ldf"
    config_type = SimulateGroupsConfig

    def labels(self, log: LogFunction | None = None) -> LineLabels:  # type: ignore[override]
        return LineLabels(log)

    def event_row(self, batch: Batch, row: int) -> int:
        return row

    def cost(self, batch: Batch, last: int, place: int) -> float:
        costs = batch.lists.values[batch.lists.row(self.first_action(batch, last) + place)]
        return float(costs[0]) if len(costs) and np.isfinite(costs[0]) else 1.0

    def as_text(self, batch: Batch, last: int, place: int, label: bytes, bodies: list[bytes]) -> bytes:
        first, lines = self.first_action(batch, last), []
        for row in range(first_of_group(batch, last), last + 1):
            tag = tag_of(batch, row)
            head = b"shared" if row < first else label if row == first + place else b""
            lines.append(b" ".join(filter(None, [head, b"'" + tag if tag else b"", bodies[row]])))
        return b"\n".join([*lines, b"", b""])

    def prediction_text(self, results: Results, row: int) -> str:
        """To vw the class of the group's first line, 0 where another was drawn."""
        if not self.vw_compat:
            return super().prediction_text(results, row)
        named = self.batch.lists.indices[self.batch.lists.row(self.first_action(self.batch, row))]
        return str(int(named[0])) if len(named) and results.prediction[row] == 0 else "0"

    def line(self, batch: Batch, results: Results, last: int, raw: bool) -> bytes:
        if raw or not self.vw_compat:
            return super().line(batch, results, last, raw)
        first, text = self.first_action(batch, last), b""
        for row in range(first, last + 1):
            named = batch.lists.indices[batch.lists.row(row)]
            drawn = len(named) and results.prediction[last] == row - first
            text += line_of(str(int(named[0])) if drawn else "0", tag_of(batch, row))
        return text

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if batch.probability is None:
            lists = batch.lists
            clear_labels(batch)
            batch.lists = lists or batch.lists
        return super().run(batch, plan, results, begin, end)
