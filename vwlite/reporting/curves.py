"""Points of curves from labels and predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vwlite.evaluation.metrics import Sample
from vwlite.reporting.svg import Axis

MOST = 400  # points of a curve
BINS = 30  # of histograms


Z = 1.959964  # of 95%


def wilson(share: float, count: float) -> tuple[float, float]:
    """The ends of the 95% interval of a share that was seen in ``count`` trials (Wilson, 1927)."""
    if not count > 0:
        return 0.0, 1.0
    middle, spread = share + Z * Z / (2 * count), Z * math.sqrt(share * (1 - share) / count + (Z / count) ** 2 / 4)
    whole = 1 + Z * Z / count
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


def auc_interval(auc: float, positive: float, negative: float) -> tuple[float, float]:
    """The ends of the 95% interval of an area under the ROC (Hanley and McNeil, 1982)."""
    if positive < 1 or negative < 1:
        return 0.0, 1.0
    q1, q2 = auc / (2 - auc), 2 * auc * auc / (1 + auc)  # as in the paper
    variance = auc * (1 - auc) + (positive - 1) * (q1 - auc * auc) + (negative - 1) * (q2 - auc * auc)
    spread = Z * math.sqrt(max(variance, 0.0) / (positive * negative))
    return max(0.0, auc - spread), min(1.0, auc + spread)


def effective_number(weights: np.ndarray) -> float:
    """The effective number of rows of these weights (Kish, 1965)."""
    squares = float(np.sum(weights.astype(np.float64) ** 2))
    return float(np.sum(weights, dtype=np.float64)) ** 2 / squares if squares > 0 else 0.0


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
    across, up = cumulative_lengths(negative), cumulative_lengths(positive)
    return thin_points(across / across[-1], up / up[-1])


def precision_recall(sample: Sample) -> list[tuple[float, float]]:
    """Recall and precision of the rows down to each score, from the highest score down; empty where a side is."""
    _, positive, negative = (column[::-1] for column in sample.by_score)
    if not (positive.any() and negative.any()):
        return []
    true_positives, others = np.cumsum(positive), np.cumsum(negative)
    return thin_points(true_positives / true_positives[-1], true_positives / (true_positives + others))


def cumulative_lengths(values: np.ndarray) -> np.ndarray:
    return np.concatenate(([0.0], np.cumsum(values)))


def thin_points(across: np.ndarray, up: np.ndarray) -> list[tuple[float, float]]:
    """The points, or MOST of them that are evenly far from one another along both axes together; always the ends."""
    if len(across) > MOST:
        way = np.concatenate(([0.0], np.cumsum(np.abs(np.diff(across)) + np.abs(np.diff(up)))))
        places_kept = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], MOST)).clip(0, len(way) - 1))
        places_kept = np.unique(np.concatenate(([0], places_kept, [len(way) - 1])))
        across, up = across[places_kept], up[places_kept]
    return list(zip(across.tolist(), up.tolist(), strict=True))


def histogram(sample: Sample) -> Histogram:
    """A histogram of the predictions, for rows with positive labels and for the others."""
    values = sample.prediction.astype(np.float64)
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)

    def shares(rows: np.ndarray) -> list[float]:
        heights, _ = np.histogram(values[rows], edges, weights=sample.weight[rows].astype(np.float64))
        return (heights / max(float(heights.sum()), 1e-300)).tolist()

    return Histogram(edges.tolist(), shares(sample.positive), shares(~sample.positive))


WIDTH, HEIGHT = 60, 12  # characters, of 2 by 4 dots
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # bits of a character's dots, by column and row
EMPTY = 0x2800  # the character without dots


def draw_curve(points: Sequence[tuple[float, float]], x: Axis, y: Axis) -> list[str]:
    """``HEIGHT`` lines of ``WIDTH`` characters behind the marks of ``y``, and one below with those of ``x``."""
    cells = [[EMPTY] * WIDTH for _ in range(HEIGHT)]
    places = [(x.place(left) * (2 * WIDTH - 1), (1 - y.place(up)) * (4 * HEIGHT - 1)) for left, up in points]
    for across, down in line_dots(places):
        if 0 <= across < 2 * WIDTH and 0 <= down < 4 * HEIGHT:
            cells[down // 4][across // 2] |= DOTS[across % 2][down % 4]
    beside = dict(zip((0, HEIGHT // 2, HEIGHT - 1), y.marks((y.high, middle_value(y), y.low)), strict=True))
    width = max(map(len, beside.values()))
    lines = [f"{beside.get(place, ''):>{width}} ┤{''.join(map(chr, row))}" for place, row in enumerate(cells)]
    left, right = x.marks((x.low, x.high))
    ends = f"{left}{right:>{WIDTH - len(left)}}"
    return [*lines, f"{'':>{width}}  {ends}", f"{'':>{width}}  {x.label:^{WIDTH}}".rstrip()]


def middle_value(axis: Axis) -> float:
    """The value of the line below the middle of ``HEIGHT`` lines."""
    return axis.high - (axis.high - axis.low) * (4 * (HEIGHT // 2) + 1.5) / (4 * HEIGHT - 1)


def line_dots(places: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """The dots of the lines from place to place."""
    dots = [(round(across), round(down)) for across, down in places[:1]]
    for (left, top), (right, bottom) in pairwise(places):
        steps = max(1, math.ceil(max(abs(right - left), abs(bottom - top))))
        for step in range(1, min(steps, 4096) + 1):
            share = step / min(steps, 4096)
            dots.append((round(left + share * (right - left)), round(top + share * (bottom - top))))
    return dots
