"""The constant of least average loss, to compare a run's loss with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from vwlite._native.loss_functions import evaluate, value
from vwlite.learners.losses import LossConfig

GRID = 64  # quantiles of the labels among which the search for the best constant begins
GOLDEN = (math.sqrt(5) - 1) / 2
ROUNDING = 1e-5  # of sums of float32 losses
PRECISION = 1e-7  # of the constant, as a share of the range of labels


def loses_to_constant(loss: float, least: float) -> bool:
    """Whether an average loss is larger than that of the best constant, by more than sums are rounded."""
    return loss > least * (1 + ROUNDING) + ROUNDING


class LabelSummary(NamedTuple):
    """The summary of the labels of a run."""

    first: float | None  # first label seen
    second: float | None  # first label seen that differs from it
    more: bool  # whether a third distinct label was seen
    weighted_labels: float  # sum of importance * label
    labeled_weight: float  # sum of importance over labelled examples

    @property
    def two_classes(self) -> bool:
        """Whether the labels are -1 and 1, or 0 and 1, both of which were seen."""
        return not self.more and {self.first, self.second} in ({-1.0, 1.0}, {0.0, 1.0})


def best_constant(
    config: LossConfig, labels: LabelSummary, label_range: tuple[float, float]
) -> tuple[float | None, float | None]:
    """The constant of least average loss and that loss, each None where unknown.

    As Vowpal Wabbit computes them: only squared and classic know the constant of more than two
    distinct labels, and then not its loss; poisson and expectile never know it; a single distinct
    label is paired with 0. ``label_range`` is the run's final one. All in float32.
    """
    if labels.first is None:
        return None, None
    with np.errstate(all="ignore"):
        pair = sorted((np.float32(labels.first), np.float32(labels.second or 0)))
        if pair[0] == pair[1]:
            return None, None
        above = np.float32(labels.weighted_labels - float(pair[1]) * labels.labeled_weight)
        low_weight = above / (pair[0] - pair[1])
        weights = low_weight, np.float32(labels.labeled_weight) - low_weight
        if not sum(weights) > 0:
            return None, None
        constant = best_of_two(config, labels, pair, weights)
        if constant is None or labels.more:
            return constant, None
        return constant, mean_loss(config, config.params(label_range), pair, weights, constant)


def best_log_odds(config: LossConfig, labels: LabelSummary) -> tuple[float, float] | None:
    """The constant of least logistic loss and that loss, for any labels between limits; None where they are all at one.

    The loss is linear in the label, so that only the mean matters.
    """
    if not labels.labeled_weight > 0:
        return None
    low, high = config.logistic_min, config.logistic_max
    share = (labels.weighted_labels / labels.labeled_weight - low) / (high - low)
    if not 0 < share < 1:
        return None
    odds = math.log(share / (1 - share))
    return odds, -share * math.log(share) - (1 - share) * math.log(1 - share)


def fitted_constant(config: LossConfig, label: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """The constant prediction, before the link, of least average loss over float32[n] labels, and that loss.

    The mean and the log odds where these are the best, else by golden-section search, around the best quantile of the
    labels and between the least and the greatest: the best there is of convex losses, a good one of others. ``weight``
    float32[n], above 0.
    """
    values, place = np.unique(label, return_inverse=True)
    mass = np.bincount(place, weight)
    mass /= mass.sum()
    mean, low, high = float(values @ mass), float(values[0]), float(values[-1])
    if config.name == "logistic":
        share = (mean - config.logistic_min) / (config.logistic_max - config.logistic_min)
        inner = [one for one in (share, 1 - share) if 0 < one < 1]
        odds = math.log(share / (1 - share)) if len(inner) == 2 else math.copysign(math.inf, share - 0.5)
        return odds, -sum(one * math.log(one) for one in inner)
    params = config.params((low, high))

    def loss(constant: float) -> float:
        return float(constant_loss(config, params, constant, values) @ mass)

    if config.name in ("squared", "classic"):
        return mean, loss(mean)
    if config.loss.two_classes or config.name == "poisson":
        low, high = config.loss.initial_range if config.loss.initial_range[0] == -50 else (-1.0, 1.0)
        grid = np.linspace(low, high, GRID)
    else:
        places = np.searchsorted(mass.cumsum(), np.linspace(0, 1, GRID))
        grid = np.unique(values[np.minimum(places, len(values) - 1)])
    at = min(range(len(grid)), key=lambda place: loss(grid[place]))
    best, around = float(grid[at]), (float(grid[max(at - 1, 0)]), float(grid[min(at + 1, len(grid) - 1)]))
    # Labels that differ by rounding only may hide on which side of them the loss falls: so the whole range, too.
    brackets = (around, (float(grid[0]), float(grid[-1])))
    return min((least(loss, best, *bracket) for bracket in brackets), key=lambda one: one[1])


def constant_loss(config: LossConfig, params: np.ndarray, constant: float, label: np.ndarray) -> np.ndarray:
    """float32[n], the losses of one prediction, before the link, for labels float32[n]."""
    return evaluate(config.loss.code, params, np.full(len(label), constant, np.float32), label)[0]


def average_loss(config: LossConfig, constant: float, label: np.ndarray, weight: np.ndarray) -> float:
    """The average loss of a constant prediction, before the link, for labels float32[n] of importance ``weight``."""
    params = config.params((float(label.min()), float(label.max())))
    return float(np.average(constant_loss(config, params, constant, label), weights=weight))


def least(loss: Callable[[float], float], best: float, low: float, high: float) -> tuple[float, float]:
    """Where ``loss`` is least between ``low`` and ``high``, by golden-section search, or at ``best``, and that loss."""
    best_so_far, width = (best, loss(best)), high - low
    while high - low > PRECISION * width:
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        sides = (left, loss(left)), (right, loss(right))
        low, high = (low, right) if sides[0][1] <= sides[1][1] else (left, high)
        best_so_far = min(best_so_far, *sides, key=lambda one: one[1])
    return best_so_far


def best_of_two(
    config: LossConfig, labels: LabelSummary, pair: Sequence[np.float32], weights: Sequence[np.float32]
) -> float | None:
    """The constant of least loss when the labels ``pair`` weigh ``weights``."""
    if config.name in ("squared", "classic"):
        return float(np.float32(labels.weighted_labels / labels.labeled_weight))
    if labels.more:
        return None
    low, high = weights
    if config.name == "hinge":
        return -1.0 if high <= low else 1.0
    if config.name == "logistic":
        if low <= 0 or high <= 0:
            return 1.0 if low <= 0 else -1.0
        odds = high / low
        return float(np.float32(math.log(odds))) if odds else -math.inf
    if config.name == "quantile":
        return float(pair[int(np.float32(config.quantile_tau) * (low + high) < high)])
    return None


def mean_loss(
    config: LossConfig, params: np.ndarray, pair: Sequence[np.float32], weights: Sequence[np.float32], constant: float
) -> float:
    """The weighted mean loss of predicting ``constant`` for the two labels."""
    total = np.float32(0)
    for weight, label in zip(weights, (-1, 1) if config.name == "logistic" else pair, strict=True):
        if weight > 0:
            total += weight * np.float32(value(config.loss.code, params, constant, label))
    return float(total / sum(weights))
