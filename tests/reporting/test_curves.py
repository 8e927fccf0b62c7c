"""Points of ROC, precision and recall, and histograms, against values worked out by hand and by scikit-learn."""

import numpy as np
import pytest

from vwlite.evaluation import metrics
from vwlite.reporting import curves

HAND = (  # label, prediction, weight; the third and the fourth row are equal
    [1, -1, 1, -1, 1, -1],
    [0.9, 0.8, 0.6, 0.6, 0.4, 0.1],
    [1, 1, 2, 1, 1, 2],
)


def sample(labels, predictions, weights):
    return metrics.sample(*(np.array(column, np.float32) for column in (labels, predictions, weights)))


def area(points):
    x, y = np.array(points).T
    return float(np.trapezoid(y, x) if hasattr(np, "trapezoid") else np.trapz(y, x))


def test_roc_by_hand():
    points = curves.roc(sample(*HAND))
    assert points == [(0, 0), (0, 0.25), (0.25, 0.25), (0.5, 0.75), (0.5, 1), (1, 1)]
    assert area(points) == pytest.approx(metrics.auc(sample(*HAND)))


def test_precision_and_recall_by_hand():
    points = curves.precision_recall(sample(*HAND))
    expected = [(0.25, 1), (0.25, 1 / 2), (0.75, 3 / 5), (1, 4 / 6), (1, 4 / 8)]
    assert points == [pytest.approx(point) for point in expected]


def test_one_side_has_no_curves():
    for labels in ([1, 1], [-1, -1]):
        assert curves.roc(sample(labels, [0.2, 0.7], [1, 1])) == []
        assert curves.precision_recall(sample(labels, [0.2, 0.7], [1, 1])) == []


def drawn(rows):
    random = np.random.default_rng(7)
    labels = random.choice([-1, 1], rows)
    values = np.round(1 / (1 + np.exp(-labels * 0.7 - random.normal(size=rows))), 4)
    return labels, values, random.integers(1, 4, rows)


def test_a_long_curve_is_thinned_and_stays_where_it_is():
    rows = sample(*drawn(20_000))
    points = curves.roc(rows)
    assert curves.MOST / 2 < len(points) <= curves.MOST + 2 and (points[0], points[-1]) == ((0, 0), (1, 1))
    assert area(points) == pytest.approx(metrics.auc(rows), abs=1e-4)
    ends = curves.precision_recall(rows)
    assert len(ends) <= curves.MOST + 2 and ends[-1] == (1, pytest.approx(rows.mean(rows.positive)))


def test_as_scikit_learn_has_them():
    measured = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    labels, values, weights = drawn(150)
    single = values.astype(np.float32)
    rows = sample(labels, values, weights)
    across, up, _ = measured.roc_curve(labels, single, sample_weight=weights, drop_intermediate=False)
    assert np.array(curves.roc(rows)) == pytest.approx(np.stack([across, up], 1))
    precision, recall, _ = measured.precision_recall_curve(labels, single, sample_weight=weights)
    points = np.stack([recall, precision], 1)[:-1][::-1]
    assert np.array(curves.precision_recall(rows)) == pytest.approx(points)


def test_histograms_are_shares_of_each_label():
    actual = curves.histogram(sample(*HAND))
    assert len(actual.edges) == curves.BINS + 1 and actual.edges[0] == pytest.approx(0.1) and sum(actual.positive) == 1
    assert actual.positive[-1] == 0.25 and actual.negative[0] == 0.5  # 0.9 of weight 1 of 4, 0.1 of weight 2 of 4
    equal = curves.histogram(sample([1, -1], [0.5, 0.5], [1, 3]))
    assert max(equal.positive) == max(equal.negative) == 1
