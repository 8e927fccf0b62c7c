"""Points of curves from labels and predictions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vwlite.evaluation.metrics import Sample

MOST = 400  # points of a curve
BINS = 30  # of histograms


class Histogram(NamedTuple):
    """The shares of each label's weight; ``edges`` float64[BINS + 1]."""

    edges: list[float]
    positive: list[float]
    negative: list[float]


def roc(sample: Sample) -> list[tuple[float, float]]:
    """Share of the negatives and of the positives above each score, from the highest score down; from (0, 0) to (1, 1).

    Rows of equal scores are one step, so the area under straight lines is the metric ``auc``. Empty where a side is.
    """
    _, positive, negative = (column[::-1] for column in sample.by_score)
    if not (positive.any() and negative.any()):
        return []
    across, up = cumulated(negative), cumulated(positive)
    return thinned(across / across[-1], up / up[-1])


def precision_recall(sample: Sample) -> list[tuple[float, float]]:
    """Recall and precision of the rows down to each score, from the highest score down; empty where a side is."""
    _, positive, negative = (column[::-1] for column in sample.by_score)
    if not (positive.any() and negative.any()):
        return []
    found, others = np.cumsum(positive), np.cumsum(negative)
    return thinned(found / found[-1], found / (found + others))


def cumulated(values: np.ndarray) -> np.ndarray:
    return np.concatenate(([0.0], np.cumsum(values)))


def thinned(across: np.ndarray, up: np.ndarray) -> list[tuple[float, float]]:
    """The points, or MOST of them that are evenly far from one another along both axes together; always the ends."""
    if len(across) > MOST:
        way = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(across)) + np.abs(np.diff(up)))))
        kept = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], MOST)).clip(0, len(way) - 1))
        kept = np.unique(np.concatenate(([0], kept, [len(way) - 1])))
        across, up = across[kept], up[kept]
    return list(zip(across.tolist(), up.tolist(), strict=True))


def histogram(sample: Sample) -> Histogram:
    """Of the predictions: of the rows with positive labels, and of the others."""
    values = sample.prediction.astype(np.float64)
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)

    def shares(rows: np.ndarray) -> list[float]:
        heights, _ = np.histogram(values[rows], edges, weights=sample.weight[rows].astype(np.float64))
        return (heights / max(float(heights.sum()), 1e-300)).tolist()

    return Histogram(edges.tolist(), shares(sample.positive), shares(~sample.positive))
