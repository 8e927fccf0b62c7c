"""``policy_value``: what a policy costs, from decisions logged with their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vwlite.errors import UsageError
from vwlite.evaluation import policy_value as estimators
from vwlite.evaluation.policy_value import Estimate, Weighted


def policy_value(
    pi: Any, action: Any, cost: Any, p: Any, q: Any = None, *, cost_range: Sequence[float] | None = None
) -> dict[str, Estimate]:
    """Estimates, each with the ends of its 95% interval: ``cv``, ``ips``, ``snips`` and, with ``q``, ``dr`` and ``dm``.

    ``pi``: the probabilities of all actions, a row for each decision, or the actions that the policy shows. Actions
    are the columns, from 0. ``action``, ``cost``, ``p``: what was shown, what it cost, how likely it was. ``q``: the
    costs of all actions that a model predicts. Raises UsageError.
    """
    shown, costs, logged = np.asarray(action), np.asarray(cost, float), np.asarray(p, float)
    n = len(shown)
    if not n or shown.ndim != 1 or costs.shape != (n,) or logged.shape != (n,):
        raise UsageError("action, cost and p have an entry for each decision, one at least")
    if not np.isfinite(costs).all() or not ((logged > 0) & (logged <= 1)).all():
        raise UsageError("costs are finite, and probabilities are above 0 and at most 1")
    shown = shown.astype(np.int64)
    policy = np.asarray(pi, float)
    if policy.ndim == 1 and len(policy) == n:
        columns = 1 + int(max(policy.max(), shown.max())) if q is None else np.shape(q)[1]
        policy = (policy[:, None] == np.arange(columns)).astype(float)
    if policy.ndim != 2 or len(policy) != n or shown.min() < 0 or shown.max() >= policy.shape[1]:
        raise UsageError("pi has a row for each decision and a column for each action, of which action is one, from 0")
    if not (policy >= 0).all() or not np.allclose(policy.sum(axis=1), 1, atol=1e-4):
        raise UsageError("the probabilities of pi are not below 0, and those of a decision sum to 1")
    low, high = cost_range or (float(costs.min()), float(costs.max()))
    if costs.min() < low or costs.max() > high:
        raise UsageError(f"cost_range {low:g},{high:g}: costs are {costs.min():g} to {costs.max():g}")
    rows = np.arange(n)
    of = Weighted(policy[rows, shown] / logged, costs, low, high, float((1 / logged).max()))
    found = {"cv": estimators.cv(of), "ips": estimators.ips(of), "snips": estimators.snips(of)}
    if q is None:
        return found
    predicted = np.clip(np.asarray(q, float), low, high)
    if predicted.shape != policy.shape:
        raise UsageError("q has the shape of pi")
    expected = (policy * predicted).sum(axis=1)
    found["dr"] = estimators.robust(expected + of.weight * (costs - predicted[rows, shown]), of)
    found["dm"] = Estimate(float(expected.mean()))
    return found
