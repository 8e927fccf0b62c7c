"""Contextual bandits whose actions are the lines of a group, and those of both kinds that explore.

The answer of an explorer to an event is how likely each of its actions is to be shown. The explorers are those of "A
contextual bandit bake-off" (Bietti, Agarwal and Langford 2021) and SquareCB (Foster and Rakhlin 2020).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from vwlite.data.batch import INNER, SHARED, Batch, first_of_group, tag_of
from vwlite.data.class_labels import LogFunction
from vwlite.data.logged_decisions import DecisionLabels, GroupDecisionLabels
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import GroupsOfLines
from vwlite.learners.bandit import NORMS, Bandit, Shown, T, cheapest_first, decimals, pairs_text
from vwlite.learners.configs.bandit import BanditGroupsConfig
from vwlite.learners.configs.explore import ExploreConfig, ExploreGroupsConfig
from vwlite.learners.multiline import line_of
from vwlite.learners.row_results import Results, WeightedSum

OF_EXPLORERS = (
    "learned", "random_high", "random_low", "seen", "ratio_sum", "least_ratio", "updates", "accepted", "violations",
)
OF_POLICIES = ("events", "actions", *NORMS, *(f"regressor_{name}" for name in NORMS))
VW_NAMES = {"epsilon": "greedy"}


def of_policy(number: int) -> list[str]:
    """The scalars of a policy, counted from 1, that is not the first."""
    return [f"{name}_{number}" for name in OF_POLICIES]


class Exploration(Bandit):
    """The base class of explorers. ``pmf`` has the probabilities of the rows run last."""

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        more = [name for policy in range(2, config.policies + 1) for name in of_policy(policy)]
        self.SCALARS = (*Bandit.SCALARS, *OF_EXPLORERS, *more)
        self.pmf = np.zeros(max(config.cb, 1), np.float32)
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.want_scores()

    @staticmethod
    def column_count(config: Any, learning: bool) -> int:
        return Bandit.column_count(config, learning or config.bounds)

    @classmethod
    def needed_arrays(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        config = header["config"]
        return super().needed_arrays(header, learning or bool(config["regcb"] or config["regcbopt"] or config["elim"]))

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        super().load(arrays, scalars, whole)
        self.set(**{name: float(scalars[name]) for name in NORMS})
        if self.vw_compat:
            more = [name for policy in range(2, self.config.policies + 1) for name in of_policy(policy)]
            self.set(**{name: float("multiplier" in name) for name in more})  # vw keeps those of the first policy

    def set_scalars(self) -> None:
        super().set_scalars()
        self.set(**{name: 1.0 for name in self.SCALARS if "multiplier" in name}, least_ratio=1.0)
        if self.vw_compat:
            seed = self.config.random_seed % 2**64
            self.set(random_high=seed >> 32, random_low=seed % 2**32)

    @property
    def set_names(self) -> list[str]:
        config = self.config
        if config.cover:
            return ["policy's", "regressor's", *(f"policy {number}'s" for number in range(2, config.cover + 1))]
        first = super().set_names
        return [*first, *(f"{name} {n}" for n in range(2, config.policies + 1) for name in first)]

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        stack = list(super().description[0])
        name = f"cb_explore_adf_{VW_NAMES.get(self.config.explorer, self.config.explorer)}"
        stack.insert(stack.index("cb_adf") + 1, name)
        return tuple(stack), "CB", "ACTION_PROBS"

    def tester(self, **changes: Any) -> Bandit:
        other = super().tester(**changes)
        other.pmf, other.wants_scores = np.zeros_like(self.pmf), True
        return other

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        need = len(results) * max(self.config.cb, 1)
        if len(self.pmf) < need:
            self.pmf = np.zeros(need, np.float32)
        return super().run(batch, plan, results, begin, end)

    def event(self, batch: Batch, results: Results, row: int) -> tuple[int, np.ndarray, np.ndarray]:
        """The number of the first action, and the scores and probabilities of all, of the event of ``row``."""
        actions = self.config.cb
        return int(not self.vw_compat), self.scores[row], self.pmf[row * actions : (row + 1) * actions]

    def order(self, scores: np.ndarray, pmf: np.ndarray) -> np.ndarray:
        if self.config.bag:
            return np.lexsort((scores, -pmf))
        return np.argsort(-pmf, kind="stable") if self.config.cover else super().order(scores, pmf)

    def probable(self, batch: Batch, results: Results, row: int) -> list[tuple[int, float]]:
        probabilities = [one[:2] for one in self.ordered(batch, results, row)]
        return probabilities if self.shown_actions is None else probabilities[: self.shown_actions]

    def shown(self, pairs: Iterable[tuple[T, Any]], raw: bool) -> list[tuple[T, Any]]:
        if raw or not self.shows_probabilities or self.shown_actions is None:
            return super().shown(pairs, raw)
        return sorted(pairs, key=lambda pair: -pair[1])[: self.shown_actions]

    @property
    def shows_probabilities(self) -> bool:
        return self.vw_compat or self.config.probabilities

    def no_answer(self, raw: bool) -> np.ndarray | list[Any]:
        return [[]] if self.shows_probabilities and not raw else super().no_answer(raw)

    def probability_line(self, batch: Batch, results: Results, row: int, tag: bytes) -> bytes:
        pairs = self.probable(batch, results, row)
        if self.vw_compat:
            text = ",".join(f"{action}:{decimals(p, 6)}" for action, p in pairs)
        else:
            text = " ".join(f"{action}:{p:g}" for action, p in pairs)
        return line_of(text, tag) + b"\n" * self.vw_compat

    def prediction_text(self, results: Results, row: int) -> str:
        if not self.vw_compat:
            return super().prediction_text(results, row)
        first = self.ordered(self.batch, results, row)[0]
        return f"{first.action}:{decimals(first.probability, 2)}"


class Explore(Exploration):
    """The same actions for every row."""

    name = "cb_explore"
    config_type = ExploreConfig

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        self.batch = batch
        return super().run(batch, plan, results, begin, end)

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        if self.shows_probabilities and not raw:
            return self.pmf[: len(results) * self.config.cb].reshape(-1, self.config.cb)[rows]
        return super().answers(batch, results, rows, raw)

    def no_answer(self, raw: bool) -> np.ndarray | list[Any]:
        if self.shows_probabilities and not raw:
            return np.full((1, self.config.cb), np.nan, np.float32)
        return super().no_answer(raw)

    def probable(self, batch: Batch, results: Results, row: int) -> list[tuple[int, float]]:
        """Where not some are asked for, all in their order."""
        actions = super().probable(batch, results, row)
        return actions if self.vw_compat or self.shown_actions is not None else sorted(actions)

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        if not self.shows_probabilities or raw:
            return super().lines(batch, results, row, raw)
        line = self.probability_line(batch, results, row, tag_of(batch, row))
        return line.decode("utf-8", "surrogateescape").removesuffix("\n")


class BanditGroups(Bandit, GroupsOfLines):
    """An action is the place of its line, from 0; the results of a group are those of its last row."""

    name = "cb_adf"
    config_type = BanditGroupsConfig
    shares_features = False  # shared lines have some, and nothing is crossed with them

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        stack = super().description[0][:-1]
        return stack, "CB", "ACTION_SCORES"

    def labels(self, log: LogFunction | None = None) -> DecisionLabels:
        return GroupDecisionLabels(log)

    def warnings(self) -> list[str]:
        alone = "features of shared lines are the same for all actions of a decision, and choose none of them"
        warnings = [f"{alone}: -q :: crosses all namespaces, -q ui those that begin with u and i"]
        return [*(warnings if self.shares_features and not self.vw_compat else []), *super().warnings()]

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
        """The predicted cost of a line."""
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
        scores = self.shown(enumerate(costs.tolist()), raw)
        return scores if raw else cheapest_first(scores)

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        """A number for every group, or a list of actions and costs."""
        lasts = rows[batch.flags[rows] & INNER == 0]
        if raw or self.ranks:
            return [self.ranked(batch, results, row, raw) for row in lasts.tolist()]
        return results.prediction[lasts].astype(np.int64)

    def no_answer(self, raw: bool) -> np.ndarray | list[Any]:
        return [[]] if raw or self.ranks else np.array([-1])

    def observed(self, batch: Batch, begin: int, end: int) -> np.ndarray:
        lasts = batch.example_rows(begin, end, without=INNER)
        present = batch.is_example[begin:end]
        known = np.flatnonzero(~np.isnan(batch.probability[begin:end]) & present) + begin
        return lasts[np.unique(np.searchsorted(lasts, known))]

    def group_lines(self, batch: Batch, results: Results, begin: int, end: int, raw: bool) -> bytes:
        """A line for every group that ends in the rows ``[begin, end)``, to vw with an empty one behind."""
        lasts = batch.example_rows(begin, end, without=INNER)
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
        """The number of features; those of the shared line belong to every line, though vw counts them once."""
        first, counted = self.first_action(self.batch, row), super().shown_features(results, row)
        if not (self.vw_compat and first > 0 and self.batch.flags[first - 1] & SHARED):
            return counted
        return counted + (row - first) * self.shared_features(first) - int(self.plan.constant)

    def shared_features(self, first: int) -> int:
        """The number of features that the shared line above the row ``first`` has in namespaces that are not
        ignored."""
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
        """The lines of vw's summary for an explorer played on a log."""
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
