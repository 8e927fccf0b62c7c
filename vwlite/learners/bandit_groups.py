"""Contextual bandits whose actions are the lines of a group, and those of them that explore."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vwlite.data.batch import BLANK, INNER, SAVE, SHARED, Batch, first_of_group, tag_of
from vwlite.data.class_labels import LogFunction
from vwlite.data.logged_decisions import DecisionLabels, GroupDecisionLabels
from vwlite.features.feature_plan import Plan
from vwlite.learners.bandit import Bandit, Shown, cheapest_first, decimals, pairs_text
from vwlite.learners.configs.bandit import BanditGroupsConfig
from vwlite.learners.configs.explore import ExploreGroupsConfig
from vwlite.learners.explore import Exploration
from vwlite.learners.multiline import line_of
from vwlite.learners.row_results import Results, WeightedSum


class BanditGroups(Bandit):
    """An action is the place of its line, from 0; the results of a group are those of its last row."""

    name = "cb_adf"
    config_type = BanditGroupsConfig
    multiline = bare_lines = supports_audit = True
    shares_features = False  # shared lines have some, and nothing is crossed with them

    @property
    def described(self) -> tuple[tuple[str, ...], str, str]:
        stack = super().described[0][:-1]
        return stack, "CB", "ACTION_SCORES"

    def labels(self, log: LogFunction | None = None) -> DecisionLabels:
        return GroupDecisionLabels(log)

    def warnings(self) -> list[str]:
        alone = "features of shared lines are the same for all actions of a decision, and choose none of them"
        said = [f"{alone}: -q :: crosses all namespaces, -q ui those that begin with u and i"]
        return [*(said if self.shares_features and not self.vw_compat else []), *super().warnings()]

    def observe_scores(self, observer: Callable[[int, int, float], None]) -> None:
        """Call it with every score: its row, the place of its set of weights among those of a feature, the score."""
        self.observer = observer

    @property
    def ranks(self) -> bool:
        """Whether all actions are answered, with the costs predicted."""
        return self.config.scores or self.config.rank_all

    @property
    def class_names(self) -> list[str]:  # type: ignore[override]
        return ["policy", "regressor"] if self.config.weight_sets > 1 else []

    def weighted_sums(self, batch: Batch, results: Results, row: int, classes: int | None = None) -> list[WeightedSum]:
        return [WeightedSum(0, "", float(results.raw[row] - np.float32(self.offset)))]

    def answer_of(self, results: Results, row: int) -> float:
        """Of a line the cost predicted."""
        return float(results.raw[row])

    def event(self, batch: Batch, results: Results, row: int) -> tuple[int, np.ndarray, np.ndarray]:
        scores = results.raw[self.first_action(batch, row) : row + 1]
        return 0, scores, (np.arange(len(scores)) == results.prediction[row]).astype(np.float32)

    def ordered(self, batch: Batch, results: Results, row: int) -> list[Shown]:
        first = self.first_action(batch, row)
        return [one._replace(tag=tag_of(batch, first + one.action)) for one in super().ordered(batch, results, row)]

    def decision(
        self, batch: Batch, results: Results, row: int, u: float | None = None
    ) -> tuple[Shown, list[Shown], bytes]:
        return (*super().decision(batch, results, row, u)[:2], tag_of(batch, first_of_group(batch, row)))

    def first_action(self, batch: Batch, last: int) -> int:
        first = first_of_group(batch, last)
        return first + int(bool(batch.flags[first] & SHARED))

    def ranked(self, batch: Batch, results: Results, last: int, raw: bool) -> list[tuple[int, float]]:
        """The actions and costs of the group that ends with the row ``last``, as they are shown: raw ones in order."""
        costs = results.raw[self.first_action(batch, last) : last + 1]
        shown = self.shown(enumerate(costs.tolist()), raw)
        return shown if raw else cheapest_first(shown)

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        """A number for every group, or a list of actions and costs."""
        lasts = rows[batch.flags[rows] & INNER == 0]
        if raw or self.ranks:
            return [self.ranked(batch, results, row, raw) for row in lasts.tolist()]
        return results.prediction[lasts].astype(np.int64)

    def no_answer(self, raw: bool) -> np.ndarray | list[Any]:
        return [[]] if raw or self.ranks else np.array([-1])

    def observed(self, batch: Batch, begin: int, end: int) -> np.ndarray:
        lasts = np.flatnonzero(batch.flags[begin:end] & (BLANK | SAVE | INNER) == 0) + begin
        shown = batch.flags[begin:end] & (BLANK | SAVE) == 0
        known = np.flatnonzero(~np.isnan(batch.probability[begin:end]) & shown) + begin
        return lasts[np.unique(np.searchsorted(lasts, known))]

    def group_lines(self, batch: Batch, results: Results, begin: int, end: int, raw: bool) -> bytes:
        """A line for every group that ends in the rows ``[begin, end)``, to vw with an empty one behind."""
        lasts = np.flatnonzero(batch.flags[begin:end] & (BLANK | SAVE | INNER) == 0) + begin
        return b"".join(self.line(batch, results, row, raw) for row in lasts.tolist())

    def line(self, batch: Batch, results: Results, last: int, raw: bool) -> bytes:
        if raw or self.ranks:
            text = self.ranked_text(self.ranked(batch, results, last, raw))
        else:
            text = f"{results.prediction[last]:.0f}"
        return line_of(text, tag_of(batch, first_of_group(batch, last))) + b"\n" * self.vw_compat

    def ranked_text(self, pairs: list[tuple[int, float]]) -> str:
        if self.vw_compat:
            return ",".join(f"{action}:{decimals(cost, 6)}" for action, cost in pairs)
        return pairs_text(pairs)

    def event_row(self, batch: Batch, row: int) -> int:
        rows = np.arange(first_of_group(batch, row), row + 1)
        known = ~np.isnan(batch.probability[rows])
        return int(rows[known][0]) if known.any() else row

    def action_at(self, batch: Batch, row: int, number: int) -> int:
        return row - self.first_action(batch, row)

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        self.batch, self.plan = batch, plan
        if not (self.shares_features or plan.interactions) and batch.any_flags & SHARED:
            edges = batch.namespace_start[batch.row_namespace[begin : end + 1]].astype(np.int64)
            self.shares_features = bool((np.diff(edges)[batch.flags[begin:end] & SHARED != 0] > 0).any())
        return super().run(batch, plan, results, begin, end)

    def shown_features(self, results: Results, row: int) -> int:
        """Those of the shared line belong to every line, though vw counts them once."""
        first, counted = self.first_action(self.batch, row), super().shown_features(results, row)
        if not (self.vw_compat and first > 0 and self.batch.flags[first - 1] & SHARED):
            return counted
        return counted + (row - first) * self.shared_features(first) - int(self.plan.constant)

    def shared_features(self, first: int) -> int:
        """How many features the shared line above the row ``first`` has in namespaces that are not ignored."""
        begin, end = self.batch.row_namespace[first - 1 : first + 1].tolist()
        filed = self.plan.redefine[self.batch.namespace_char[begin:end]]
        return int(np.diff(self.batch.namespace_start[begin : end + 1])[self.plan.ignore[filed] == 0].sum())

    def best_score(self, results: Results, row: int) -> float:
        return float(results.raw[self.first_action(self.batch, row) + int(results.prediction[row])])


class ExploreGroups(Exploration, BanditGroups):
    """An action is the place of its line, from 0; the results of a group are those of its last row."""

    name = "cb_explore_adf"
    config_type = ExploreGroupsConfig

    @property
    def class_names(self) -> list[str]:  # type: ignore[override]
        return [name.removesuffix("'s") for name in self.set_names] if self.config.weight_sets > 1 else []

    def shown_features(self, results: Results, row: int) -> int:
        counted = int(results.features[row])
        first = self.first_action(self.batch, row)
        if not (self.vw_compat and self.config.explore_eval and self.batch.flags[first - 1] & SHARED and first):
            return counted
        return counted + (row + 1 - first) * self.shared_features(first)

    def label_text(self, batch: Batch, row: int) -> str:
        return "known" if self.config.explore_eval else super().label_text(batch, row)

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        return self.played() if self.config.explore_eval else super().summary_lines(held)

    def played(self) -> list[tuple[str, float | str]]:
        """What vw tells of an explorer played on a log."""
        config, accepted, violations = self.config, self.get("accepted"), self.get("violations")
        lines: list[tuple[str, float | str]] = [("weighted update count", self.get("updates"))]
        if accepted:
            lines.append(("average accepted example weight", self.get("updates") / accepted))
        if violations:
            lines.append(("violation count", f"{violations:.0f}"))
        if config.multiplier is None:
            lines.append(("final multiplier", 1.0 if config.target_rate is not None else self.get("least_ratio")))
        if config.target_rate is not None:
            goal = config.target_rate * self.get("seen")
            lines += [("targeted update count", goal), ("final rate", self.get("least_ratio"))]
        return lines

    def event(self, batch: Batch, results: Results, row: int) -> tuple[int, np.ndarray, np.ndarray]:
        rows = slice(self.first_action(batch, row), row + 1)
        return 0, results.raw[rows], self.pmf[rows]

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        if raw or not self.shows_probabilities:
            return super().answers(batch, results, rows, raw)
        lasts = rows[batch.flags[rows] & INNER == 0]
        return [self.probable(batch, results, row) for row in lasts.tolist()]

    def line(self, batch: Batch, results: Results, last: int, raw: bool) -> bytes:
        if raw or not self.shows_probabilities:
            return super().line(batch, results, last, raw)
        return self.probability_line(batch, results, last, tag_of(batch, first_of_group(batch, last)))
