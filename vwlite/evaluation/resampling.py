"""What chance does to the mean over queries: bootstrap intervals, and a paired test of two models.

Every number is drawn from a generator of its own with the same seed, so that the same data give the same figures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEVEL = 95  # percent
SIGNS = 10_000  # random changes of sign, where no number of rounds was given


class Paired(NamedTuple):
    """The mean difference of two models over queries; ``low`` and ``high`` end its interval; ``p`` is two-sided."""

    difference: float
    low: float
    high: float
    p: float


def interval(values: np.ndarray, weights: np.ndarray, rounds: int) -> tuple[float, float]:
    """The ends of the percentile bootstrap's 95% interval of a weighted mean (Efron and Tibshirani, 1993, chapter 13).

    ``values`` and ``weights`` are float64[n], of the queries that have a value; NaN where there is none.
    """
    if not len(values):
        return float("nan"), float("nan")
    random, means = np.random.default_rng(0), np.empty(rounds)
    for number in range(rounds):
        drawn = random.integers(len(values), size=len(values))
        means[number] = np.average(values[drawn], weights=weights[drawn])
    low, high = np.percentile(means, ((100 - LEVEL) / 2, (100 + LEVEL) / 2))
    return float(low), float(high)


def paired(values: np.ndarray, others: np.ndarray, weights: np.ndarray, rounds: int) -> Paired:
    """Compare two models query by query, float64[n] each; queries that one of them has no value of are left out.

    ``p`` is that of the randomisation test: how often the mean difference is at least as large when each query's
    difference changes its sign at random (Smucker, Allan, Carterette, CIKM 2007).
    """
    both = ~(np.isnan(values) | np.isnan(others))
    differences, weights = (values - others)[both], weights[both]
    if not len(differences):
        return Paired(*[float("nan")] * 4)
    random, shares = np.random.default_rng(0), differences * weights
    found, as_large = abs(shares.sum()), 0
    for _ in range(rounds):
        signs = 2 * random.integers(2, size=len(shares)) - 1
        as_large += abs(float((shares * signs).sum())) >= found * (1 - 1e-12)
    mean = float(shares.sum() / weights.sum())
    return Paired(mean, *interval(differences, weights, rounds), (1 + as_large) / (1 + rounds))
