"""What the policy of a model of ``--cb`` or ``--cb_adf`` costs, from a log that it has not learned."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.data.config import BadLinesConfig
from vwlite.errors import DataError, UsageError
from vwlite.evaluation import policy_value
from vwlite.evaluation.evaluate import Opened
from vwlite.evaluation.metric_table import SERIES
from vwlite.evaluation.policy_value import Estimate, Weighted
from vwlite.learners.abilities import LoggedDecisions
from vwlite.learners.bandit import Bandit
from vwlite.learners.base import collect_non_finite, want_scores
from vwlite.learners.configs.bandit import BanditConfig, BanditGroupsConfig
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener, Run
from vwlite.training.model_loader import begin_learner

NO_DECISIONS = "there is no logged decision (action:cost:probability) in the data"
COLUMNS = ("cost", "probability", "shown", "best", "cost_of_shown", "cost_of_best", "actions", "chance")
PREDICTS_COSTS = ("mtr", "direct")  # types whose scores are costs
OTHER_DECISIONS = "the two models read other decisions from the same data"
Costs = deque[np.ndarray]  # predicted, of all actions of each decision with a cost, in order
MANY_ERRORS = 4  # standard errors that a mean may be off by chance
LARGE_SHARE = 0.1  # of the sum of weights
LIKELIHOOD, NORMAL, WIDENED = "likelihood", "normal", "widened"  # kinds of intervals
POINTS = 64  # of the series over the log


class Decisions(Listener):
    """Collects the decisions with a cost, and what the learner would have done; float64[n] each."""

    cost: np.ndarray
    probability: np.ndarray
    shown: np.ndarray
    best: np.ndarray
    cost_of_shown: np.ndarray
    cost_of_best: np.ndarray
    actions: np.ndarray
    chance: np.ndarray  # how likely the policy shows what was shown

    def __init__(self, learner: Bandit, cost_model: str, costs: Costs, doubts: list[str]) -> None:
        """``cost_model``: what predicts ``costs``; the learner itself where it is "policy", none where it is empty.
        ``doubts``: sentences about the value.
        """
        want_scores(learner)
        self.learner, self.cost_model, self.costs, self.doubts = learner, cost_model, costs, doubts
        self.parts: list[np.ndarray] = [np.zeros((len(COLUMNS), 0))]

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        costs = None if self.cost_model in ("", POLICY) else self.next_costs
        rows = self.learner.decisions(batch, results, begin, end, costs)
        self.parts.append(np.array(rows, float).reshape(-1, len(COLUMNS)).T)

    def next_costs(self) -> np.ndarray:
        if not self.costs:
            raise DataError(f"--regressor: {OTHER_DECISIONS}")
        return self.costs.popleft()

    def end(self) -> None:
        if self.costs:
            raise DataError(f"--regressor: {OTHER_DECISIONS}")
        for name, column in zip(COLUMNS, np.concatenate(self.parts, axis=1), strict=True):
            setattr(self, name, column)
        if not len(self.cost):
            raise DataError(NO_DECISIONS)

    def weights(self) -> np.ndarray:
        return self.chance / self.probability

    def terms(self, of: Weighted) -> np.ndarray:
        """The terms of ``dr`` or, where no costs are predicted, of ``ips``."""
        if not self.cost_model:
            return of.weight * of.cost
        best, shown = (np.clip(cost, of.low, of.high) for cost in (self.cost_of_best, self.cost_of_shown))
        return best + of.weight * (of.cost - shown)


def predicts_costs(learner: Bandit) -> bool:
    return learner.config.cb_type in PREDICTS_COSTS and not learner.config.cover


class CostsOfActions(Listener):
    """Collects what a learner predicts of the actions of decisions with a cost."""

    def __init__(self, learner: Bandit, costs: Costs) -> None:
        want_scores(learner)
        self.learner, self.costs = learner, costs

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        for row in self.learner.observed(batch, begin, end).tolist():
            self.costs.append(self.learner.event(batch, results, row)[1].copy())


class Folds(Listener):
    """Two models of costs, each of which learns every other decision; then they predict those that they have not."""

    def __init__(self, config: BanditConfig | BanditGroupsConfig, opened: Opened, costs: Costs) -> None:
        how = replace(opened.config, learner=config, learning=True)
        self.pair = [begin_learner(how, None)[0] for _ in range(2)]
        self.results, self.costs = [Results() for _ in self.pair], costs
        self.prepare(learning=True)

    def prepare(self, learning: bool) -> None:
        self.learning = learning
        for learner in self.pair:
            want_scores(learner)
            collect_non_finite(learner)

    def begin(self, run: Run) -> None:
        self.plan, self.count = run.plan, 0

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        rows = self.pair[0].observed(batch, begin, end)
        fold = (self.count + np.arange(len(rows))) % 2
        self.count += len(rows)
        for number, (learner, own) in enumerate(zip(self.pair, self.results, strict=True)):
            if len(own) < len(batch):
                own.reserve(len(batch))
            own.hold_out(rows[fold != number])
            learner.run(batch, self.plan, own, begin, end)
        for row, other in zip(rows.tolist(), (1 - fold).tolist(), strict=True) if not self.learning else ():
            self.costs.append(self.pair[other].event(batch, self.results[other], row)[1].copy())

    def end(self) -> None:
        """End the pass; the next one predicts."""
        self.pair = [learner.tester() for learner in self.pair]
        self.prepare(learning=False)


class Reading(NamedTuple):
    """How a log is read to value policies. ``read``: ``evaluate`` with arguments; ``span``: of costs, None: as seen.

    ``folds``: whether a policy that predicts no costs is given a model of them, where the data can be read twice.
    """

    bad_lines: BadLinesConfig | None
    read: Callable[..., object]
    span: tuple[float, float] | None
    regressor: Opened | None
    folds: bool

    def once_more(self, opened: Opened, collector: Listener) -> None:
        """Read the data without a word; of malformed lines the reading for the policy tells."""
        how = {"collectors": [collector], "quiet": True, "display": None}
        self.read(opened.config, opened.model, BadLinesConfig(max_ratio=1.0), **how)


POLICY, FOLDS = "policy", "two folds"  # models of costs


def measure_policy(opened: Opened, against: Opened | None, reading: Reading) -> JsonObject:
    """Measure the cost of a policy by all estimates, and its difference to the policy ``against``."""
    decisions, other = decisions_of(opened, reading, quiet=False), None
    if against:
        if not isinstance(against.model.learner, LoggedDecisions):
            raise UsageError("--against takes another model of --cb or --cb_adf here")
        other = decisions_of(against, reading, quiet=True)
    return value_report(decisions, reading.span, other)


def decisions_of(opened: Opened, reading: Reading, *, quiet: bool) -> Decisions:
    """The decisions of the policy, and the predictions of a model of costs that has not learned them."""
    learner, costs, before, cost_model = opened.model.learner, Costs(), [], ""
    doubts = [f"{path}: a policy looks better than it is by decisions that it has learned" for path in opened.learned]
    if reading.regressor:
        cost_model = "regressor"
        reading.once_more(reading.regressor, CostsOfActions(check_regressor(reading.regressor), costs))
    elif predicts_costs(learner) and not opened.learned:
        cost_model = POLICY
    elif reading.folds and all(map(os.path.isfile, opened.config.input.paths)):
        kind = BanditGroupsConfig(cb_adf=True) if learner.config.multiline else BanditConfig(cb=learner.config.cb)
        cost_model = FOLDS
        before = [Folds(replace(kind, cb_type="direct", cost_offset=learner.config.cost_offset), opened, costs)]
        reading.once_more(opened, before[0])
    elif reading.folds:
        doubts.append("there is no dr, whose model of costs needs data that can be read twice: give a file")
    decisions = Decisions(learner, cost_model, costs, doubts)
    how = {"quiet": True} if quiet else {}
    bad_lines = replace(reading.bad_lines or BadLinesConfig(), keep=None) if quiet else reading.bad_lines
    reading.read(opened.config, opened.model, bad_lines, collectors=[*before, decisions], **how)
    return decisions


def check_regressor(regressor: Opened) -> Bandit:
    """Raises UsageError for a model that predicts no costs, or has learned the decisions that are valued."""
    learner = regressor.model.learner
    if not (isinstance(learner, LoggedDecisions) and predicts_costs(learner)):
        raise UsageError("--regressor takes a model of costs: one of --cb or --cb_adf with --cb_type mtr or direct")
    if regressor.learned:
        raise UsageError(f"--regressor takes a model that has not learned the data: {regressor.learned[0]}")
    return learner


def value_report(found: Decisions, span: tuple[float, float] | None, against: Decisions | None) -> JsonObject:
    """``span``: that of costs, None: as seen. Raises UsageError where costs are outside of it."""
    of = weigh_decisions(found, found.weights(), span)
    report = diagnostics(found, of)
    kinds = {"ips": NORMAL, "snips": NORMAL, "dr": kind_of_robust(of), "logged": NORMAL}
    found_estimates = estimates(found, of).items()
    report["estimates"] = [estimate_row("estimate", name, estimate, kinds) for name, estimate in found_estimates]
    report["policies"] = [estimate_row("policy", name, policy, kinds) for name, policy in policies(found, span).items()]
    report[SERIES] = series(of)
    if against:
        other = weigh_decisions(against, against.weights(), span)
        if not np.array_equal(found.cost, against.cost):
            raise DataError(f"--against: {OTHER_DECISIONS}")
        either = of._replace(weight=np.maximum(of.weight, other.weight))
        difference = policy_value.robust(found.terms(of) - against.terms(other), either)
        report["against"] = [
            estimate_row("policy", "other", policy_value.cv(other), {}),
            estimate_row("policy", "difference", difference, {"difference": kind_of_robust(either)}),
        ]
    if warnings := [*found.doubts, *warnings_of(found, of)]:
        report["warnings"] = [{"warning": warning} for warning in warnings]
    return report


def estimate_row(what: str, name: str, estimate: Estimate, kinds: Mapping[str, str]) -> dict[str, str | float | None]:
    """``kinds``: of intervals, where they are not those of ``cv``; there is none without ends."""
    kind = None if math.isnan(estimate.low) else kinds.get(name, LIKELIHOOD)
    return {what: name, "value": estimate.value, "low": estimate.low, "high": estimate.high, "interval": kind}


def kind_of_robust(of: Weighted) -> str:
    return WIDENED if policy_value.few_differ(of) else NORMAL


def series(of: Weighted) -> list[dict[str, float]]:
    """``cv`` and the mean cost of the first decisions of the log, at ``POINTS`` places at most; the last is its end."""
    total, rows = len(of.cost), []
    for count in sorted({math.ceil(total * place / POINTS) for place in range(1, POINTS + 1)}):
        first = policy_value.cv(of._replace(weight=of.weight[:count], cost=of.cost[:count]))
        rows.append({"examples": count, **first._asdict(), "logged": float(of.cost[:count].mean())})
    return rows


def weigh_decisions(found: Decisions, weight: np.ndarray, span: tuple[float, float] | None) -> Weighted:
    low, high = span or (float(found.cost.min()), float(found.cost.max()))
    if found.cost.min() < low or found.cost.max() > high:
        raise UsageError(f"--cost_range {low:g},{high:g}: costs are {found.cost.min():g} to {found.cost.max():g}")
    return Weighted(weight, found.cost, low, high, float((1 / found.probability).max()))


def estimates(found: Decisions, of: Weighted) -> dict[str, Estimate]:
    named = {"cv": policy_value.cv(of), "ips": policy_value.ips(of), "snips": policy_value.snips(of)}
    if found.cost_model:
        terms, expected = found.terms(of), np.clip(found.cost_of_best, of.low, of.high)
        named["dr"], named["dm"] = policy_value.robust(terms, of), Estimate(float(expected.mean()))
        named["switch"] = policy_value.switch(terms, expected, found.probability, found.actions)
    return named


def policies(found: Decisions, span: tuple[float, float] | None) -> dict[str, Estimate]:
    """The costs of the policy that wrote the log, and of simple policies."""
    uniform = weigh_decisions(found, 1 / (found.actions * found.probability), span)
    return {
        "logged": policy_value.normal(found.cost),
        "uniform": policy_value.cv(uniform),
        "constant": value_of_constant(found, span),
    }


def value_of_constant(found: Decisions, span: tuple[float, float] | None) -> Estimate:
    """The best action for all: chosen by every second event, valued by the others."""
    chosen, valued = (np.arange(len(found.cost)) % 2 == half for half in (0, 1))
    if not valued.any():
        return Estimate(math.nan)
    costs = {
        action: float(np.average(found.cost[mine], weights=1 / found.probability[mine]))
        for action in np.unique(found.shown).tolist()
        if (mine := chosen & (found.shown == action)).any()
    }
    best = min(costs, key=lambda action: costs[action])
    every = weigh_decisions(found, (found.shown == best) / found.probability, span)
    return policy_value.cv(every._replace(weight=every.weight[valued], cost=every.cost[valued]))


def diagnostics(found: Decisions, of: Weighted) -> JsonObject:
    weight, inverse = of.weight, 1 / found.probability
    total = float(weight.sum())
    return {
        "examples": len(weight),
        "matched": int((weight > 0).sum()),
        "effective_examples": total**2 / float((weight**2).sum()) if total else 0.0,
        "mean_weight": float(weight.mean()),
        "mean_inverse_probability": float(inverse.mean()),
        "mean_actions": float(found.actions.mean()),
        "rarely_shown": float((inverse > policy_value.RARE * found.actions).mean()),
        "largest_share": float(weight.max()) / total if total else math.nan,
        "cost_model": found.cost_model or "none",
    }


def warnings_of(found: Decisions, of: Weighted) -> list[str]:
    sentences = []
    if is_far_from_zero(of.weight - 1):
        sentences.append(f"weights are {of.weight.mean():.3g} on average, not 1: are the probabilities right?")
    if is_far_from_zero(1 / found.probability - found.actions):
        sentences.append("1 / probability is not the number of actions on average: are the probabilities right?")
    total = float(of.weight.sum())
    if total and of.weight.max() > LARGE_SHARE * total:
        sentences.append(f"one decision has {of.weight.max() / total:.0%} of all weight")
    if not total:
        sentences.append("the policy never does what was done: its value is not known")
    return sentences


def is_far_from_zero(terms: np.ndarray) -> bool:
    """Whether the mean of terms is other than 0 beyond chance."""
    if len(terms) < 2:
        return False
    return bool(abs(terms.mean()) > MANY_ERRORS * terms.std(ddof=1) / math.sqrt(len(terms)) + 1e-6)
