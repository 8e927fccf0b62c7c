"""Intervals and paired tests over queries: cases by hand, exact enumeration, what must not matter."""

import itertools
import math

import numpy as np
import pytest

from vwlite.evaluation.measure import compare_pairs, interval


def test_an_interval_of_equal_values_is_a_point():
    assert interval(np.full(9, 0.25), np.ones(9), 50) == (0.25, 0.25)


def test_an_interval_is_the_normal_one_for_many_values():
    values = np.random.default_rng(3).normal(2, 1, 2000)
    low, high = interval(values, np.ones(2000), 2000)
    error = values.std() / math.sqrt(2000)
    assert (low, high) == pytest.approx((values.mean() - 1.96 * error, values.mean() + 1.96 * error), abs=0.2 * error)


def test_weights_count_as_repetitions_of_the_mean():
    low, high = interval(np.array([0.0, 1.0]), np.array([1.0, 3.0]), 1000)
    assert (low, high) == (0, 1)
    assert all(map(math.isnan, interval(np.empty(0), np.empty(0), 10)))


def test_p_is_the_share_of_all_changes_of_sign():
    one, other = np.array([0.9, 0.8, 0.7, 0.6, 0.2]), np.array([0.5, 0.6, 0.6, 0.65, 0.1])
    weights = np.array([1.0, 2, 1, 1, 1])
    shares = (one - other) * weights
    signs = itertools.product((-1, 1), repeat=5)
    exact = np.mean([abs(np.dot(s, shares)) >= abs(shares.sum()) * (1 - 1e-12) for s in signs])
    actual = compare_pairs(one, other, weights, 20_000)
    assert actual.p == pytest.approx(exact, abs=0.01)
    assert actual.difference == pytest.approx(shares.sum() / 6)
    assert actual.low <= actual.difference <= actual.high
    assert compare_pairs(other, one, weights, 20_000).p == actual.p


def test_queries_without_a_value_are_left_out():
    nan = math.nan
    whole = compare_pairs(np.array([0.5, nan, 1]), np.array([0.25, 0.5, nan]), np.ones(3), 10)
    assert (whole.difference, whole.low, whole.high) == (0.25, 0.25, 0.25)
    assert all(map(math.isnan, compare_pairs(np.array([nan]), np.array([1.0]), np.ones(1), 10)))


def test_equal_models_do_not_differ():
    values = np.array([0.5, 0.25, 1])
    assert compare_pairs(values, values, np.ones(3), 10) == (0, 0, 0, 1)
