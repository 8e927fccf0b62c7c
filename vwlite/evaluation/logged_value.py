"""What the policy of a model of ``--cb`` or ``--cb_adf`` costs, from a log that it has not learned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import DataError, UsageError
from vwlite.evaluation import policy_value
from vwlite.evaluation.metric_report import SERIES
from vwlite.evaluation.policy_value import Estimate, Weighted
from vwlite.learners.bandit import Bandit
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

NO_DECISIONS = "there is no logged decision (action:cost:probability) in the data"
COLUMNS = ("cost", "probability", "shown", "best", "cost_of_shown", "cost_of_best", "actions", "chance")
PREDICTS_COSTS = ("mtr", "direct")  # types whose scores are costs
MANY_ERRORS = 4  # standard errors that a mean may be off by chance
LARGE_SHARE = 0.1  # of the sum of weights
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

    def __init__(self, learner: Bandit) -> None:
        learner.want_scores()
        self.learner = learner
        self.parts: list[np.ndarray] = [np.zeros((len(COLUMNS), 0))]

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        rows = self.learner.decisions(batch, results, begin, end)
        self.parts.append(np.array(rows, float).reshape(-1, len(COLUMNS)).T)

    def end(self) -> None:
        for name, column in zip(COLUMNS, np.concatenate(self.parts, axis=1), strict=True):
            setattr(self, name, column)
        if not len(self.cost):
            raise DataError(NO_DECISIONS)

    @property
    def predicts_costs(self) -> bool:
        config = self.learner.config
        return config.cb_type in PREDICTS_COSTS and not config.cover

    def weights(self) -> np.ndarray:
        return self.chance / self.probability

    def terms(self, of: Weighted) -> np.ndarray:
        """Those of ``dr`` or, where no costs are predicted, of ``ips``."""
        if not self.predicts_costs:
            return of.weight * of.cost
        best, shown = (np.clip(one, of.low, of.high) for one in (self.cost_of_best, self.cost_of_shown))
        return best + of.weight * (of.cost - shown)


def value_report(found: Decisions, span: tuple[float, float] | None, against: Decisions | None) -> dict[str, Any]:
    """``span``: that of costs, None: as seen. Raises UsageError where costs are outside of it."""
    of = weighted(found, found.weights(), span)
    report = diagnostics(found, of)
    report["estimates"] = [row("estimate", name, one) for name, one in estimates(found, of).items()]
    report["policies"] = [row("policy", name, one) for name, one in policies(found, span).items()]
    report[SERIES] = series(of)
    if against:
        other = weighted(against, against.weights(), span)
        if not np.array_equal(found.cost, against.cost):
            raise DataError("--against: the two models read other decisions from the same data")
        either = of._replace(weight=np.maximum(of.weight, other.weight))
        difference = policy_value.robust(found.terms(of) - against.terms(other), either)
        report["against"] = [
            row("policy", "other", policy_value.cv(other)),
            row("policy", "difference", difference),
        ]
    if warnings := warnings_of(found, of):
        report["warnings"] = [{"warning": one} for one in warnings]
    return report


def row(what: str, name: str, one: Estimate) -> dict[str, Any]:
    return {what: name, "value": one.value, "low": one.low, "high": one.high}


def series(of: Weighted) -> list[dict[str, float]]:
    """``cv`` and the mean cost of the first decisions of the log, at ``POINTS`` places at most; the last is its end."""
    total, rows = len(of.cost), []
    for count in sorted({math.ceil(total * place / POINTS) for place in range(1, POINTS + 1)}):
        first = policy_value.cv(of._replace(weight=of.weight[:count], cost=of.cost[:count]))
        rows.append({"examples": count, **first._asdict(), "logged": float(of.cost[:count].mean())})
    return rows


def weighted(found: Decisions, weight: np.ndarray, span: tuple[float, float] | None) -> Weighted:
    low, high = span or (float(found.cost.min()), float(found.cost.max()))
    if found.cost.min() < low or found.cost.max() > high:
        raise UsageError(f"--cost_range {low:g},{high:g}: costs are {found.cost.min():g} to {found.cost.max():g}")
    return Weighted(weight, found.cost, low, high, float((1 / found.probability).max()))


def estimates(found: Decisions, of: Weighted) -> dict[str, Estimate]:
    made = {"cv": policy_value.cv(of), "ips": policy_value.ips(of), "snips": policy_value.snips(of)}
    if found.predicts_costs:
        terms, expected = found.terms(of), np.clip(found.cost_of_best, of.low, of.high)
        made["dr"], made["dm"] = policy_value.robust(terms, of), Estimate(float(expected.mean()))
        made["switch"] = policy_value.switch(terms, expected, found.probability, found.actions)
    return made


def policies(found: Decisions, span: tuple[float, float] | None) -> dict[str, Estimate]:
    """What the policy that wrote the log cost, and what simple ones would have."""
    uniform = weighted(found, 1 / (found.actions * found.probability), span)
    return {
        "logged": policy_value.normal(found.cost),
        "uniform": policy_value.cv(uniform),
        "constant": constant(found, span),
    }


def constant(found: Decisions, span: tuple[float, float] | None) -> Estimate:
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
    every = weighted(found, (found.shown == best) / found.probability, span)
    return policy_value.cv(every._replace(weight=every.weight[valued], cost=every.cost[valued]))


def diagnostics(found: Decisions, of: Weighted) -> dict[str, Any]:
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
    }


def warnings_of(found: Decisions, of: Weighted) -> list[str]:
    made = []
    if far_off(of.weight - 1):
        made.append(f"weights are {of.weight.mean():.3g} on average, not 1: are the probabilities right?")
    if far_off(1 / found.probability - found.actions):
        made.append("1 / probability is not the number of actions on average: are the probabilities right?")
    total = float(of.weight.sum())
    if total and of.weight.max() > LARGE_SHARE * total:
        made.append(f"one decision has {of.weight.max() / total:.0%} of all weight")
    if not total:
        made.append("the policy never does what was done: its value is not known")
    return made


def far_off(terms: np.ndarray) -> bool:
    """Whether the mean of terms is other than 0 beyond chance."""
    if len(terms) < 2:
        return False
    return bool(abs(terms.mean()) > MANY_ERRORS * terms.std(ddof=1) / math.sqrt(len(terms)) + 1e-6)
