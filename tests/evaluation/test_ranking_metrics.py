"""MAP and NDCG: hand-worked cases, the plain definition, ties as the mean over all orders, queries' weights."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.crr import average_precision, ndcg

from vwlite.errors import UsageError
from vwlite.evaluation.ranking_metrics import Ranking, choose, is_ranking


def ranking(queries, labels, predictions, importance=None):
    importance = np.ones(len(labels)) if importance is None else importance
    kinds = zip((queries, labels, predictions, importance), (np.uint64, *[np.float32] * 3), strict=True)
    return Ranking(*(np.array(column, kind) for column, kind in kinds))


def test_map_by_hand():
    one = ranking([1, 1, 1, 1], [0, 1, 0, 2], [4, 3, 2, 1])
    assert one.measure("map") == pytest.approx((1 / 2 + 2 / 4) / 2)


def test_ndcg_by_hand():
    one = ranking([1, 1, 1], [0, 2, 1], [3, 2, 1])
    third = 1 / math.log2(3)
    expected = [0, 3 / 4, (3 + third) / 4]  # ideal 3, 3 + 1, 4: the first two positions are not discounted
    assert one.measure("ndcg") == pytest.approx(np.mean(expected))
    for k, value in enumerate(expected, 1):
        assert one.measure(f"ndcg@{k}") == pytest.approx(value)
    assert one.measure("ndcg@10") == pytest.approx(expected[2])


def test_a_query_without_relevant_rows_counts_as_zero():
    two = ranking([1, 1, 2, 2], [1, 0, 0, 0], [2, 1, 2, 1])
    assert [two.measure(name) for name in ("map", "ndcg", "ndcg@1")] == [0.5, 0.5, 0.5]


def test_labels_below_zero_are_not_relevant():
    assert ranking([1, 1], [-1, 1], [2, 1]).measure("map") == 0.5
    assert ranking([1, 1], [-1, 1], [2, 1]).measure("ndcg@1") == 0


def test_a_query_weighs_the_mean_importance_of_its_rows():
    two = ranking([1, 1, 2, 2], [1, 0, 0, 1], [2, 1, 2, 1], [1, 5, 1, 1])
    assert two.measure("map") == pytest.approx((3 * 1 + 1 * 0.5) / 4)


rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-20, 20)), min_size=1, max_size=30)


@given(rows)
def test_equals_the_definition_without_ties(rows):
    rows = [(q, y, p + i / 100) for i, (q, y, p) in enumerate(rows)]
    many = ranking(*zip(*rows, strict=True))
    ranked = [
        [y for _, y, _ in sorted((row for row in rows if row[0] == q), key=lambda row: -np.float32(row[2]))]
        for q in {row[0] for row in rows}
    ]
    assert many.measure("map") == pytest.approx(np.mean([average_precision(labels) for labels in ranked]))
    for k in (1, 3, 10):
        assert many.measure(f"ndcg@{k}") == pytest.approx(np.mean([ndcg(labels, k) for labels in ranked]))
    mean = np.mean([np.mean([ndcg(labels, k + 1) for k in range(len(labels))]) for labels in ranked])
    assert many.measure("ndcg") == pytest.approx(mean)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6))
def test_ties_count_with_the_mean_over_all_orders(rows):
    labels, predictions = zip(*rows, strict=True)
    orders = [
        order for order in itertools.permutations(range(len(rows)))
        if all(predictions[a] >= predictions[b] for a, b in itertools.pairwise(order))
    ]  # fmt: skip
    one = ranking([0] * len(rows), labels, predictions)
    mean = np.mean([average_precision([labels[i] for i in order]) for order in orders])
    assert one.measure("map") == pytest.approx(mean)
    for k in (1, 2, 10):
        assert one.measure(f"ndcg@{k}") == pytest.approx(np.mean([ndcg([labels[i] for i in o], k) for o in orders]))


def test_average_precision_is_scikit_learns_without_ties():
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 2, 200), rng.permutation(200)
    expected = sklearn.average_precision_score(labels, predictions)
    assert ranking([7] * 200, labels, predictions).measure("map") == pytest.approx(expected)


def test_names():
    assert all(map(is_ranking, ("map", "ndcg", "ndcg@5")))
    assert not any(map(is_ranking, ("ndcg@0", "ndcg@", "auc", "mapp")))
    assert choose(["mse", "map", "ndcg@3"], "tag") == (["map", "ndcg@3"], ["mse"])
    assert choose(None, None) == ([], None)
    assert choose(None, "tag") == (["map", "ndcg", "ndcg@10"], None)
    with pytest.raises(UsageError, match="--qid"):
        choose(["mse"], "tag")
