"""Agreement of clusters with labels, against scikit-learn and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.evaluation.cluster_metrics import Agreement

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40)


def agreement(rows: list[tuple[int, int]], weight: list[int] | None = None) -> Agreement:
    label, cluster = np.array(rows, np.int64).reshape(-1, 2).T
    return Agreement(label, cluster, np.ones(len(rows)) if weight is None else np.array(weight, np.float64))


@given(ROWS)
def test_the_formulas_are_those_of_scikit_learn(rows: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    label, cluster = np.array(rows).T
    actual = agreement(rows)
    assert actual.nmi() == pytest.approx(metrics.normalized_mutual_info_score(label, cluster), abs=1e-9)
    assert actual.adjusted_rand() == pytest.approx(metrics.adjusted_rand_score(label, cluster), abs=1e-9)


def test_pairs_by_hand() -> None:
    """Of 10 pairs 2 are together in both, 4 by label and 4 by cluster: (2 - 1.6) / (4 - 1.6)."""
    assert agreement([(0, 0), (0, 0), (0, 1), (1, 1), (1, 1)]).adjusted_rand() == pytest.approx(0.4 / 2.4)


@given(ROWS, st.data())
def test_a_weight_counts_as_that_many_equal_examples(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    weight = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, times in zip(rows, weight, strict=True) for _ in range(times)]
    assert agreement(rows, weight).report() == pytest.approx(agreement(repeated).report(), abs=1e-9)


@given(ROWS, st.permutations(range(6)))
def test_the_numbers_of_clusters_do_not_matter(rows: list[tuple[int, int]], other: list[int]) -> None:
    renamed = [(label, other[cluster]) for label, cluster in rows]
    assert agreement(renamed).report() == pytest.approx(agreement(rows).report(), abs=1e-9)


def test_purity_is_the_share_of_the_most_frequent_labels() -> None:
    assert agreement([(0, 0), (0, 0), (1, 0), (1, 1), (2, 1)]).purity() == pytest.approx(3 / 5)


def test_clusters_that_are_the_labels_agree_wholly() -> None:
    assert agreement([(0, 3), (1, 1), (0, 3)]).report() == pytest.approx({"nmi": 1, "purity": 1, "adjusted_rand": 1})


def test_nothing_has_no_agreement() -> None:
    assert all(math.isnan(value) for value in agreement([]).report().values())
