"""Contextual bandits that explore: the answer to an event is how likely each of its actions is to be shown.

The explorers are those of "A contextual bandit bake-off" (Bietti, Agarwal and Langford 2021) and SquareCB (Foster and
Rakhlin 2020).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from vwlite.data.batch import Batch, tag_of
from vwlite.features.feature_plan import Plan
from vwlite.learners.bandit import NORMS, Bandit, T, decimals
from vwlite.learners.configs.explore import ExploreConfig
from vwlite.learners.multiline import line_of
from vwlite.learners.row_results import Results

OF_EXPLORERS = (
    "learned", "random_high", "random_low", "seen", "ratio_sum", "least_ratio", "updates", "accepted", "violations",
)
OF_POLICIES = ("events", "actions", *NORMS, *(f"regressor_{name}" for name in NORMS))
VW_NAMES = {"epsilon": "greedy"}


def of_policy(number: int) -> list[str]:
    """The scalars of a policy, counted from 1, that is not the first."""
    return [f"{name}_{number}" for name in OF_POLICIES]


class Exploration(Bandit):
    """What explorers have in common. ``pmf`` has the probabilities of the rows run last."""

    def __init__(
        self, config: Any, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        more = [name for policy in range(2, config.policies + 1) for name in of_policy(policy)]
        self.SCALARS = (*Bandit.SCALARS, *OF_EXPLORERS, *more)
        self.pmf = np.zeros(max(config.cb, 1), np.float32)
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.want_scores()

    @staticmethod
    def columns_held(config: Any, learning: bool) -> int:
        return Bandit.columns_held(config, learning or config.bounds)

    @classmethod
    def wanted(cls, header: Mapping[str, Any], learning: bool) -> Collection[str] | None:
        config = header["config"]
        return super().wanted(header, learning or bool(config["regcb"] or config["regcbopt"] or config["elim"]))

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
    def described(self) -> tuple[tuple[str, ...], str, str]:
        stack = list(super().described[0])
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
        shown = [one[:2] for one in self.ordered(batch, results, row)]
        return shown if self.shown_actions is None else shown[: self.shown_actions]

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
        found = super().probable(batch, results, row)
        return found if self.vw_compat or self.shown_actions is not None else sorted(found)

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        if not self.shows_probabilities or raw:
            return super().lines(batch, results, row, raw)
        line = self.probability_line(batch, results, row, tag_of(batch, row))
        return line.decode("utf-8", "surrogateescape").removesuffix("\n")
