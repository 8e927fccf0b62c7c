"""Bandits played with groups of lines whose costs are all known."""

from __future__ import annotations

from vwlite.data.batch import Batch
from vwlite.data.class_labels import LogFunction
from vwlite.data.label_vocabulary import tag_of
from vwlite.data.logged_decisions import no_labels
from vwlite.data.multiline_labels import LineLabels
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.simulate_groups import SimulateGroupsConfig
from vwlite.learners.explore_groups import ExploreGroups
from vwlite.learners.multiline import line_of
from vwlite.learners.row_results import Results
from vwlite.learners.simulate import Simulation


class SimulateGroups(Simulation, ExploreGroups):
    """An action is the place of its line, from 0."""

    name = "cbify_ldf"
    config_type = SimulateGroupsConfig
    bare_lines = False

    def labels(self, log: LogFunction | None = None) -> LineLabels:  # type: ignore[override]
        return LineLabels(log)

    def event_row(self, batch: Batch, row: int) -> int:
        return row

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
            no_labels(batch)
            batch.lists = lists or batch.lists
        return super().run(batch, plan, results, begin, end)
