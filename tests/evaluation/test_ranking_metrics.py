"""MAP and NDCG: hand-worked cases, the plain definition, ties as the mean over all orders, queries' weights."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import rankings
from oracle.crr import average_precision, ndcg

from vwlite.errors import UsageError
from vwlite.evaluation.config import RankingConfig
from vwlite.evaluation.ranking_metrics import Ranking, is_ranking, split_metrics


def ranking(queries, labels, predictions, importance=None, **config):
    importance = np.ones(len(labels)) if importance is None else importance
    kinds = zip((queries, labels, predictions, importance), (np.uint64, *[np.float32] * 3), strict=True)
    return Ranking(*(np.array(column, kind) for column, kind in kinds), RankingConfig(**config))


def test_map_by_hand():
    measured = ranking([1, 1, 1, 1], [0, 1, 0, 2], [4, 3, 2, 1])
    assert measured.measure("map") == pytest.approx((1 / 2 + 2 / 4) / 2)


def test_ndcg_by_hand():
    measured = ranking([1, 1, 1], [0, 2, 1], [3, 2, 1])
    third = 1 / math.log2(3)
    expected = [0, 3 / 4, (3 + third) / 4]  # ideal 3, 3 + 1, 4: the first two positions are not discounted
    assert measured.measure("ndcg") == pytest.approx(np.mean(expected))
    for k, value in enumerate(expected, 1):
        assert measured.measure(f"ndcg@{k}") == pytest.approx(value)
    assert measured.measure("ndcg@10") == pytest.approx(expected[2])


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
    measured = ranking([0] * len(rows), labels, predictions)
    mean = np.mean([average_precision([labels[i] for i in order]) for order in orders])
    assert measured.measure("map") == pytest.approx(mean)
    for k in (1, 2, 10):
        expected = np.mean([ndcg([labels[i] for i in order], k) for order in orders])
        assert measured.measure(f"ndcg@{k}") == pytest.approx(expected)


grades = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 2)), min_size=1, max_size=6)


@given(grades, st.integers(0, 3))
def test_other_metrics_are_their_definitions_with_ties_in_every_order(rows, largest):
    labels, predictions = zip(*rows, strict=True)
    measured = ranking([0] * len(rows) + [1], [*labels, largest], [*predictions, 0])
    ordered = list(rankings.orders(labels, predictions))

    def mean(metric, *more):
        return pytest.approx(np.mean([metric(order, *more) for order in ordered]), abs=1e-12)

    assert measured.values("mrr")[0] == mean(rankings.reciprocal_rank)
    for k in (1, 2, 3, 10):
        assert measured.values(f"p@{k}")[0] == mean(rankings.precision, k)
        assert measured.values(f"recall@{k}")[0] == mean(rankings.recall, k)
        assert measured.values(f"hr@{k}")[0] == mean(rankings.hit_rate, k)
        assert measured.values(f"err@{k}")[0] == mean(rankings.expected_reciprocal_rank, k, max(*labels, largest))
    areas = [rankings.auc(order) for order in ordered]
    if areas[0] is None:
        assert math.isnan(measured.values("gauc")[0])
    else:
        assert measured.values("gauc")[0] == pytest.approx(np.mean(areas))
    assert math.isnan(measured.values("gauc")[1])  # of one row


@pytest.mark.parametrize("gain", ["exp2", "linear"])
@pytest.mark.parametrize("discount", ["letor", "log2"])
def test_gains_and_discounts_of_ndcg(gain, discount):
    @given(grades)
    def holds(rows):
        labels, predictions = zip(*rows, strict=True)
        measured = ranking([0] * len(rows), labels, predictions, gain=gain, discount=discount)
        kind = gain == "linear", discount == "log2"
        expected = np.mean([rankings.ndcg(order, *kind) for order in rankings.orders(labels, predictions)])
        assert measured.measure(f"ndcg@{len(rows)}") == pytest.approx(expected)

    holds()


def test_ndcg_is_scikit_learns_with_its_gain_and_discount():
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    labels, predictions = rng.integers(0, 5, (20, 30)), rng.integers(0, 9, (20, 30)).astype(np.float32)
    many = ranking(np.repeat(range(20), 30), labels.ravel(), predictions.ravel(), gain="linear", discount="log2")
    for k in (1, 5, 30):
        assert many.measure(f"ndcg@{k}") == pytest.approx(sklearn.ndcg_score(labels, predictions, k=k), rel=1e-9)


def test_gauc_weighs_queries_by_their_examples():
    two = ranking([1, 1, 2, 2, 2], [1, 0, 1, 0, 0], [2, 1, 1, 2, 0], [2, 4, 1, 1, 1])
    assert two.measure("gauc") == pytest.approx((6 * 1 + 3 * 0.5) / 9)
    assert math.isnan(ranking([1, 2], [1, 0], [1, 1]).measure("gauc"))


def test_a_tie_of_many_rows_takes_no_square_of_its_size():
    rows = 200_000
    measured = ranking([0] * rows, [3, *[0] * (rows - 1)], [1] * rows)
    assert measured.measure("err@10") == pytest.approx(7 / 8 * sum(1 / place for place in range(1, 11)) / rows)
    assert measured.measure("mrr") == pytest.approx(np.mean(1 / np.arange(1, rows + 1)))


def test_average_precision_is_scikit_learns_without_ties():
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 2, 200), rng.permutation(200)
    expected = sklearn.average_precision_score(labels, predictions)
    assert ranking([7] * 200, labels, predictions).measure("map") == pytest.approx(expected)


def test_names_of_ranking_metrics_are_told_from_others():
    assert all(map(is_ranking, ("map", "ndcg", "ndcg@5", "mrr", "gauc", "p@1", "recall@2", "hr@3", "err@10")))
    assert not any(map(is_ranking, ("ndcg@0", "ndcg@", "auc", "mapp", "p", "recall", "hr", "err", "mrr@3", "p@-1")))
    assert split_metrics(["mse", "map", "ndcg@3"], "tag") == (["map", "ndcg@3"], ["mse"])
    assert split_metrics(None, None) == ([], None)
    assert split_metrics(None, "tag") == (["map", "ndcg", "ndcg@10"], None)
    with pytest.raises(UsageError, match="--qid"):
        split_metrics(["mse"], "tag")
