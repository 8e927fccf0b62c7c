"""What a policy costs, estimated from decisions that another policy took and logged with their probabilities.

``cv`` is the inverse propensity score with the mean weight as a control variate; its interval is the empirical
likelihood's with the Cressie-Read divergence (Karampatziakis, Langford and Mineiro 2019, "Empirical likelihood for
contextual bandits"). ``dr`` is doubly robust (Dudik, Langford and Li 2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vwlite.errors import UsageError

Z = 1.959963984540054  # the 97.5% point of the normal distribution
RARE = 2  # equal chances that 1 / probability of an action rarely shown is above
FEW = 20  # matched events with another cost than the commonest: a normal interval of fewer is not to be trusted


class Estimate(NamedTuple):
    """A value with the ends of its 95% interval; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


class Weighted(NamedTuple):
    """Logged events: weights (the policy's probability of the action shown over the logged one), costs, the costs'
    range, and the largest weight that an event of this log may have.
    """

    weight: np.ndarray
    cost: np.ndarray
    low: float
    high: float
    largest: float


def normal(terms: np.ndarray) -> Estimate:
    """The mean of terms."""
    n, mean = len(terms), float(terms.mean())
    if n < 2:
        return Estimate(mean)
    half = Z * float(terms.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half)


def ips(of: Weighted) -> Estimate:
    return normal(of.weight * of.cost)


def snips(of: Weighted) -> Estimate:
    total = float(of.weight.sum())
    if not total:
        return Estimate(math.nan)
    value = float((of.weight * of.cost).sum()) / total
    spread = normal(of.weight * (of.cost - value))
    half = (spread.high - spread.low) / 2 * len(of.weight) / total
    return Estimate(value, value - half, value + half)


def cv(of: Weighted) -> Estimate:
    low, high = cressie_read(of)
    terms = of.weight * of.cost
    mean, variance = float(of.weight.mean()), float(of.weight.var())
    slope = float(np.mean((of.weight - mean) * (terms - terms.mean()))) / variance if variance else 0.0
    return Estimate(float(terms.mean()) + (1 - mean) * slope, low, high)


def cressie_read(of: Weighted) -> tuple[float, float]:
    """The ends of the interval of ``cv``."""
    total, n = float(of.weight.sum()), len(of.weight)
    moments = {extra: Moments(of, extra) for extra in (0.0, of.largest)}
    reference = moments[of.largest if total < n else 0.0]
    gap = (n + 1) * reference.distance if reference.variance > 0 else 0.0
    ends = []
    for worst, sign in ((of.low, -1), (of.high, 1)):
        bounds = [end for moment in moments.values() if (end := moment.end(worst, sign, gap)) is not None]
        outer = sign * max((sign * end for end in bounds), default=sign * worst)
        ends.append(min(max(outer, of.low), of.high))
    return ends[0], ends[1]


class Moments:
    """Moments of the events and of an imagined one with the weight ``extra``."""

    def __init__(self, of: Weighted, extra: float) -> None:
        self.of, self.extra = of, extra
        self.weight = np.append(of.weight, extra)
        self.mean, self.variance = float(self.weight.mean()), float(self.weight.var())

    @property
    def distance(self) -> float:
        return (1 - self.mean) ** 2 / self.variance

    def end(self, worst: float, sign: int, gap: float) -> float | None:
        """An end of the interval where the imagined event costs ``worst``; None where this one tells nothing."""
        if not self.variance > 0:
            return None
        n = len(self.weight)
        terms = np.append(self.of.weight * self.of.cost, self.extra * worst)
        covariance = float(np.mean((self.weight - self.mean) * (terms - terms.mean())))
        room = (student(n - 1) ** 2 + gap) / n - self.distance
        if not room > 0:
            return None
        left = max(float(terms.var()) - covariance**2 / self.variance, 0.0)
        middle = float(terms.mean()) + (1 - self.mean) * covariance / self.variance
        return middle + sign * math.sqrt(left * room)


def student(n: int) -> float:
    """The 97.5% point of Student's distribution with ``n`` degrees of freedom, by Fisher's expansion."""
    z = Z
    parts = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(part / n**power for power, part in enumerate(parts, 1))


def switch(terms: np.ndarray, expected: np.ndarray, p: np.ndarray, actions: np.ndarray | int) -> Estimate:
    """The mean of terms of ``dr`` but, of decisions whose action had less than half of an equal chance, of the costs
    ``expected`` (Wang, Agarwal and Dudik 2017, "Optimal and adaptive off-policy evaluation"). It is biased by these.
    """
    return Estimate(float(np.where(1 / p <= RARE * actions, terms, expected).mean()))


def robust(terms: np.ndarray, of: Weighted) -> Estimate:
    """The mean of terms of ``dr``, or of differences of two policies' terms.

    Where few matched events have another cost than most, each end is that with an imagined term beside.
    """
    plain = normal(terms)
    if not few_differ(of):
        return plain
    far = of.largest * (of.high - of.low)
    return Estimate(plain.value, normal(np.append(terms, -far)).low, normal(np.append(terms, far)).high)


def few_differ(of: Weighted) -> bool:
    """Whether too few matched events have another cost than most for a normal interval."""
    matched = of.cost[of.weight > 0]
    _, counts = np.unique(matched, return_counts=True)
    return bool(len(matched) - counts.max(initial=0) < FEW)


def policy_value(
    pi: Any,
    action: Any,
    cost: Any,
    p: Any,
    q: Any = None,
    *,
    against: Any = None,
    cost_range: Sequence[float] | None = None,
) -> dict[str, Estimate]:
    """Estimates, each with the ends of its 95% interval: ``cv``, ``ips``, ``snips`` and, with ``q``, ``dr``, ``dm`` and
    ``switch``, of which the last two, which are biased, have none.

    ``pi``: the probabilities of all actions, a row for each decision, or the actions that the policy shows. Actions
    are the columns, from 0. ``action``, ``cost``, ``p``: what was shown, what it cost, how likely it was. ``q``: the
    costs of all actions that a model predicts. ``against``: another policy, as ``pi``; ``difference`` is then by how
    much this one costs more, by ``dr`` or, without ``q``, by ``ips``. Raises UsageError.
    """
    shown, costs, logged = np.asarray(action), np.asarray(cost, float), np.asarray(p, float)
    n = len(shown)
    if not n or shown.ndim != 1 or costs.shape != (n,) or logged.shape != (n,):
        raise UsageError("action, cost and p have an entry for each decision, one at least")
    if not np.isfinite(costs).all() or not ((logged > 0) & (logged <= 1)).all():
        raise UsageError("costs are finite, and probabilities are above 0 and at most 1")
    shown = shown.astype(np.int64)
    columns = number_of_actions([policy for policy in (pi, against) if policy is not None], shown, q)
    policy = probabilities("pi", pi, shown, columns)
    low, high = cost_range or (float(costs.min()), float(costs.max()))
    if costs.min() < low or costs.max() > high:
        raise UsageError(f"cost_range {low:g},{high:g}: costs are {costs.min():g} to {costs.max():g}")
    rows = np.arange(n)
    of = Weighted(policy[rows, shown] / logged, costs, low, high, float((1 / logged).max()))
    estimates = {"cv": cv(of), "ips": ips(of), "snips": snips(of)}
    predicted = np.zeros(policy.shape) if q is None else np.clip(np.asarray(q, float), low, high)
    if predicted.shape != policy.shape:
        raise UsageError("q has the shape of pi")
    expected = (policy * predicted).sum(axis=1)
    terms = expected + of.weight * (costs - predicted[rows, shown])
    if q is not None:
        estimates["dr"], estimates["dm"] = robust(terms, of), Estimate(float(expected.mean()))
        estimates["switch"] = switch(terms, expected, logged, policy.shape[1])
    if against is not None:
        other = probabilities("against", against, shown, columns)
        weight = other[rows, shown] / logged
        others = (other * predicted).sum(axis=1) + weight * (costs - predicted[rows, shown])
        either = of._replace(weight=np.maximum(of.weight, weight))
        estimates["difference"] = robust(terms - others, either)
    return estimates


def number_of_actions(policies: Sequence[Any], shown: np.ndarray, q: Any) -> int:
    """Count the actions by the columns of ``q`` or of a policy, or by the numbers of actions."""
    tables = [np.shape(table) for table in (q, *policies) if np.ndim(table) == 2]
    if tables:
        return int(tables[0][1])
    return 1 + int(max(np.max(actions) for actions in (shown, *policies) if np.size(actions)))


def probabilities(name: str, policy: Any, shown: np.ndarray, columns: int) -> np.ndarray:
    """Probabilities of all actions, float64[n, columns]; ``name``: name of the argument. Raises UsageError."""
    values, n = np.asarray(policy, float), len(shown)
    if values.ndim == 1 and len(values) == n:
        values = (values[:, None] == np.arange(columns)).astype(float)
    if values.ndim != 2 or len(values) != n or shown.min() < 0 or shown.max() >= values.shape[1]:
        rule = "has a row for each decision and a column for each action, of which action is one, from 0"
        raise UsageError(f"{name} {rule}")
    if values.shape[1] != columns:
        raise UsageError(f"pi, against and q have as many columns: {columns}, not the {values.shape[1]} of {name}")
    if not (values >= 0).all() or not np.allclose(values.sum(axis=1), 1, atol=1e-4):
        raise UsageError(f"the probabilities of {name} are not below 0, and those of a decision sum to 1")
    return values
