"""Scale and offset of scores, so that they predict labels in the order that they have: ``--calibrate``."""

from __future__ import annotations

import numpy as np

from vwlite.errors import DataError
from vwlite.learners.losses import LossConfig

STEPS = 100  # of Newton's method, of which some ten are needed


def scale_and_offset(
    score: np.ndarray, before: np.ndarray, label: np.ndarray, importance: np.ndarray, loss: LossConfig
) -> tuple[float, float]:
    """c and d of least loss of the predictions ``before + c score + d``, all float64[n].

    Squared loss: by least squares; logistic: by Newton's method (Platt, "Probabilistic outputs for support vector
    machines", 1999), labels from 0 to 1. Raises DataError where c is not above 0, so that the order would be lost.
    """
    center, spread = np.average(score, weights=importance), np.std(score)
    scaled = (score - center) / spread if spread > 0 else np.zeros(len(score))
    terms = np.stack([scaled, np.ones(len(score))], axis=1)
    found = least_squares if loss.name == "squared" else logistic
    slope, intercept = found(terms, before, label, importance)
    if not (spread > 0 and slope > 0):
        raise DataError("--calibrate: scores do not rise with the labels, so that no scale keeps their order; drop it")
    return slope / spread, intercept - slope * center / spread


def least_squares(terms: np.ndarray, before: np.ndarray, label: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """float64[2]."""
    weighted = terms * importance[:, None]
    found: np.ndarray = np.linalg.lstsq(weighted.T @ terms, weighted.T @ (label - before), rcond=None)[0]
    return found


def logistic(terms: np.ndarray, before: np.ndarray, label: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """float64[2], with half an example of either class added, so that classes which a score separates have an end."""
    label = np.concatenate((label, [1.0, 0.0]))
    terms, before = np.concatenate((terms, [[0.0, 1.0]] * 2)), np.concatenate((before, [0.0, 0.0]))
    importance, found = np.concatenate((importance, [0.5, 0.5])), np.zeros(2)

    def loss_at(w: np.ndarray) -> float:
        margin = before + terms @ w
        return float(np.sum(importance * (np.logaddexp(0, margin) - label * margin)))

    value = loss_at(found)
    for _ in range(STEPS):
        chance = (1 + np.tanh((before + terms @ found) / 2)) / 2
        gradient = terms.T @ (importance * (chance - label))
        curvature = (terms * (importance * chance * (1 - chance))[:, None]).T @ terms
        step = np.linalg.lstsq(curvature + 1e-12 * np.eye(2), gradient, rcond=None)[0]
        while loss_at(found - step) > value and np.abs(step).max() > 1e-12:
            step = step / 2
        found, before_step = found - step, value
        value = loss_at(found)
        if before_step - value <= 1e-12 * abs(before_step):
            break
    return found
