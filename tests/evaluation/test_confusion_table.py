"""Tables of classes: by hand, against the plain definitions, against scikit-learn where it is installed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.errors import UsageError
from vwlite.evaluation.class_metrics import MAX_MATRIX_CLASSES, TABLES, Contingency, of_sets

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=30)


def contingency(rows, **options):
    label, answer, weight = (np.array(column, np.float64) for column in zip(*rows, strict=True))
    return Contingency(label, answer, weight, **options)


def test_a_small_table_is_that_made_by_hand():
    rows = [(1, 1, 2), (1, 2, 1), (2, 2, 4), (3, 1, 1), (3, 2, 1)]
    report = contingency(rows, display_name="-abcd".__getitem__).report(None, 4)
    assert report["confusion_matrix"] == {"classes": ["a", "b", "c"], "weight": [[2, 1, 0], [0, 4, 0], [1, 1, 0]]}
    first, second, third = report["per_class"]
    assert first == {"class": "a", "precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3, "weight": 3}
    assert (second["precision"], second["recall"], second["f1"]) == (4 / 6, 1, 0.8)
    assert math.isnan(third["precision"]) and (third["recall"], third["f1"], third["weight"]) == (0, 0, 2)
    assert report["macro_precision"] == pytest.approx((2 / 3 + 4 / 6 + 0) / 3)  # no answer counts 0
    assert report["macro_recall"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert report["macro_f1"] == pytest.approx((2 / 3 + 0.8 + 0) / 3)


def test_tables_of_many_classes_are_made_where_they_are_asked_for():
    rows = [(number, number, 1) for number in range(MAX_MATRIX_CLASSES + 1)]
    assert not {*TABLES} & {*contingency(rows[:11]).report(None, 11)}
    assert "per_class" in contingency(rows).report(["per_class"], MAX_MATRIX_CLASSES + 1)
    with pytest.raises(UsageError, match="1000 classes at most, not 1001"):
        contingency(rows).report(["confusion_matrix"], MAX_MATRIX_CLASSES + 1)


@given(ROWS)
def test_tables_follow_the_plain_definition(rows):
    report = contingency(rows).report(None, 6)
    names = sorted({name for row in rows for name in row[:2]})
    assert report["confusion_matrix"]["weight"] == [
        [sum(w for truth, other, w in rows if (truth, other) == (label, answer)) for answer in names] for label in names
    ]
    means = {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    for name in names:
        right = sum(w for truth, other, w in rows if truth == other == name)
        said, true = (sum(row[2] for row in rows if row[place] == name) for place in (1, 0))
        for metric, whole in (("precision", said), ("recall", true), ("f1", (said + true) / 2)):
            means[metric] += right / whole / len(names) if whole else 0
    for metric, value in means.items():
        assert report[f"macro_{metric}"] == pytest.approx(value, abs=1e-12)


def test_scikit_learn_agrees():
    reference = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(3)
    label, answer = generator.integers(0, 7, 500), generator.integers(1, 9, 500)
    weight = generator.exponential(size=500)
    report = Contingency(label, answer, weight).report(None, 9)
    for name in ("precision", "recall", "f1"):
        score = getattr(reference, f"{name}_score")
        options = {"average": "macro", "sample_weight": weight, "zero_division": 0}
        assert report[f"macro_{name}"] == pytest.approx(score(label, answer, **options), rel=1e-11)
    matrix = reference.confusion_matrix(label, answer, sample_weight=weight)
    assert report["confusion_matrix"]["weight"] == [pytest.approx(row) for row in matrix.tolist()]
    true, said = generator.random((2, 300, 5)) < 0.4
    sums = [weight[:300] @ columns for columns in (true & said, said, true)]
    actual = of_sets(*sums)
    for name in ("precision", "recall", "f1"):
        score = getattr(reference, f"{name}_score")
        assert actual[f"micro_{name}"] == pytest.approx(score(true, said, average="micro", sample_weight=weight[:300]))
    macro = reference.f1_score(true, said, average="macro", sample_weight=weight[:300])
    assert actual["macro_f1"] == pytest.approx(macro)
